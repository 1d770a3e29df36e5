// Descriptors of all built-in kinds. Here: putting types, strategies, subresources and columns together. The folder's public surface.
// Not here: behaviour of CRDs (../crd, through `strategies`), who may do what (../auth), background work (../background).
import type { StatusCause } from "../../api/meta/status.ts";
import { type ApiObject, deepFreeze } from "../object.ts";
import {
  ALL_VERBS,
  type ResourceType,
  type Strategy,
  type StrategyContext,
  type SubresourceHandler,
  type Subresources,
} from "../registry.ts";
import { builtinColumns } from "../table/builtin.ts";
import { createDecoder } from "./decode.ts";
import { createDefaults } from "./defaults.ts";
import { evictionHandler } from "./eviction.ts";
import { type KindRow, kindRows, SELECTABLE } from "./kinds.ts";
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectReview,
  selfSubjectRulesReview,
  subjectAccessReview,
  tokenReview,
} from "./reviews.ts";
import { createRules } from "./rules.ts";
import { createSchemas } from "./schema.ts";
import { strategyOf } from "./strategies.ts";
import { eventFromCore, eventToCore } from "./strategies/event.ts";
import { at } from "./strategies/fields.ts";
import { finalizeHandler } from "./strategies/namespace.ts";
import { bindingHandler } from "./strategies/pod.ts";
import { type TokenIssuer, tokenHandler } from "./token.ts";
import { createTypeSet } from "./types.ts";

export interface BuiltinOptions {
  /** Signs service account tokens; without it serviceaccounts/token does not exist. */
  readonly issueToken?: TokenIssuer;
  /** Further subresources by `plural/name`, such as `pods/portforward`. They win over those of the kind. */
  readonly handlers?: Readonly<Record<string, SubresourceHandler>>;
  /** Strategies that others bring, by kind; they are merged over the kind's own (CustomResourceDefinition). */
  readonly strategies?: Readonly<Record<string, Strategy>>;
}

const VIRTUAL: Readonly<Record<string, ResourceType["virtual"]>> = {
  SelfSubjectReview: selfSubjectReview,
  TokenReview: tokenReview,
  LocalSubjectAccessReview: localSubjectAccessReview,
  SelfSubjectAccessReview: selfSubjectAccessReview,
  SelfSubjectRulesReview: selfSubjectRulesReview,
  SubjectAccessReview: subjectAccessReview,
};

const HANDLERS: Readonly<Record<string, SubresourceHandler>> = {
  "namespaces/finalize": finalizeHandler,
  "pods/binding": bindingHandler,
  "pods/eviction": evictionHandler,
};

const ENDPOINTS_TEXT = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";

