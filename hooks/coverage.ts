// Coverage: do an extension's patches turn current into desired? Here: the verdict and the paths that are left, pure.
// Not here: applying one patch (patch.ts), calling (inplace.ts). Source: hooks.md, section 5.3.
import type {
  CanUpdateMachineRequest,
  CanUpdateMachineResponse,
  CanUpdateMachineSetRequest,
  CanUpdateMachineSetResponse,
} from "../api/hooks/index.ts";
import type { HookPatch } from "../api/hooks/index.ts";
import { isMap, sameJson } from "../schema/json-values.ts";
import { applyHookPatch, type FieldPath, valueAt } from "./patch.ts";

export interface Uncovered {
  /** Kind of the object, for people. */
  readonly kind: string;
  /** Sorted: `.spec.version`. */
  readonly paths: readonly string[];
}

/** Nothing left = the object can be updated in place. */
export type Coverage = readonly Uncovered[];

const SPEC: FieldPath = ["spec"];
const TEMPLATE_SPEC: FieldPath = ["spec", "template", "spec"];

/** Machine fields that others keep current without an update, and names of the other two objects. */
const NOT_COMPARED = ["clusterName", "bootstrap", "infrastructureRef", "providerID", "minReadySeconds", "readinessGates", "taints"];
const DELETION_NOT_COMPARED = ["nodeDrainTimeoutSeconds", "nodeVolumeDetachTimeoutSeconds", "nodeDeletionTimeoutSeconds"];

/** @throws HookError HookPatchInvalid: nothing may be concluded, it does not mean "not covered" */
export function machineCoverage({ current, desired }: CanUpdateMachineRequest, answer: CanUpdateMachineResponse): Coverage {
  return [
    ...left(current.machine, desired.machine, answer.machinePatch, "machinePatch", SPEC, comparedMachineSpec),
    ...left(current.bootstrapConfig, desired.bootstrapConfig, answer.bootstrapConfigPatch, "bootstrapConfigPatch", SPEC),
    ...left(
      current.infrastructureMachine,
      desired.infrastructureMachine,
      answer.infrastructureMachinePatch,
      "infrastructureMachinePatch",
      SPEC,
    ),
  ];
}

/** As machineCoverage, for the templates of a set. */
export function machineSetCoverage({ current, desired }: CanUpdateMachineSetRequest, answer: CanUpdateMachineSetResponse): Coverage {
  const templates = [current.infrastructureMachineTemplate, desired.infrastructureMachineTemplate] as const;
  const bootstraps = [current.bootstrapConfigTemplate, desired.bootstrapConfigTemplate] as const;
  return [
    ...left(current.machineSet, desired.machineSet, answer.machineSetPatch, "machineSetPatch", TEMPLATE_SPEC, comparedMachineSpec),
    ...left(...bootstraps, answer.bootstrapConfigTemplatePatch, "bootstrapConfigTemplatePatch", TEMPLATE_SPEC),
    ...left(...templates, answer.infrastructureMachineTemplatePatch, "infrastructureMachineTemplatePatch", TEMPLATE_SPEC),
  ];
}

/** One text per object: `KubeadmConfig cannot be updated in place: .spec.files, .spec.users differ`. */
export const coverageTexts = (coverage: Coverage): readonly string[] =>
  coverage.map(({ kind, paths }) => `${kind} cannot be updated in place: ${paths.join(", ")} ${paths.length === 1 ? "differs" : "differ"}`);

interface Named {
  readonly kind: string;
}

function left<T extends Named>(
  current: T | undefined,
  desired: T | undefined,
  patch: HookPatch | undefined,
  who: string,
  path: FieldPath,
  compared: (value: unknown) => unknown = (value) => value,
): Coverage {
  if (!current && !desired) return [];
  const kind = (desired ?? current)?.kind ?? "";
  if (!current || !desired) return [{ kind, paths: [textOfPath(path)] }];
  const patched = applyHookPatch(current, patch, [path], who);
  const paths = differences(compared(valueAt(patched, path)), compared(valueAt(desired, path)), path);
  return paths.length === 0 ? [] : [{ kind, paths }];
}

function comparedMachineSpec(spec: unknown): unknown {
  if (!isMap(spec)) return spec;
  const { deletion, ...rest } = without(spec, NOT_COMPARED);
  if (!isMap(deletion)) return deletion === undefined ? rest : { ...rest, deletion };
  const kept = without(deletion, DELETION_NOT_COMPARED);
  return Object.keys(kept).length === 0 ? rest : { ...rest, deletion: kept };
}

const without = (fields: Readonly<Record<string, unknown>>, keys: readonly string[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)));

/** Paths of the deepest fields that differ, sorted. Lists of equal length are looked into, others count as one field. */
export function differences(a: unknown, b: unknown, at: FieldPath = []): readonly string[] {
  if (sameJson(a, b)) return [];
  if (isMap(a) && isMap(b)) {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
    return keys.flatMap((key) => differences(valueAt(a, [key]), valueAt(b, [key]), [...at, key]));
  }
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    return a.flatMap((item, i) => differences(item, b[i], [...at, `[${i}]`]));
  }
  return [textOfPath(at)];
}

const textOfPath = (path: FieldPath): string =>
  path.map((s) => (/^\[\d+\]$/.test(s) ? s : /^[A-Za-z0-9_-]+$/.test(s) ? `.${s}` : `["${s}"]`)).join("");
