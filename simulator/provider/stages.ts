// The stages of a simulated machine, from nothing to a Node, as one pure plan.
// Here: which stage is over, which waits and for what. Not here: what a stage creates (devmachine.ts, ../workload).
// Source: spec/controllers/dev-provider.md section 3, spec/api/devmachine.md section 5.

export type StageName = "VMProvisioned" | "NodeProvisioned" | "EtcdProvisioned" | "APIServerProvisioned";

export interface StageCondition {
  readonly type: StageName;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

export interface StageView {
  readonly nowMs: number;
  readonly controlPlane: boolean;
  readonly infrastructureProvisioned: boolean;
  readonly controlPlaneInitialized: boolean;
  readonly hasBootstrapData: boolean;
  /** Set on the Machine once it was up: no stage waits any more. */
  readonly bootstrapped: boolean;
  /** When the machine was switched on; absent = not yet, it is done in this run. */
  readonly createdMs?: number;
  /** When a stage turned True, by stage. */
  readonly doneMs: Readonly<Partial<Record<StageName, number>>>;
  /** How long each stage takes, milliseconds, drawn once per machine. */
  readonly delayMs: Readonly<Record<StageName, number>>;
}

export interface StagePlan {
  readonly conditions: readonly StageCondition[];
  /** Switch the machine on: the gates are open. */
  readonly create: boolean;
  /** Stages that are over now, in order; those whose effects must exist. */
  readonly done: readonly StageName[];
  /** When to look again, milliseconds from now; absent = on the next event. */
  readonly requeueAfterMs?: number;
}

export const stagesOf = (controlPlane: boolean): readonly StageName[] =>
  controlPlane ? ["VMProvisioned", "NodeProvisioned", "EtcdProvisioned", "APIServerProvisioned"] : ["VMProvisioned", "NodeProvisioned"];

const PREDECESSOR: Readonly<Record<StageName, StageName | undefined>> = {
  VMProvisioned: undefined,
  NodeProvisioned: "VMProvisioned",
  EtcdProvisioned: "NodeProvisioned",
  APIServerProvisioned: "NodeProvisioned",
};

const waiting = (type: StageName, reason: string, message: string): StageCondition => ({ type, status: "False", reason, message });

function gate(v: StageView): readonly [reason: string, message: string] | undefined {
  if (!v.infrastructureProvisioned)
    return ["WaitingForClusterInfrastructureReady", "Waiting for the Cluster's infrastructure to be provisioned"];
  if (v.hasBootstrapData) return undefined;
  if (!v.controlPlane && !v.controlPlaneInitialized)
    return ["WaitingForControlPlaneInitialized", "Waiting for the control plane to be initialized"];
  return ["WaitingForBootstrapData", "Waiting for bootstrap data"];
}

export function planStages(v: StageView): StagePlan {
  const closed = v.createdMs === undefined ? gate(v) : undefined;
  if (closed) {
    const [first, ...rest] = stagesOf(v.controlPlane) as [StageName, ...StageName[]];
    return {
      conditions: [
        waiting(first, ...closed),
        ...rest.map((s) => waiting(s, "WaitingForVMProvisioned", "Waiting for the machine to be switched on")),
      ],
      create: false,
      done: [],
    };
  }
  const over = new Map<StageName, number>();
  const conditions: StageCondition[] = [];
  let nextMs = Number.POSITIVE_INFINITY;
  for (const stage of stagesOf(v.controlPlane)) {
    const before = PREDECESSOR[stage];
    const startMs = before === undefined ? (v.createdMs ?? v.nowMs) : over.get(before);
    if (startMs === undefined) {
      const vm = !over.has("VMProvisioned");
      conditions.push(
        waiting(
          stage,
          vm ? "WaitingForVMProvisioned" : "WaitingForNodeProvisioned",
          vm ? "Waiting for the machine to be switched on" : "Waiting for the Node",
        ),
      );
      continue;
    }
    const dueMs = v.bootstrapped ? startMs : startMs + v.delayMs[stage];
    const doneMs = v.doneMs[stage] ?? (v.nowMs >= dueMs ? v.nowMs : undefined);
    if (doneMs === undefined) {
      nextMs = Math.min(nextMs, dueMs - v.nowMs);
      conditions.push(waiting(stage, "WaitingForStartupTimeout", "Waiting for the simulated start-up time to pass"));
      continue;
    }
    over.set(stage, doneMs);
    conditions.push({ type: stage, status: "True", reason: "Provisioned", message: "" });
  }
  return {
    conditions,
    create: v.createdMs === undefined,
    done: [...over.keys()],
    ...(Number.isFinite(nextMs) ? { requeueAfterMs: nextMs } : {}),
  };
}

/** Go's duration text, e.g. `1m30s` or `500ms`. @returns milliseconds; undefined when it is not one */
export function parseDurationMs(text: string): number | undefined {
  if (text === "0") return 0;
  const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1, us: 1e-3, µs: 1e-3, ns: 1e-6 };
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ms|us|µs|ns|h|m|s)/gy)];
  if (parts.length === 0 || parts.reduce((length, p) => length + p[0].length, 0) !== text.length) return undefined;
  return parts.reduce((sum, p) => sum + Number(p[1]) * (unitMs[p[2] as string] as number), 0);
}

/** Start-up time of a stage. @param chance in [0, 1), drawn once per machine and stage */
export function startupDelayMs(
  startup: { readonly startupDuration?: string; readonly startupJitter?: string } | undefined,
  chance: number,
): number {
  if (!startup?.startupDuration) return 0;
  const duration = parseDurationMs(startup.startupDuration);
  if (duration === undefined)
    throw new Error(`startupDuration ${JSON.stringify(startup.startupDuration)} is no duration; write it like 30s or 1m30s`);
  const jitter = startup.startupJitter ? Number(startup.startupJitter) : 0;
  if (Number.isNaN(jitter)) throw new Error(`startupJitter ${JSON.stringify(startup.startupJitter)} is no number; write it like 0.2`);
  return Math.round(duration + (jitter > 0 ? chance * jitter * duration : 0));
}
