// Writing the sets of a MachineDeployment as planned. Here: order, events, revision. Not here: what a set looks like (desired.ts), the plan.
// Source: spec/controllers/machinedeployment.md 5 and 6.3.
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import { isConflict, isNotFound } from "../../api/meta/status.ts";
import { fieldManagers, revisionAnnotation } from "../../api/names.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { patchObject } from "../../runtime/patch.ts";
import { type AppliedMemory, applyIntent, applyOnce, repairOwnership } from "../apply/apply.ts";
import { fnv32a } from "../naming/names.ts";
import type { Choice } from "../rollout/compare.ts";
import { type DesiredSetInput, desiredSet, identityOf, type Revision, type SetIdentity, storedRevision } from "./desired.ts";
import type { RolloutPlan, SetPlan } from "./plan-view.ts";
import { type Candidate, type DeploymentView, isDeleting, nameOf, revisionOfNew } from "./view.ts";

/** Gives our manager back the fields that it owned. @returns true when something was written: the next run goes on */
export async function repairSets(view: DeploymentView, context: ReconcileContext, applied: AppliedMemory): Promise<boolean> {
  let repaired = false;
  for (const set of view.sets) {
    if (await repairOwnership(context, applied, machineSetResource, set, fieldManagers.machineDeployment)) repaired = true;
  }
  return repaired;
}

/** The new set first: when machines move, the receiver knows before the sender does. */
export async function applySets(
  view: DeploymentView,
  context: ReconcileContext,
  applied: AppliedMemory,
  choice: Choice<Candidate>,
  identity: SetIdentity,
  plan: RolloutPlan,
): Promise<void> {
  const existing = choice.newSet?.set;
  const revision = revisionOfNew(choice);
  await applySet(view, context, applied, { existing, identity, plan: plan.newSet, revision, old: false });
  for (const oldPlan of plan.oldSets) {
    const old = choice.oldSets.find((o) => o.set.name === oldPlan.name)?.set.set;
    if (!old) continue;
    await applySet(view, context, applied, {
      existing: old,
      identity: identityOf(old),
      plan: oldPlan,
      revision: storedRevision(old),
      old: true,
    });
  }
  await writeRevision(view, context, revision);
}

export async function writeRevision(view: DeploymentView, { client }: ReconcileContext, { number }: Revision): Promise<void> {
  const { deployment } = view;
  if (number === undefined || deployment.metadata.annotations?.[revisionAnnotation] === number) return;
  const annotations = { ...deployment.metadata.annotations, [revisionAnnotation]: number };
  view.deployment = await patchObject(client, machineDeploymentResource, deployment, {
    ...deployment,
    metadata: { ...deployment.metadata, annotations },
  });
}

export async function applySet(
  view: DeploymentView,
  context: ReconcileContext,
  applied: AppliedMemory,
  input: Omit<DesiredSetInput, "deployment" | "maxSurge">,
): Promise<void> {
  const { deployment } = view;
  const { existing, plan } = input;
  const intent = desiredSet({ ...input, deployment, maxSurge: view.limits.maxSurge });
  try {
    if (!existing) {
      const created = await applyIntent<MachineSet>(context, machineSetResource, intent, fieldManagers.machineDeployment);
      view.sets = [...view.sets, created].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
      context.record(
        deployment,
        "Normal",
        "SuccessfulCreate",
        `Created MachineSet ${deployment.metadata.namespace}/${plan.name} with ${plan.replicas} replicas`,
      );
      return;
    }
    const token = tokenOf(intent);
    const stored = await applyOnce(context, applied, machineSetResource, existing, fieldManagers.machineDeployment, token, () => intent);
    view.sets = view.sets.map((set) => (nameOf(set) === plan.name ? stored : set));
    if (stored.spec.replicas !== existing.spec.replicas) recordScale(view, context, existing, plan);
  } catch (e) {
    if (existing && isDeleting(existing) && (isConflict(e) || isNotFound(e))) return;
    const reason = existing ? "FailedUpdate" : "FailedCreate";
    context.record(deployment, "Warning", reason, `MachineSet ${plan.name}: ${e instanceof Error ? e.message : String(e)}`);
    throw e;
  }
}

function tokenOf(intent: MachineSet): string {
  const text = JSON.stringify([intent.metadata, intent.spec]);
  return `${text.length}/${fnv32a(text)}`;
}

function recordScale(view: DeploymentView, context: ReconcileContext, set: MachineSet, plan: SetPlan): void {
  const from = set.spec.replicas ?? 0;
  const direction = plan.replicas > from ? "up" : "down";
  const because = plan.because === undefined ? "" : ` (${plan.because})`;
  context.record(
    view.deployment,
    "Normal",
    "SuccessfulScale",
    `Scaled ${direction} MachineSet ${nameOf(set)}: ${from} -> ${plan.replicas}${because}`,
  );
}
