// Which changes of a MachineDeployment's template roll out, and which set holds the current template.
// Here: comparison, pushed fields, choice of the new set. Not here: how many machines move (machinedeployment/plan.ts).
// Source: spec/controllers/machinedeployment.md section 4.

interface Reference {
  readonly apiGroup?: string;
  readonly kind?: string;
  readonly name?: string;
}

/** The fields of a Machine's spec that the comparison looks at. */
export interface ComparableSpec {
  readonly version?: string;
  readonly failureDomain?: string;
  readonly bootstrap?: { readonly configRef?: Reference; readonly dataSecretName?: string };
  readonly infrastructureRef?: Reference;
}

/** Fields that follow the MachineDeployment without any rollout. */
export const pushedSpecFields = ["readinessGates", "minReadySeconds", "taints", "deletion"] as const;

const sameReference = (a: Reference | undefined, b: Reference | undefined): boolean =>
  (a?.apiGroup ?? "") === (b?.apiGroup ?? "") && (a?.kind ?? "") === (b?.kind ?? "") && (a?.name ?? "") === (b?.name ?? "");

const withoutTemplate = (kind: string): string =>
  kind.endsWith("Template") && kind !== "Template" ? kind.slice(0, -"Template".length) : kind;

/** One text per field that differs and starts a rollout; none when the two templates make the same machines.
 *  The texts are those of the UpToDate condition of machines. @param current what the set has @param desired what the MachineDeployment wants */
export function templateDifferences(current: ComparableSpec, desired: ComparableSpec): readonly string[] {
  const differences: string[] = [];
  if (current.version !== desired.version)
    differences.push(`Version ${current.version ?? "(none)"}, ${desired.version ?? "(none)"} required`);
  if (current.failureDomain !== desired.failureDomain) {
    differences.push(`Failure domain ${current.failureDomain ?? "(none)"}, ${desired.failureDomain ?? "(none)"} required`);
  }
  if (!sameReference(current.bootstrap?.configRef, desired.bootstrap?.configRef)) {
    const kind = desired.bootstrap?.configRef?.kind ?? current.bootstrap?.configRef?.kind ?? "Bootstrap config";
    differences.push(`${withoutTemplate(kind)} is not up-to-date`);
  }
  if (current.bootstrap?.dataSecretName !== desired.bootstrap?.dataSecretName) {
    const from = current.bootstrap?.dataSecretName ?? "(none)";
    differences.push(`Bootstrap data secret ${from}, ${desired.bootstrap?.dataSecretName ?? "(none)"} required`);
  }
  if (!sameReference(current.infrastructureRef, desired.infrastructureRef)) {
    const kind = desired.infrastructureRef?.kind ?? current.infrastructureRef?.kind ?? "Infrastructure machine";
    differences.push(`${withoutTemplate(kind)} is not up-to-date`);
  }
  return differences;
}

/** @returns true when `rolloutAfter` lies before now and something created at `createdMs` is older; times in milliseconds, same second counts as after */
export function dueForRollout(rolloutAfterMs: number | undefined, createdMs: number, nowMs: number): boolean {
  if (rolloutAfterMs === undefined || rolloutAfterMs >= nowMs) return false;
  return Math.floor(createdMs / 1000) < Math.floor(rolloutAfterMs / 1000);
}

/** Text of the UpToDate condition for machines of a set older than a due `rollout.after`. */
export const ROLLOUT_DUE = "MachineDeployment spec.rollout.after expired";

export interface CandidateSet {
  readonly name: string;
  readonly createdMs: number;
  readonly replicas: number;
  readonly template: ComparableSpec;
}

export interface OldSet<S> {
  readonly set: S;
  /** Why it is not the new set. */
  readonly differences: readonly string[];
  /** False: its machines must not be asked about, they are replaced. */
  readonly inPlaceEligible: boolean;
}

export interface Choice<S> {
  readonly newSet?: S;
  /** In the order they were looked at. */
  readonly oldSets: readonly OldSet<S>[];
}

/** Largest first, then oldest, then by name: the order in which sets are candidates for the new one. */
export const byCandidacy = (a: CandidateSet, b: CandidateSet): number =>
  b.replicas - a.replicas || a.createdMs - b.createdMs || compareText(a.name, b.name);

/** Oldest first, then by name: the order in which old sets shrink. */
export const byAge = (
  a: { readonly name: string; readonly createdMs: number },
  b: { readonly name: string; readonly createdMs: number },
): number => a.createdMs - b.createdMs || compareText(a.name, b.name);

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Splits the sets of a MachineDeployment into the one that has its template and the others.
 *  @param rolloutAfterMs spec.rollout.after, milliseconds since the epoch */
export function chooseNewSet<S extends CandidateSet>(
  sets: readonly S[],
  desired: ComparableSpec,
  rolloutAfterMs: number | undefined,
  nowMs: number,
): Choice<S> {
  const due = rolloutAfterMs !== undefined && rolloutAfterMs < nowMs;
  const oldSets: OldSet<S>[] = [];
  let newSet: S | undefined;
  for (const set of [...sets].sort(byCandidacy)) {
    const differences = templateDifferences(set.template, desired);
    const tooOld = dueForRollout(rolloutAfterMs, set.createdMs, nowMs);
    if (differences.length > 0)
      oldSets.push({ set, differences: tooOld ? [...differences, ROLLOUT_DUE] : differences, inPlaceEligible: !tooOld });
    else if (!newSet && !(due && tooOld)) newSet = set;
    else oldSets.push({ set, differences: tooOld ? [ROLLOUT_DUE] : [], inPlaceEligible: false });
  }
  return { newSet, oldSets };
}