/** A field as a selector compares it: text, numbers and booleans as written, else empty. */
function fieldText(object: ApiObject, path: string): string {
  const value = path === "source" ? (at(object, "source.component") ?? object.reportingComponent) : at(object, path);
  if (path === "spec.unschedulable" || path === "spec.hostNetwork") return String(value === true);
  if (Array.isArray(value)) return value.map((v: { ip?: string }) => v.ip ?? "").join(",");
  return typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

const selectableFields = (row: KindRow): ResourceType["selectableFields"] => {
  const paths = SELECTABLE[`${row.group}/${row.kind}`];
  return paths && Object.fromEntries(paths.map((path) => [path, (object: ApiObject) => fieldText(object, path)]));
};

function subresources(row: KindRow, options: BuiltinOptions): Subresources {
  const all: Readonly<Record<string, SubresourceHandler>> = {
    ...HANDLERS,
    ...(options.issueToken ? { "serviceaccounts/token": tokenHandler(options.issueToken) } : {}),
    ...options.handlers,
  };
  const prefix = `${row.plural}/`;
  const handlers = row.group === "" ? Object.entries(all).filter(([path]) => path.startsWith(prefix)) : [];
  return {
    ...(row.status ? { status: true } : {}),
    ...(row.scale
      ? { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas", labelSelectorPath: ".spec.selector" } }
      : {}),
    ...(handlers.length === 0
      ? {}
      : { handlers: Object.fromEntries(handlers.map(([path, handler]) => [path.slice(prefix.length), handler])) }),
  };
}

interface Parts {
  readonly types: ReturnType<typeof createTypeSet>;
  readonly decoder: ReturnType<typeof createDecoder>;
  readonly bare: ReturnType<typeof createDecoder>;
  readonly schemas: ReturnType<typeof createSchemas>;
  readonly rules: ReturnType<typeof createRules>;
}

/** The strategy of a kind, with the rules of its types in front and a status that only the server writes. */
function fullStrategy(row: KindRow, parts: Parts, empty: () => ApiObject, given: Strategy): Strategy {
  const check = (object: ApiObject): readonly StatusCause[] => parts.rules.check(row.typeKey, { ...object, status: undefined }, "");
  const resetStatus = row.status && row.kind !== "Node" && given.prepareForCreate === undefined;
  return {
    ...given,
    ...(resetStatus ? { prepareForCreate: (object: ApiObject) => ({ ...object, status: empty().status }) } : {}),
    validate: (object: ApiObject, context: StrategyContext) => joined(check(object), given.validate?.(object, context) ?? []),
    validateUpdate: (object: ApiObject, old: ApiObject, context: StrategyContext) =>
      joined(context.subresource === "" ? check(object) : [], given.validateUpdate?.(object, old, context) ?? []),
  };
}

/** A general and a particular rule may find the same fault: then it is told once. */
const joined = (general: readonly StatusCause[], particular: readonly StatusCause[]): readonly StatusCause[] =>
  general.length === 0
    ? particular
    : [...general, ...particular.filter((cause) => !general.some((c) => c.field === cause.field && c.reason === cause.reason))];

function describe(row: KindRow, parts: Parts, options: BuiltinOptions): ResourceType {
  const { group, version, kind, plural } = row;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  let emptied: ApiObject | undefined;
  const empty = (): ApiObject => {
    emptied ??= deepFreeze(parts.bare.decode(row.typeKey, { apiVersion, kind }).object);
    return emptied;
  };
  const strategy = fullStrategy(row, parts, empty, { ...strategyOf(group, kind), ...options.strategies?.[kind] });
  const isNewEvent = group === "events.k8s.io" && kind === "Event";
  const virtual = VIRTUAL[kind] ?? (kind === "Binding" ? podBinding : undefined);
  return {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames: row.shortNames,
    categories: row.categories,
    namespaced: row.namespaced,
    verbs: row.virtual ? ["create"] : kind === "Namespace" ? ALL_VERBS.filter((verb) => verb !== "deletecollection") : ALL_VERBS,
    storageKey: isNewEvent ? "events" : group === "" ? plural : `${group}/${plural}`,
    storageVersion: isNewEvent ? "v1" : apiVersion,
    get schema() {
      return parts.schemas.schemaOf(row.typeKey);
    },
    decode: (object) => parts.decoder.decode(row.typeKey, object),
    empty,
    custom: false,
    subresources: subresources(row, options),
    columns: builtinColumns(group, kind),
    selectableFields: selectableFields(row),
    strategy,
    ...(row.virtual ? { virtual } : {}),
    ...(isNewEvent ? { fromStorage: eventFromCore, toStorage: eventToCore } : {}),
    ...(group === "" && kind === "Endpoints" ? { deprecationWarning: ENDPOINTS_TEXT } : {}),
  } as ResourceType;
}

/** POST of a Binding: the pod is the one it is named after. */
const podBinding: ResourceType["virtual"] = async (request) => {
  const pods = request.server.registry.byKind("", "v1", "Pod");
  if (!pods) return {};
  return bindingHandler.handle({ ...request, type: pods }) as Promise<object>;
};

/** What is made of constant tables is made once: every server of a process (one per workload cluster) shares it. */
let parts: Parts | undefined;

function sharedParts(): Parts {
  if (parts) return parts;
  const types = createTypeSet();
  parts = {
    types,
    decoder: createDecoder(types, createDefaults()),
    bare: createDecoder(types),
    schemas: createSchemas(types),
    rules: createRules(types),
  };
  return parts;
}

/** All built-in kinds, in the order of the table. Cheap: schemas, decoders and rules are made when a kind is first used. */
export function builtinTypes(options: BuiltinOptions = {}): readonly ResourceType[] {
  return kindRows().map((row) => describe(row, sharedParts(), options));
}
