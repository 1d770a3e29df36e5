// The next step of a rollout or of scaling: plan it, ask where the plan needs an answer, do it. Here: effects in order.
// Not here: what is decided (plan.ts), each effect (scale-steps.ts, trigger.ts, workload-config.ts).
// Source: spec/controllers/kubeadmcontrolplane.md section 10, kubeadmcontrolplane-inplace.md sections 2 to 4.
import type { Machine } from "../../api/machine.ts";
import type { ReconcileContext, StepOutcome } from "../../runtime/controller.ts";
import type { AppliedMemory } from "../apply/apply.ts";
import type { AskMemory } from "../inplace/ask.ts";
import type { CanUpdateMachine, MachineAnswer } from "../inplace/ask-machine.ts";
import { rolloutPolicy } from "../inplace/policy.ts";
import { fnv32a } from "../naming/names.ts";
import type { WorkloadClusters } from "../workload/seam.ts";
import { controlPlaneDomains } from "./choose.ts";
import { rollingOut } from "./conditions.ts";
import { maxSurgeOf, messageOf, nameOf, replicasOf } from "./machines.ts";
import { decideInPlace, nextStep } from "./plan.ts";
import { buildQuestion } from "./question.ts";
import { checkPreflight, initialize, scaleDown, scaleUp, waitForPreflight } from "./scale-steps.ts";
import { type Settling, settling, startingUp } from "./settle.ts";
import { trigger } from "./trigger.ts";
import { clusterKeyOf, type ControlPlaneView, liveMachines, outdatedMachines, verdictOf } from "./view.ts";
import { prepareUpgrade } from "./workload-config.ts";

export interface RolloutTools {
  readonly workloadClusters: WorkloadClusters;
  readonly canUpdateMachine: CanUpdateMachine;
  readonly asked: AskMemory;
  readonly applied: AppliedMemory;
  /** Why Machines are replaced, per uid of the control plane, until its rollout is over. */
  readonly replaced: Map<string, readonly string[]>;
  /** Changes whenever an extension is registered, changed or removed. */
  readonly extensions: (context: ReconcileContext) => string;
  /** Writes the status in the middle of a run: people read why before anything is deleted. */
  readonly writeStatus: (view: ControlPlaneView, context: ReconcileContext) => Promise<unknown>;
}

export async function advance(view: ControlPlaneView, context: ReconcileContext, tools: RolloutTools): Promise<StepOutcome> {
  const { kcp } = view;
  const outdated = outdatedMachines(view);
  if (outdated.length === 0) {
    tools.replaced.delete(kcp.metadata.uid ?? "");
    view.notes.replaced = [];
  }
  const step = nextStep({
    machines: liveMachines(view),
    outdated,
    managedEtcd: view.managedEtcd,
    failureDomains: controlPlaneDomains(view.cluster),
    replicas: replicasOf(kcp),
    maxSurge: maxSurgeOf(kcp),
    inPlace: context.gates.enabled("InPlaceUpdates"),
    eligible: outdated.filter((m) => verdictOf(view, m).inPlaceEligible).map(nameOf),
    required: rolloutPolicy(kcp) === "RequireInPlace",
  });
  context.log.debug("next step", { step: step.do, because: step.because });
  if (outdated.length > 0 && !view.initialized) {
    view.notes.waiting.push("a control plane that never answered is not rolled out: delete its Machine to start anew");
    return { stop: true };
  }
  if (outdated.length > 0) await prepareUpgrade(view, tools.workloadClusters.get(clusterKeyOf(view)));
  if (outdated.length > 0 && (step.do === "scaleDown" || step.do === "tryInPlace")) {
    const wait = settling(
      liveMachines(view).filter((m) => m !== step.machine && !outdated.includes(m)),
      view.nowMs,
    );
    if (wait) return waitFor(view, wait);
  }
  switch (step.do) {
    case "nothing":
      view.told.delete(kcp.metadata.uid ?? "");
      return undefined;
    case "init":
      return initialize(view, context, tools.applied);
    case "scaleUp":
      return scaleUp(view, context, tools.applied);
    case "scaleDown":
      return scaleDown(view, context, tools.workloadClusters, step.machine);
    case "tryInPlace":
      return tryInPlace(view, context, tools, step.machine);
    case "blocked":
      return block(view, context, step.machine, [...verdictOf(view, step.machine).messages, step.because]);
  }
}

