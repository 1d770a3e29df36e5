// Which version the control plane and each MachineDeployment gets now: the control plane first, then the workers, with hooks in between.
// A pure function over facts and the answers of hooks so far; a missing answer is what it says next. Not here: calling hooks (hooks.ts), plans
// (upgrade-plan.ts). Source: spec/controllers/topology.md section 8, spec/runtime/hooks.md section 7.
import type { HookName } from "../../api/hooks/index.ts";
import type { UpgradePlan } from "./upgrade-plan.ts";
import { TopologyFault } from "./view.ts";

export interface PoolFacts {
  /** In the topology. */
  readonly name: string;
  /** Absent: there is no MachineDeployment yet. */
  readonly version?: string;
  readonly upgrading: boolean;
  readonly defers: boolean;
  /** It and all after it wait. */
  readonly holds: boolean;
}

export interface VersionFacts {
  readonly target: string;
  /** Absent: there is none yet. */
  readonly controlPlane?: { readonly version: string; readonly provisioning: boolean; readonly upgrading: boolean };
  /** In the order of the topology. */
  readonly pools: readonly PoolFacts[];
  readonly plan: UpgradePlan;
  /** Hooks marked on the Cluster as still to be called. */
  readonly pendingHooks: readonly string[];
  /** Annotations of the Cluster that hold an upgrade back. */
  readonly gateAnnotations: readonly string[];
  /** Hooks and their marks exist at all. */
  readonly asksHooks: boolean;
  /** MachineDeployments that may be upgraded at once. */
  readonly concurrency: number;
}

export type HookAnswer =
  | { readonly blocked: false }
  | { readonly blocked: true; readonly message: string; readonly retryAfterSeconds: number };
export type Answers = ReadonlyMap<HookName, HookAnswer>;

export interface HookQuestion {
  readonly do: "ask";
  readonly hook: HookName;
  readonly fields: Readonly<Record<string, string>>;
}

export interface Blocking {
  readonly hook: string;
  readonly message: string;
  readonly retryAfterSeconds: number;
}

export interface ControlPlaneDecision {
  readonly version: string;
  readonly provisioning: boolean;
  readonly upgrading: boolean;
  readonly starting: boolean;
  /** The version differs from the topology's: neither it nor its template is touched. */
  readonly pending: boolean;
  readonly waitingForWorkers: boolean;
}

export interface PoolDecision {
  readonly version: string;
  readonly upgrading: boolean;
  readonly pending: boolean;
  readonly deferred: boolean;
  readonly pendingCreate: boolean;
}

export interface VersionDecision {
  readonly do: "decided";
  readonly controlPlane: ControlPlaneDecision;
  readonly pools: ReadonlyMap<string, PoolDecision>;
  readonly blocking: readonly Blocking[];
  /** Changes of the marks on the Cluster. */
  readonly mark: readonly HookName[];
  readonly unmark: readonly HookName[];
}

const ANNOTATION_RETRY_SECONDS = 1_200;

export function decideVersions(facts: VersionFacts, answers: Answers): VersionDecision | HookQuestion {
  const session = new Session(facts, answers);
  const controlPlane = controlPlaneOf(facts, session);
  if ("do" in controlPlane) return controlPlane;
  const pools = poolsOf(facts, controlPlane, session);
  return { do: "decided", controlPlane, pools, blocking: session.blocking, mark: session.mark, unmark: session.unmark };
}

/** True when nothing of it moves or is about to. */
export const isStable = (c: ControlPlaneDecision): boolean => !c.provisioning && !c.upgrading && !c.starting && !c.pending;

/** What hooks have said in this run, and what follows for their marks. */
class Session {
  readonly blocking: Blocking[] = [];
  readonly mark: HookName[] = [];
  readonly unmark: HookName[] = [];
  readonly #facts: VersionFacts;
  readonly #answers: Answers;
  constructor(facts: VersionFacts, answers: Answers) {
    this.#facts = facts;
    this.#answers = answers;
  }

