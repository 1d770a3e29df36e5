// Answers that handlers give, as functions. Here: covering fields, declining, working, done, failed. Not here: deciding (the extension's own code).
// Source: spec/runtime/hooks.md, sections 5.4 and 5.5.
import type {
  CanUpdateMachineRequest,
  CanUpdateMachineResponse,
  CanUpdateMachineSetRequest,
  CanUpdateMachineSetResponse,
  HookPatch,
  UpdateMachineResponse,
} from "../api/hooks/index.ts";
import { encodeBase64 } from "./base64.ts";

export interface JsonPatchOperation {
  readonly op: "add" | "replace" | "remove";
  readonly path: string;
  readonly value?: unknown;
}

/** A patch as the wire wants it; undefined for an empty one. */
export const jsonPatch = (operations: readonly JsonPatchOperation[]): HookPatch | undefined =>
  operations.length === 0 ? undefined : { patchType: "JSONPatch", patch: encodeBase64(JSON.stringify(operations)) };

export const jsonMergePatch = (patch: object): HookPatch => ({ patchType: "JSONMergePatch", patch: encodeBase64(JSON.stringify(patch)) });

/** Paths such as `.spec.version` or `.spec.template.spec.files`, per object. Keys with dots are written `["a.b"]`. */
export interface CoveredMachinePaths {
  readonly machine?: readonly string[];
  readonly infrastructureMachine?: readonly string[];
  readonly bootstrapConfig?: readonly string[];
}
export interface CoveredMachineSetPaths {
  readonly machineSet?: readonly string[];
  readonly infrastructureMachineTemplate?: readonly string[];
  readonly bootstrapConfigTemplate?: readonly string[];
}

/** "I can change these fields": patches that bring each path from current to desired. Paths that do not differ are left out. */
export const coversMachine = (
  { current, desired }: CanUpdateMachineRequest,
  paths: CoveredMachinePaths,
  message?: string,
): CanUpdateMachineResponse => ({
  status: "Success",
  ...(message ? { message } : {}),
  machinePatch: bring(current.machine, desired.machine, paths.machine),
  infrastructureMachinePatch: bring(current.infrastructureMachine, desired.infrastructureMachine, paths.infrastructureMachine),
  bootstrapConfigPatch: bring(current.bootstrapConfig, desired.bootstrapConfig, paths.bootstrapConfig),
});

export const coversMachineSet = (
  { current, desired }: CanUpdateMachineSetRequest,
  paths: CoveredMachineSetPaths,
  message?: string,
): CanUpdateMachineSetResponse => ({
  status: "Success",
  ...(message ? { message } : {}),
  machineSetPatch: bring(current.machineSet, desired.machineSet, paths.machineSet),
  infrastructureMachineTemplatePatch: bring(
    current.infrastructureMachineTemplate,
    desired.infrastructureMachineTemplate,
    paths.infrastructureMachineTemplate,
  ),
  bootstrapConfigTemplatePatch: bring(current.bootstrapConfigTemplate, desired.bootstrapConfigTemplate, paths.bootstrapConfigTemplate),
});

/** "Not by me": success without patches; the machine is replaced. */
export const declines = (message: string): CanUpdateMachineResponse & CanUpdateMachineSetResponse => ({ status: "Success", message });

/** "Still at it." @param retryAfterSeconds at least 1 */
export const working = (message: string, retryAfterSeconds: number): UpdateMachineResponse => ({
  status: "Success",
  message,
  retryAfterSeconds: Math.max(1, Math.ceil(retryAfterSeconds)),
});
export const done = (message = ""): UpdateMachineResponse => ({ status: "Success", message, retryAfterSeconds: 0 });
export const failed = (message: string): UpdateMachineResponse => ({ status: "Failure", message, retryAfterSeconds: 0 });

type Tree = { readonly [key: string]: unknown };
const isTree = (x: unknown): x is Tree => typeof x === "object" && x !== null && !Array.isArray(x);

function bring(current: object | undefined, desired: object | undefined, paths: readonly string[] = []): HookPatch | undefined {
  if (!current || !desired) return undefined;
  return jsonPatch(paths.flatMap((path) => operationFor(current, desired, segmentsOf(path))));
}

/** `.spec["a.b"].c` -> ["spec", "a.b", "c"]. @throws Error for a path that is none */
export function segmentsOf(path: string): readonly string[] {
  const segments = [...path.matchAll(/\.([^.[\]]+)|\["([^"]+)"\]/g)].map((m) => m[1] ?? m[2] ?? "");
  if (segments.length === 0) throw new Error(`"${path}" is not a field path: write .spec.version`);
  return segments;
}

const pointer = (segments: readonly string[]): string => segments.map((s) => `/${s.replace(/~/g, "~0").replace(/\//g, "~1")}`).join("");

function operationFor(current: object, desired: object, segments: readonly string[]): readonly JsonPatchOperation[] {
  const wanted = at(desired, segments);
  const old = at(current, segments);
  if (JSON.stringify(wanted) === JSON.stringify(old)) return [];
  if (wanted === undefined) return [{ op: "remove", path: pointer(segments) }];
  if (old !== undefined) return [{ op: "replace", path: pointer(segments), value: wanted }];
  // Parents that are missing come along, with nothing in them but this field.
  let depth = segments.length - 1;
  while (depth > 0 && at(current, segments.slice(0, depth)) === undefined) depth--;
  const value = segments.slice(depth + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), wanted);
  return [{ op: "add", path: pointer(segments.slice(0, depth + 1)), value }];
}

function at(object: object, segments: readonly string[]): unknown {
  let value: unknown = object;
  for (const segment of segments) value = isTree(value) ? value[segment] : undefined;
  return value;
}
