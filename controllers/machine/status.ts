// Status of a Machine at the end of a run: conditions in order, phase, what the steps found. Here: putting them together and writing.
// Not here: what each condition says (conditions.ts, node-conditions.ts). Source: spec/controllers/machine.md section 7.
import { type Machine, type MachineStatus, machineResource } from "../../api/machine.ts";
import type { Condition } from "../../api/meta/object.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { type Finding, setConditions } from "../../runtime/conditions.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import { throwFailures } from "../lifecycle/independent.ts";
import { writeStatus } from "../lifecycle/status.ts";
import * as conditions from "./conditions.ts";
import { nodeFindings } from "./node-conditions.ts";
import { phaseOf } from "./phase.ts";
import type { MachineView } from "./view.ts";

/** Last step, also after failures. @throws all failures of the run, so that it is repeated */
export async function writeMachineStatus(view: MachineView, context: ReconcileContext, graceMs: number): Promise<StepOutcome> {
  const nowMs = context.clock.nowMs();
  const stored = await writeStatus(context.client, machineResource, view.machine, (newest) => machineStatus(view, newest, nowMs, graceMs));
  throwFailures(view);
  const waits = [conditions.availableInMs(stored, stored.status?.conditions ?? [], nowMs), conditions.rolloutDueInMs(view) ?? 0].filter(
    (ms) => ms > 0,
  );
  return waits.length === 0 ? undefined : { requeueAfterMs: Math.min(...waits) };
}

/** The whole status. @param newest carries what others wrote; their conditions stay */
export function machineStatus(view: MachineView, newest: Machine, nowMs: number, graceMs: number): MachineStatus {
  const now = timestamp(nowMs);
  const generation = view.machine.metadata.generation;
  const lay = (base: readonly Condition[] | undefined, findings: readonly Finding[]): readonly Condition[] =>
    setConditions(base, findings, now, generation);
  const status: MachineStatus = { ...newest.status, ...view.status };
  const machine: Machine = { ...newest, status };
  const node = nodeFindings(view, newest.status?.conditions, graceMs);
  const updating = conditions.updating(view, newest);
  const upToDate = conditions.upToDate(view, machine, updating);
  const first = lay(newest.status?.conditions, [
    conditions.bootstrapConfigReady(view, machine),
    conditions.infrastructureReady(view, machine),
    ...node.findings,
    conditions.deleting(view, machine),
    updating,
    ...(upToDate ? [upToDate] : []),
  ]);
  const withNode = withTransitionTime(first, "NodeReady", node.nodeReadySince);
  const withReady = lay(withNode, [conditions.ready(machine, withNode, nowMs)]);
  const all = lay(withReady, [conditions.available(machine, withReady, nowMs)]);
  const phase = phaseOf({ ...machine, status: { ...status, conditions: all } });
  return {
    ...status,
    conditions: all,
    phase,
    ...(phase === newest.status?.phase ? {} : { lastUpdated: now }),
    ...(view.failures.length === 0 && generation !== undefined ? { observedGeneration: generation } : {}),
  };
}

/** NodeReady changed when the Node changed, not when it was seen. */
function withTransitionTime(list: readonly Condition[], type: string, since: string | undefined): readonly Condition[] {
  if (since === undefined) return list;
  return list.map((c) => (c.type === type && c.lastTransitionTime !== since ? { ...c, lastTransitionTime: since } : c));
}
