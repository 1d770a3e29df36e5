// The heart of a MachineDeployment's reconcile: plan, ask where the plan needs an answer, write the sets. Here: effects in order.
// Not here: what is decided (plan.ts, plan-on-delete.ts, plan-paused.ts), what a set looks like (desired.ts).
// Source: spec/controllers/machinedeployment.md 5 to 8, inplace-workers.md 2 and 4.
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import { isConflict, isNotFound } from "../../api/meta/status.ts";
import { fieldManagers, revisionAnnotation } from "../../api/names.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { patchObject } from "../../runtime/patch.ts";
import { type AppliedMemory, applyIntent, applyOnce, repairOwnership } from "../apply/apply.ts";
import type { ContractRef, Unstructured } from "../contract/contract.ts";
import type { AskMemory, CanUpdateMachineSet, SetWithTemplates } from "../inplace/ask.ts";
import { rolloutPolicy } from "../inplace/policy.ts";
import { fnv32a } from "../naming/names.ts";
import type { Choice } from "../rollout/compare.ts";
import { isTemplateKind } from "../templates/clone.ts";
import { readReference } from "../templates/read.ts";
import { rollingOut } from "./conditions.ts";
import {
  type DesiredSetInput,
  desiredSet,
  identityOf,
  newIdentity,
  newRevision,
  type Revision,
  type SetIdentity,
  storedRevision,
} from "./desired.ts";
import { type Coverage, planRollingUpdate, type RolloutPlan, type SetPlan } from "./plan.ts";
import { planOnDelete } from "./plan-on-delete.ts";
import { planPaused } from "./plan-paused.ts";
import {
  absentSetView,
  acknowledgedBy,
  type Candidate,
  chooseSets,
  type DeploymentView,
  isDeleting,
  nameOf,
  newSetView,
  oldSetViews,
  pausedSet,
  pendingMovesTo,
  replicasOf,
  setView,
  someUpdating,
  strategyOf,
} from "./view.ts";

export interface RolloutDeps {
  readonly canUpdate: CanUpdateMachineSet;
  readonly asked: AskMemory;
  readonly applied: AppliedMemory;
}

/** The first list of some template's kind is under way; the key runs again by itself. */
class NotYet extends Error {
  readonly code = "NotYet";
}

/** Gives our manager back the fields that it owned. @returns true when something was written: the next run goes on */
export async function repairSets(view: DeploymentView, context: ReconcileContext, applied: AppliedMemory): Promise<boolean> {
  let repaired = false;
  for (const set of view.sets) {
    if (await repairOwnership(context, applied, machineSetResource, set, fieldManagers.machineDeployment)) repaired = true;
  }
  return repaired;
}

export async function rollOut(view: DeploymentView, context: ReconcileContext, deps: RolloutDeps): Promise<void> {
  const choice = chooseSets(view);
  if (view.deployment.spec.paused) return applyPaused(view, context, deps, choice);
  const existing = choice.newSet?.set;
  if (!existing) assertTemplates(view);
  const planned = await makePlan(view, context, deps, choice);
  if (!planned) return;
  const { identity, plan } = planned;
  view.outcome.replaced = plan.replaced;
  view.outcome.blocked = plan.blocked;
  tell(view, context, existing === undefined);
  await applySets(view, context, deps, choice, identity, plan);
}

/** Nothing is written here. @returns nothing while some template's kind is being listed  @throws what makes a plan impossible; the view tells it too */
async function makePlan(
  view: DeploymentView,
  context: ReconcileContext,
  deps: RolloutDeps,
  choice: Choice<Candidate>,
): Promise<{ readonly identity: SetIdentity; readonly plan: RolloutPlan } | undefined> {
  const existing = choice.newSet?.set;
  try {
    for (const old of choice.oldSets) identityOf(old.set.set);
    revisionOfNew(choice);
    const identity = existing ? identityOf(existing) : newIdentity(view.deployment, context.random);
    const plan =
      strategyOf(view) === "OnDelete" ? onDelete(view, choice, identity) : await rollingUpdate(view, context, deps, choice, identity);
    return { identity, plan };
  } catch (e) {
    if ((e as { code?: unknown }).code === "NotYet") return undefined;
    if (view.outcome.undecided === undefined) view.outcome.fault = e instanceof Error ? e.message : String(e);
    throw e;
  }
}

function assertTemplates(view: DeploymentView): void {
  const missing = [view.infrastructureTemplate, view.bootstrapTemplate].flatMap((read) => {
    if (read?.state === "failed") throw read.error;
    return read?.state === "missing" ? [`${read.ref.kind} ${read.ref.name}`] : [];
  });
  if (missing.length > 0)
    throw new Error(`a MachineSet cannot be created: ${missing.join(" and ")} does not exist; create it, or change the template reference`);
}

