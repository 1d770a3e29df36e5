// Options of writes and deletes, from query and body. Here: reading and refusing them. Not here: what they do.
import type { StatusCause } from "../../api/meta/status.ts";
import type { ApiRequest } from "../../api/meta/transport.ts";
import { badRequest, fieldInvalid, fieldNotSupported, fieldRequired, fieldForbidden, fieldTooLong, invalid } from "../errors.ts";
import { decodeBody } from "./decode.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";
export type PropagationPolicy = "Background" | "Foreground" | "Orphan";

export interface WriteOptions {
  readonly kind: "CreateOptions" | "UpdateOptions" | "PatchOptions";
  readonly dryRun: boolean;
  /** From the query, else the first part of the user agent. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  readonly force: boolean;
  /** As admission reviews show them. */
  readonly review: object;
}

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: PropagationPolicy;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly review: object;
}

const MANAGER_MAX = 128;
const FIELD_VALIDATIONS = ["Ignore", "Strict", "Warn"];
const POLICIES = ["Background", "Foreground", "Orphan"];

const refuse = (kind: string, causes: readonly StatusCause[]): void => {
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind }, "", causes);
};

const dryRunCauses = (values: readonly unknown[]): readonly StatusCause[] =>
  values.every((value) => value === "All") ? [] : [fieldNotSupported("dryRun", values, ["All"])];

const isPrintable = (text: string): boolean => !/[\p{Cc}\p{Cs}\p{Co}\p{Cn}]/u.test(text);

/** kube-apiserver takes the part of the user agent before the first slash. */
export function managerOf(fieldManager: string, userAgent: string): string {
  if (fieldManager !== "") return fieldManager;
  let name = "";
  for (const character of userAgent.split("/")[0] ?? "") {
    if (name.length + character.length > MANAGER_MAX) break;
    name += isPrintable(character) ? character : "�";
  }
  return name === "" ? "unknown" : name;
}

/** As upstream reads flags of a query: given without a value is true, and so is anything but false and 0. */
export function flagOf(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  return value !== "0" && value.toLowerCase() !== "false";
}

/** A whole number from the query; undefined when absent or empty. Throws BadRequest. */
export function integerOf(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === "") return undefined;
  if (!/^[-+]?\d+$/.test(value))
    throw badRequest(`strconv.ParseInt: parsing "${value}": invalid syntax in query parameter ${name}; use a whole number`);
  return Number(value);
}

export function writeOptions(request: ApiRequest, query: URLSearchParams, kind: WriteOptions["kind"], apply = false): WriteOptions {
  const dryRun = query.getAll("dryRun");
  const given = query.get("fieldManager") ?? "";
  const fieldValidation = query.get("fieldValidation") ?? "";
  const force = kind === "PatchOptions" ? flagOf(query, "force") : undefined;
  const causes: StatusCause[] = [];
  if (apply && given === "") causes.push(fieldRequired("fieldManager", "is required for apply patch"));
  if (!apply && force !== undefined) causes.push(fieldForbidden("force", "may not be specified for non-apply patch"));
  if (given.length > MANAGER_MAX) causes.push(fieldTooLong("fieldManager", MANAGER_MAX));
  else if (!isPrintable(given)) causes.push(fieldInvalid("fieldManager", given, "should only contain printable characters"));
  causes.push(...dryRunCauses(dryRun));
  if (fieldValidation !== "" && !FIELD_VALIDATIONS.includes(fieldValidation)) {
    causes.push(fieldNotSupported("fieldValidation", fieldValidation, FIELD_VALIDATIONS));
  }
  refuse(kind, causes);
  const fieldManager = managerOf(given, request.headers["user-agent"] ?? "");
  return {
    kind,
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation === "" ? "Warn" : (fieldValidation as FieldValidation),
    force: force ?? false,
    review: {
      apiVersion: "meta.k8s.io/v1",
      // A patch is reviewed as an update.
      kind: kind === "PatchOptions" ? "UpdateOptions" : kind,
      ...(dryRun.length > 0 ? { dryRun } : {}),
      ...(given === "" ? {} : { fieldManager: given }),
      ...(fieldValidation === "" ? {} : { fieldValidation }),
    },
  };
}

