// Create: from a body to a stored object. Here: POST of a collection, and the steps that PUT and apply of an absent object share.
import type { ApiResponse } from "../../api/meta/transport.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { nameSuffix, uuid } from "../../runtime/base/random.ts";
import { alreadyExists, invalid, plainError } from "../errors.ts";
import { type ApiObject, deepFreeze, without, withMetadata } from "../object.ts";
import type { StoreConflict } from "../store/store.ts";
import { mutate, validate } from "./admit.ts";
import { bodyObject } from "./bodies.ts";
import { type Call, strategyContext, warn } from "./call.ts";
import { finalizerWarnings, metadataCauses } from "./metadata.ts";
import { type WriteOptions, writeOptions } from "./options.ts";
import { dedupOwners } from "./owners.ts";
import { answerObject } from "./respond.ts";
import { find, save } from "./storage.ts";

// Upstream cuts the base so that base and suffix fit into a label.
const GENERATED_NAME_MAX = 63;
const SUFFIX_LENGTH = 5;
/** Upstream tries as often before it gives the clash to the client. */
const GENERATE_TRIES = 8;

const generate = (call: Call, base: string): string =>
  base.slice(0, GENERATED_NAME_MAX - SUFFIX_LENGTH) + nameSuffix(call.core.random, SUFFIX_LENGTH);

const hasName = (object: ApiObject): boolean => object.metadata.name !== undefined && object.metadata.name !== "";
const mustGenerate = (object: ApiObject): boolean => !hasName(object) && (object.metadata.generateName ?? "") !== "";

/** What the server sets on every new object, before the kind's strategy and after it. */
function prepare(call: Call, object: ApiObject, verb: string): ApiObject {
  const { type, core } = call;
  const context = strategyContext(call, verb);
  let draft = withMetadata(object, { deletionTimestamp: undefined, deletionGracePeriodSeconds: undefined, selfLink: undefined } as object);
  if (type.subresources.status && type.custom) draft = without(draft, "status");
  draft = type.strategy.prepareForCreate?.(draft, context) ?? draft;
  const generation = (type.strategy.generation ?? "none") === "none" ? draft.metadata.generation : 1;
  return deepFreeze(withMetadata(draft, { uid: uuid(core.random), creationTimestamp: timestamp(context.nowMs), generation }));
}

function check(call: Call, object: ApiObject, verb: string): void {
  const { type, core } = call;
  const causes = [
    ...metadataCauses(type, object),
    ...(type.custom ? (core.compiled(type)?.validate(object) ?? []) : []),
    ...(type.strategy.validate?.(object, strategyContext(call, verb)) ?? []),
  ];
  if (causes.length > 0) throw invalid(type, object.metadata.name ?? "", causes);
}

export interface Creation {
  readonly options: WriteOptions;
  readonly verb: string;
  /** As a CREATE admission, also when a PUT or an apply leads here. */
  readonly optionsReviewed: object;
}

/** Admission, defaults, validation, commit; the object has its managed fields already. Throws AlreadyExists and others. */
export async function createObject(call: Call, tracked: ApiObject, creation: Creation): Promise<ApiObject> {
  const generated = mustGenerate(tracked);
  for (let attempt = 1; ; attempt++) {
    const named = generated ? withMetadata(tracked, { name: generate(call, tracked.metadata.generateName ?? "") }) : tracked;
    try {
      return await createNamed(call, deepFreeze(named), creation);
    } catch (error) {
      const clash = (error as { status?: { reason?: string } }).status?.reason === "AlreadyExists";
      if (!generated || !clash || attempt >= GENERATE_TRIES) throw error;
    }
  }
}

async function createNamed(call: Call, named: ApiObject, { options, verb, optionsReviewed }: Creation): Promise<ApiObject> {
  const { type, core } = call;
  const name = named.metadata.name ?? "";
  const admission = { operation: "CREATE", name, dryRun: options.dryRun, options: optionsReviewed } as const;
  const mutated = dedupOwners(call, await mutate(call, admission, named));
  const object = prepare(call, mutated, verb);
  check(call, object, verb);
  if (type.custom) for (const text of finalizerWarnings(object)) warn(call, text);
  await validate(call, admission, object);
  if ((object.metadata.resourceVersion ?? "") !== "") throw plainError("resourceVersion should not be set on objects to be created");
  const existing = find(core, type, object.metadata.namespace ?? "", name);
  if (existing) throw alreadyExists(type, name);
  if (options.dryRun) return object;
  try {
    return save(core, type, object, 0);
  } catch (error) {
    if ((error as StoreConflict).code === "StoreConflict") throw alreadyExists(type, name);
    throw error;
  }
}

export async function handleCreate(call: Call): Promise<ApiResponse> {
  const options = writeOptions(call.request, call.query, "CreateOptions");
  const body = dedupOwners(call, bodyObject(call, options.fieldValidation, "create"));
  const tracked = call.core.fields.track(call.type, undefined, body, options.fieldManager, "", call.core.clock.nowMs());
  if (call.type.virtual) return answerVirtual(call, tracked, options.dryRun);
  const created = await createObject(call, tracked, { options, verb: "create", optionsReviewed: options.review });
  return answerObject(call, 201, created);
}

/** Kinds that only answer: access reviews, token reviews. */
async function answerVirtual(call: Call, object: ApiObject, dryRun: boolean): Promise<ApiResponse> {
  const { type, core, route, user, query, request } = call;
  const result = await type.virtual?.({
    verb: "create",
    type,
    namespace: route.namespace,
    name: object.metadata.name ?? "",
    user,
    object,
    dryRun,
    query,
    request,
    server: core,
    warn: (text) => call.warnings.push(text),
  });
  return answerObject(call, 201, deepFreeze(result as ApiObject));
}