// --- planning ------------------------------------------------------------------------------------------------------------------------

function onDelete(view: DeploymentView, choice: Choice<Candidate>, identity: SetIdentity): RolloutPlan {
  const newSet = choice.newSet ? setView(choice.newSet.set) : absentSetView(identity.name, view.nowMs);
  return planOnDelete({ replicas: replicasOf(view), newSet, oldSets: oldSetViews(view, choice) });
}

async function rollingUpdate(
  view: DeploymentView,
  context: ReconcileContext,
  deps: RolloutDeps,
  choice: Choice<Candidate>,
  identity: SetIdentity,
): Promise<RolloutPlan> {
  const existing = choice.newSet?.set;
  const answers = new Map<string, Coverage>();
  const planNow = (): ReturnType<typeof planRollingUpdate> =>
    planRollingUpdate({
      replicas: replicasOf(view),
      limits: view.limits,
      newSet: existing ? newSetView(existing) : absentSetView(identity.name, view.nowMs),
      oldSets: oldSetViews(view, choice),
      machineCount: view.machines.length,
      ...(context.gates.enabled("InPlaceUpdates")
        ? {
            inPlace: {
              pendingMoves: existing ? pendingMovesTo(view, existing) : [],
              acknowledged: existing ? acknowledgedBy(existing) : [],
              someUpdating: someUpdating(view),
              answers,
              required: rolloutPolicy(view.deployment) === "RequireInPlace",
            },
          }
        : {}),
    });
  const first = planNow();
  if (first.do === "apply") return first;
  for (const name of first.oldSets) {
    const old = choice.oldSets.find((o) => o.set.name === name)?.set.set;
    if (old) answers.set(name, await ask(view, context, deps, old, choice, identity, first.newSetReplicas));
  }
  const second = planNow();
  if (second.do === "ask") throw new Error(`no answer about ${second.oldSets.join(", ")}`);
  return second;
}

// --- asking --------------------------------------------------------------------------------------------------------------------------

async function ask(
  view: DeploymentView,
  context: ReconcileContext,
  deps: RolloutDeps,
  old: MachineSet,
  choice: Choice<Candidate>,
  identity: SetIdentity,
  newReplicas: number,
): Promise<Coverage> {
  const { deployment, limits } = view;
  const { generation, annotations, uid } = deployment.metadata;
  const key = `${uid}/${nameOf(old)}/${generation}/${fnv32a(JSON.stringify(annotations ?? {}))}`;
  const intent = (set: MachineSet | undefined, id: SetIdentity, replicas: number): MachineSet =>
    desiredSet({
      deployment,
      identity: id,
      existing: set,
      plan: { name: id.name, replicas },
      revision: set && set === old ? storedRevision(set) : revisionOfNew(choice),
      maxSurge: limits.maxSurge,
      old: set === old,
    });
  try {
    return await deps.asked.call(key, view.nowMs, async () => {
      const current = await withTemplates(view, context, intent(old, identityOf(old), old.spec.replicas ?? 0));
      const desired = await withTemplates(view, context, intent(choice.newSet?.set, identity, newReplicas));
      return deps.canUpdate({ current, desired });
    });
  } catch (e) {
    if ((e as { code?: unknown }).code === "NotYet") throw e;
    view.outcome.undecided = `MachineSet ${nameOf(old)}: ${e instanceof Error ? e.message : String(e)}`;
    tell(view, context, false);
    throw new Error(
      `cannot decide whether machines of MachineSet ${nameOf(old)} can be updated in place: ${e instanceof Error ? e.message : String(e)}`,
      {
        cause: e,
      },
    );
  }
}

/** @throws Error also for a template that does not exist: without it nobody can tell what would change */
async function withTemplates(view: DeploymentView, context: ReconcileContext, machineSet: MachineSet): Promise<SetWithTemplates> {
  const { infrastructureRef, bootstrap } = machineSet.spec.template.spec;
  const read = async (ref: ContractRef): Promise<Unstructured> => {
    const found = await readReference(context, view.deployment.metadata.namespace ?? "", ref);
    if (found.state === "later") throw new NotYet(`${ref.kind} is being listed`);
    if (found.state === "missing") throw new Error(`${ref.kind} ${ref.name} of MachineSet ${nameOf(machineSet)} does not exist`);
    return found.object;
  };
  const infrastructureMachineTemplate = await read(infrastructureRef);
  const { configRef } = bootstrap;
  if (!configRef?.name || !isTemplateKind(configRef.kind)) return { machineSet, infrastructureMachineTemplate };
  return { machineSet, infrastructureMachineTemplate, bootstrapConfigTemplate: await read(configRef) };
}