function waitFor(view: ControlPlaneView, { machine, requeueAfterMs }: Settling): StepOutcome {
  view.notes.waiting.push(`waiting for Machine ${nameOf(machine)} to be available`);
  return { requeueAfterMs, stop: true };
}

async function tryInPlace(view: ControlPlaneView, context: ReconcileContext, tools: RolloutTools, machine: Machine): Promise<StepOutcome> {
  const withoutIt = checkPreflight(view, false, machine);
  const all = checkPreflight(view, false);
  const policy = rolloutPolicy(view.kcp);
  const starting = all.passes ? undefined : startingUp(machine, view.nowMs);
  if (starting) return waitFor(view, starting);
  let decision = decideInPlace({ all, withoutIt, policy });
  if (decision.do === "ask") {
    const answer = await ask(view, context, tools, machine);
    if ("requeueAfterMs" in answer) return { ...answer, stop: true };
    decision = decideInPlace({ all, withoutIt, policy, answer });
  }
  switch (decision.do) {
    case "wait":
      return waitForPreflight(view, context, decision.preflight);
    case "trigger":
      await trigger(view, context, machine, tools.applied);
      return { stop: true };
    case "blocked":
      return block(view, context, machine, decision.reasons);
    case "replace":
      if (decision.reasons.length > 0) await announce(view, context, tools, machine, decision.reasons);
      return scaleDown(view, context, tools.workloadClusters, machine);
    case "ask":
      throw new Error(`no answer about Machine ${nameOf(machine)}`);
  }
}

function block(view: ControlPlaneView, context: ReconcileContext, machine: Machine, reasons: readonly string[]): StepOutcome {
  const text = `Machine ${nameOf(machine)}: ${reasons.join("; ")}`;
  view.notes.blocked = [text];
  tell(view, context, "Warning", "RolloutBlocked", `Nothing is replaced because in-place updates are required: ${text}`);
  return { stop: true };
}

/** Says why a Machine is replaced, before it is. */
async function announce(
  view: ControlPlaneView,
  context: ReconcileContext,
  tools: RolloutTools,
  machine: Machine,
  reasons: readonly string[],
): Promise<void> {
  const text = `Machine ${nameOf(machine)} cannot be updated in place and is replaced: ${reasons.join("; ")}`;
  if (view.notes.replaced.includes(text)) return;
  view.notes.replaced = [...view.notes.replaced, text];
  tools.replaced.set(view.kcp.metadata.uid ?? "", view.notes.replaced);
  context.record(view.kcp, "Normal", "InPlaceUpdateNotPossible", text);
  await tools.writeStatus(view, context);
}

/** Nothing when it cannot be decided: the rollout waits, and nothing is deleted. */
async function ask(
  view: ControlPlaneView,
  context: ReconcileContext,
  tools: RolloutTools,
  machine: Machine,
): Promise<MachineAnswer | { readonly requeueAfterMs: number }> {
  const { generation, annotations, uid } = view.kcp.metadata;
  const reasonsToAskAtOnce = JSON.stringify([annotations ?? {}, tools.extensions(context)]);
  const key = `${uid}/${nameOf(machine)}/${generation}/${fnv32a(reasonsToAskAtOnce)}`;
  try {
    return await tools.asked.call(key, view.nowMs, async () => {
      const question = await buildQuestion(view, context, machine);
      return "reason" in question ? { covered: false, reasons: [question.reason] } : tools.canUpdateMachine(question);
    });
  } catch (e) {
    view.failed = true;
    view.notes.undecided = `Machine ${nameOf(machine)}: ${messageOf(e)}`;
    context.log.warn("the rollout waits: whether a Machine can be updated in place cannot be decided", { undecided: view.notes.undecided });
    tell(view, context, "Warning", "CanUpdateMachineFailed", `Rollout waits, nothing is deleted: ${view.notes.undecided}`);
    return { requeueAfterMs: tools.asked.waitMs(key, view.nowMs) };
  }
}

/** An Event, only when it is news. */
function tell(view: ControlPlaneView, context: ReconcileContext, type: "Normal" | "Warning", reason: string, text: string): void {
  const stored = view.kcp.status?.conditions?.find((c) => c.type === "RollingOut")?.message;
  if (rollingOut(view.machines, view.notes).message !== stored) context.record(view.kcp, type, reason, text);
}