  /** A hook that is called only once it was marked. */
  pending(hook: HookName, fields: HookQuestion["fields"]): "free" | "blocked" | HookQuestion {
    if (!this.#facts.asksHooks || !this.#facts.pendingHooks.includes(hook)) return "free";
    const answer = this.ask(hook, fields);
    if (answer === "free") this.unmark.push(hook);
    return answer;
  }

  ask(hook: HookName, fields: HookQuestion["fields"]): "free" | "blocked" | HookQuestion {
    if (!this.#facts.asksHooks) return "free";
    const answer = this.#answers.get(hook);
    if (!answer) return { do: "ask", hook, fields };
    if (!answer.blocked) return "free";
    this.block({ hook, message: answer.message, retryAfterSeconds: answer.retryAfterSeconds });
    return "blocked";
  }

  block(blocking: Blocking): void {
    this.blocking.push(blocking);
  }

  isBlockedBy(hooks: readonly HookName[]): boolean {
    return this.blocking.some((b) => (hooks as readonly string[]).includes(b.hook));
  }
}

function controlPlaneOf(facts: VersionFacts, session: Session): ControlPlaneDecision | HookQuestion {
  const { target, controlPlane, plan } = facts;
  const still = { provisioning: false, upgrading: false, starting: false, pending: false, waitingForWorkers: false };
  if (!controlPlane) return { ...still, version: target };
  const { version } = controlPlane;
  const keep = { ...still, version, pending: version !== target };
  if (controlPlane.provisioning) return { ...keep, provisioning: true };
  if (controlPlane.upgrading) return { ...keep, upgrading: true };
  const before = beforeNextStep(facts, version, session);
  if (before === "waitingForWorkers") return { ...keep, waitingForWorkers: true };
  if (before === "blocked") return keep;
  if (before !== "free") return before;
  if (version === target) return keep;
  const [next] = plan.controlPlane;
  const started = startOfStep(facts, version, next, session);
  if (started === "blocked") return keep;
  if (started !== "free") return started;
  return { ...still, version: next ?? target, starting: true };
}

/** What the step before still has to do. */
function beforeNextStep(facts: VersionFacts, version: string, session: Session): "free" | "blocked" | "waitingForWorkers" | HookQuestion {
  const { plan, pools } = facts;
  const after = session.pending("AfterControlPlaneUpgrade", { kubernetesVersion: version });
  if (after !== "free") return after;
  const fromWorkers = lowestOf(facts) ?? version;
  const before = session.pending("BeforeWorkersUpgrade", { fromKubernetesVersion: fromWorkers, toKubernetesVersion: version });
  if (before !== "free") return before;
  if (plan.workers[0] === version) return "waitingForWorkers";
  if (pools.some((p) => p.upgrading)) return "blocked";
  return session.pending("AfterWorkersUpgrade", { kubernetesVersion: version });
}

/** Whether the next step may begin, with the marks that it needs. */
function startOfStep(facts: VersionFacts, version: string, next: string | undefined, session: Session): "free" | "blocked" | HookQuestion {
  const { target, pendingHooks, gateAnnotations, asksHooks, plan } = facts;
  if (asksHooks && !pendingHooks.includes("AfterClusterUpgrade")) {
    if (gateAnnotations.length > 0) {
      const message = `annotations ${[...gateAnnotations].sort().join(", ")} are set; remove them to let the upgrade begin`;
      session.block({ hook: "BeforeClusterUpgrade", message, retryAfterSeconds: ANNOTATION_RETRY_SECONDS });
      return "blocked";
    }
    const answer = session.ask("BeforeClusterUpgrade", { fromKubernetesVersion: version, toKubernetesVersion: target });
    if (answer !== "free") return answer;
    session.mark.push("AfterClusterUpgrade");
  }
  if (next === undefined) throw new TopologyFault(`there is no upgrade plan from ${version} to ${target}`);
  const answer = session.ask("BeforeControlPlaneUpgrade", { fromKubernetesVersion: version, toKubernetesVersion: next });
  if (answer !== "free") {
    return answer;
  }
  if (asksHooks) {
    session.mark.push("AfterControlPlaneUpgrade");
    if (plan.workers[0] === next) session.mark.push("BeforeWorkersUpgrade", "AfterWorkersUpgrade");
  }
  return "free";
}

const lowestOf = ({ pools }: VersionFacts): string | undefined =>
  pools
    .flatMap((p) => p.version ?? [])
    .sort()
    .at(0);

// --- workers -------------------------------------------------------------------------------------------------------------------------

const WORKERS_HOOKS = ["AfterControlPlaneUpgrade", "BeforeWorkersUpgrade"] as const;

function poolsOf(facts: VersionFacts, controlPlane: ControlPlaneDecision, session: Session): ReadonlyMap<string, PoolDecision> {
  const { target, pools, plan, concurrency } = facts;
  const blocked = session.isBlockedBy(WORKERS_HOOKS);
  const stable = isStable(controlPlane);
  const decisions = new Map<string, PoolDecision>();
  let upgrading = pools.filter((p) => p.upgrading).length;
  let held = false;
  for (const pool of pools) {
    const { version = target } = pool;
    const decision = { version, upgrading: pool.upgrading, pending: false, deferred: false, pendingCreate: false };
    held ||= pool.holds;
    if (pool.version === undefined) decisions.set(pool.name, { ...decision, pendingCreate: !stable || blocked });
    else if (version === target) decisions.set(pool.name, decision);
    else if (pool.defers || held) decisions.set(pool.name, { ...decision, pending: true, deferred: true });
    else if (blocked || upgrading >= concurrency || (!stable && !controlPlane.waitingForWorkers))
      decisions.set(pool.name, { ...decision, pending: true });
    else {
      const [next] = plan.workers;
      if (next === undefined)
        throw new TopologyFault(`there is no upgrade plan for MachineDeployment ${pool.name} from ${version} to ${target}`);
      if (next === version) decisions.set(pool.name, { ...decision, pending: true });
      else {
        upgrading++;
        decisions.set(pool.name, { ...decision, version: next, upgrading: true });
      }
    }
  }
  return decisions;
}
