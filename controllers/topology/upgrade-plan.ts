// Upgrade plan: through which versions the control plane and the workers go. Here: making a plan, checking one of an extension, filling the workers' list.
// Pure. Not here: when a step begins (versions.ts). Source: spec/controllers/topology.md section 8.1, spec/runtime/hooks.md section 8.
import { compareVersions, parseVersion } from "../rollout/versions.ts";
import { TopologyFault } from "./view.ts";

export interface UpgradePlan {
  /** Versions still to go, in order, the target included. */
  readonly controlPlane: readonly string[];
  readonly workers: readonly string[];
}

export interface PlanQuestion {
  readonly target: string;
  /** Absent: there is no control plane yet. */
  readonly controlPlane?: string;
  /** Lowest version of all workers; absent without workers. */
  readonly workers?: string;
  /** Of the class, rising. */
  readonly kubernetesVersions?: readonly string[];
}

/** Workers may be so many minors behind. */
const WORKERS_MINORS_MAX = 3;

export const isAtTarget = ({ target, controlPlane, workers }: PlanQuestion): boolean =>
  (controlPlane ?? target) === target && (workers ?? target) === target;

const minorOf = (version: string): number => parseVersion(version).major * 10_000 + parseVersion(version).minor;
const isBelow = (a: string, b: string): boolean => compareNumbers(a, b) < 0;
const compareNumbers = (a: string, b: string): number => {
  const [x, y] = [parseVersion(a), parseVersion(b)];
  return x.major - y.major || x.minor - y.minor || x.patch - y.patch;
};

/** The lowest; equal numbers with other build tags count as different and are kept when they differ from `reference`. */
export function lowestVersion(versions: readonly string[], reference: string | undefined): string | undefined {
  const sorted = [...versions].sort(compareVersions);
  const [lowest] = sorted;
  if (lowest === undefined || reference === undefined || lowest !== reference) return lowest;
  return sorted.find((v) => v !== reference && compareNumbers(v, lowest) === 0) ?? lowest;
}

/** @param given of the extension, when the class names one  @throws TopologyFault for a plan that cannot be followed */
export function upgradePlan(question: PlanQuestion, given?: UpgradePlan): UpgradePlan {
  if (question.controlPlane === undefined || isAtTarget(question)) return { controlPlane: [], workers: [] };
  const controlPlane = given ? given.controlPlane : plannedControlPlane(question.controlPlane, question);
  checkControlPlane(controlPlane, question.controlPlane, question.target);
  return { controlPlane, workers: workersPlan(controlPlane, question.controlPlane, given?.workers ?? [], question) };
}

function plannedControlPlane(from: string, { target, kubernetesVersions = [] }: PlanQuestion): readonly string[] {
  if (from === target) return [];
  if (kubernetesVersions.length === 0) return [target];
  const between = kubernetesVersions.filter((v) => minorOf(v) > minorOf(from) && minorOf(v) < minorOf(target));
  return [...between.filter((v, i) => between[i + 1] === undefined || minorOf(between[i + 1] ?? v) !== minorOf(v)), target];
}

function checkControlPlane(plan: readonly string[], from: string, target: string): void {
  const told = `the upgrade plan of the control plane, ${[from, ...plan].join(" -> ")},`;
  if (from === target) {
    if (plan.length > 0) throw new TopologyFault(`${told} must be empty: the control plane is at ${target}`);
    return;
  }
  let last = from;
  for (const version of plan) {
    if (version === last || isBelow(version, last)) throw new TopologyFault(`${told} must rise with each step`);
    if (minorOf(version) > minorOf(last) + 1)
      throw new TopologyFault(
        `${told} skips a minor version; upgrade one minor at a time, or name steps in kubernetesVersions of the ClusterClass`,
      );
    last = version;
  }
  if (last !== target) throw new TopologyFault(`${told} must end at ${target}`);
}

function workersPlan(
  controlPlane: readonly string[],
  from: string,
  given: readonly string[],
  { target, workers }: PlanQuestion,
): readonly string[] {
  if (workers === undefined || workers === target) {
    if (given.length > 0)
      throw new TopologyFault(`the upgrade plan of the workers, ${given.join(" -> ")}, must be empty: there is nothing to upgrade`);
    return [];
  }
  const plan = given.length > 0 ? given : filled(controlPlane, from, workers, target);
  const allowed = [from, ...controlPlane];
  const told = `the upgrade plan of the workers, ${[workers, ...plan].join(" -> ")},`;
  let last = workers;
  for (const version of plan) {
    if (controlPlane.length > 0 && !allowed.includes(version))
      throw new TopologyFault(`${told} has ${version}, at which the control plane never is`);
    if (version === last || isBelow(version, last)) throw new TopologyFault(`${told} must rise with each step`);
    if (minorOf(version) > minorOf(last) + WORKERS_MINORS_MAX)
      throw new TopologyFault(`${told} skips more than ${WORKERS_MINORS_MAX} minor versions`);
    last = version;
  }
  if (last !== target) throw new TopologyFault(`${told} must end at ${target}`);
  return plan;
}

/** As few steps as the skew allows. */
function filled(controlPlane: readonly string[], from: string, workers: string, target: string): readonly string[] {
  const steps: string[] = [];
  let last = workers;
  for (const version of [from, ...controlPlane]) {
    const isEnough = minorOf(target) - minorOf(last) <= WORKERS_MINORS_MAX;
    if (!isEnough && minorOf(version) === minorOf(last) + WORKERS_MINORS_MAX) {
      steps.push(version);
      last = version;
    }
  }
  return [...steps, target];
}