/** Events for what a user would otherwise find nowhere; only when it is news. @param begins a new set is about to be made */
function tell(view: DeploymentView, context: ReconcileContext, begins: boolean): void {
  const { deployment, outcome } = view;
  const stored = deployment.status?.conditions?.find((c) => c.type === "RollingOut")?.message;
  if (outcome.undecided !== undefined && rollingOut(view).message !== stored) {
    context.record(deployment, "Warning", "CanUpdateMachineSetFailed", `Rollout waits, nothing is changed: ${outcome.undecided}`);
  }
  if (outcome.blocked && rollingOut(view).message !== stored) {
    context.record(
      deployment,
      "Warning",
      "RolloutBlocked",
      `Nothing is replaced because in-place updates are required: ${outcome.blocked.join("; ")}`,
    );
  }
  if (!begins || outcome.blocked) return;
  for (const { set, reasons } of outcome.replaced) {
    const text = `Machines of MachineSet ${set} cannot be updated in place and are replaced: ${reasons.join("; ")}`;
    context.record(deployment, "Normal", "InPlaceUpdateNotPossible", text);
  }
}

// --- writing -------------------------------------------------------------------------------------------------------------------------

const revisionOfNew = (choice: Choice<Candidate>): Revision =>
  newRevision(
    choice.newSet?.set,
    choice.oldSets.map((o) => o.set.set),
  );

/** The new set first: when machines move, the receiver knows before the sender does. */
async function applySets(
  view: DeploymentView,
  context: ReconcileContext,
  deps: RolloutDeps,
  choice: Choice<Candidate>,
  identity: SetIdentity,
  plan: RolloutPlan,
): Promise<void> {
  const existing = choice.newSet?.set;
  const revision = revisionOfNew(choice);
  await applySet(view, context, deps, { existing, identity, plan: plan.newSet, revision, old: false });
  for (const oldPlan of plan.oldSets) {
    const old = choice.oldSets.find((o) => o.set.name === oldPlan.name)?.set.set;
    if (!old) continue;
    await applySet(view, context, deps, {
      existing: old,
      identity: identityOf(old),
      plan: oldPlan,
      revision: storedRevision(old),
      old: true,
    });
  }
  await writeRevision(view, context, revision);
}

async function writeRevision(view: DeploymentView, { client }: ReconcileContext, { number }: Revision): Promise<void> {
  const { deployment } = view;
  if (number === undefined || deployment.metadata.annotations?.[revisionAnnotation] === number) return;
  const annotations = { ...deployment.metadata.annotations, [revisionAnnotation]: number };
  view.deployment = await patchObject(client, machineDeploymentResource, deployment, {
    ...deployment,
    metadata: { ...deployment.metadata, annotations },
  });
}

async function applySet(
  view: DeploymentView,
  context: ReconcileContext,
  deps: RolloutDeps,
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
    const stored = await applyOnce(
      context,
      deps.applied,
      machineSetResource,
      existing,
      fieldManagers.machineDeployment,
      token,
      () => intent,
    );
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

// --- paused --------------------------------------------------------------------------------------------------------------------------

async function applyPaused(view: DeploymentView, context: ReconcileContext, deps: RolloutDeps, choice: Choice<Candidate>): Promise<void> {
  const sets = view.sets;
  const bySet = (read: (set: MachineSet) => readonly string[]): ReadonlyMap<string, readonly string[]> =>
    new Map(sets.map((set) => [nameOf(set), read(set)]));
  const existing = choice.newSet?.set;
  const plan = planPaused({
    replicas: replicasOf(view),
    limits: view.limits,
    strategy: strategyOf(view),
    ...(existing ? { newSet: { ...setView(existing), ...pausedSet(existing) } } : {}),
    oldSets: choice.oldSets.map(({ set, inPlaceEligible }) => ({ ...setView(set.set), ...pausedSet(set.set), inPlaceEligible })),
    pendingMoves: bySet((set) => pendingMovesTo(view, set)),
    acknowledged: bySet(acknowledgedBy),
    current: view.deployment.status?.replicas ?? 0,
  });
  if (existing && plan.newSet) {
    const revision = revisionOfNew(choice);
    await applySet(view, context, deps, { existing, identity: identityOf(existing), plan: plan.newSet, revision, old: false });
    await writeRevision(view, context, revision);
  }
  for (const oldPlan of plan.oldSets) {
    const old = choice.oldSets.find((o) => o.set.name === oldPlan.name)?.set.set;
    if (old)
      await applySet(view, context, deps, {
        existing: old,
        identity: identityOf(old),
        plan: oldPlan,
        revision: storedRevision(old),
        old: true,
      });
  }
}