interface RawDeleteOptions {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly dryRun?: unknown;
  readonly gracePeriodSeconds?: unknown;
  readonly propagationPolicy?: unknown;
  readonly orphanDependents?: unknown;
  readonly preconditions?: unknown;
}

function rawDeleteOptions(request: ApiRequest, query: URLSearchParams): RawDeleteOptions {
  const { body } = request;
  const empty = body === undefined || (body instanceof Uint8Array && body.byteLength === 0);
  if (!empty) {
    const { value } = decodeBody(request, true);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw badRequest("the body of a delete must be a DeleteOptions object");
    }
    const raw = value as RawDeleteOptions;
    if (raw.kind !== undefined && raw.kind !== "" && raw.kind !== "DeleteOptions") {
      throw badRequest(`decoded object cannot be converted to DeleteOptions: kind is ${JSON.stringify(raw.kind)}`);
    }
    return raw;
  }
  return {
    ...(query.has("dryRun") ? { dryRun: query.getAll("dryRun") } : {}),
    gracePeriodSeconds: integerOf(query, "gracePeriodSeconds"),
    propagationPolicy: query.get("propagationPolicy") ?? undefined,
    orphanDependents: flagOf(query, "orphanDependents"),
  };
}

const ofType = <T>(value: unknown, type: string, field: string): T | undefined => {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== type) throw badRequest(`DeleteOptions.${field} must be a ${type}`);
  return value as T;
};

export function deleteOptions(request: ApiRequest, query: URLSearchParams): DeleteOptions {
  const raw = rawDeleteOptions(request, query);
  const dryRun = Array.isArray(raw.dryRun) ? raw.dryRun : raw.dryRun === undefined || raw.dryRun === null ? [] : [raw.dryRun];
  const policy = ofType<string>(raw.propagationPolicy, "string", "propagationPolicy");
  const orphan = ofType<boolean>(raw.orphanDependents, "boolean", "orphanDependents");
  const grace = ofType<number>(raw.gracePeriodSeconds, "number", "gracePeriodSeconds");
  const preconditions = ofType<{ readonly uid?: unknown; readonly resourceVersion?: unknown }>(
    raw.preconditions,
    "object",
    "preconditions",
  );
  const causes: StatusCause[] = [];
  if (policy !== undefined && orphan !== undefined) {
    causes.push(fieldInvalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set"));
  }
  if (policy !== undefined && !POLICIES.includes(policy)) causes.push(fieldNotSupported("propagationPolicy", policy, [...POLICIES, "nil"]));
  causes.push(...dryRunCauses(dryRun));
  refuse("DeleteOptions", causes);
  const uid = ofType<string>(preconditions?.uid, "string", "preconditions.uid");
  const resourceVersion = ofType<string>(preconditions?.resourceVersion, "string", "preconditions.resourceVersion");
  return {
    dryRun: dryRun.length > 0,
    gracePeriodSeconds: grace,
    propagationPolicy: (policy as PropagationPolicy | undefined) ?? (orphan === undefined ? undefined : orphan ? "Orphan" : "Background"),
    ...(preconditions ? { preconditions: { uid, resourceVersion } } : {}),
    review: {
      apiVersion: "meta.k8s.io/v1",
      kind: "DeleteOptions",
      ...(dryRun.length > 0 ? { dryRun } : {}),
      ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
      ...(policy === undefined ? {} : { propagationPolicy: policy }),
      ...(orphan === undefined ? {} : { orphanDependents: orphan }),
      ...(preconditions ? { preconditions } : {}),
    },
  };
}
