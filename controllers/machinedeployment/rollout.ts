// The heart of a MachineDeployment's reconcile: plan, ask where the plan needs an answer, write the sets. Here: the flow, what is told.
// Not here: what is decided (plan.ts, plan-on-delete.ts, plan-paused.ts), the question (asking.ts), the writes (writing.ts).
// Source: spec/controllers/machinedeployment.md 5 to 8, inplace-workers.md 2 and 4.
import type { ReconcileContext } from "../../runtime/controller.ts";
import type { MachineSet } from "../../api/machineset.ts";
import type { AppliedMemory } from "../apply/apply.ts";
import { rolloutPolicy } from "../inplace/policy.ts";
import type { Choice } from "../rollout/compare.ts";
import { type AskDeps, ask } from "./asking.ts";
import { rollingOut } from "./conditions.ts";
import { identityOf, newIdentity, type SetIdentity, storedRevision } from "./desired.ts";
import { planRollingUpdate } from "./plan.ts";
import { planOnDelete } from "./plan-on-delete.ts";
import type { ToldMemory } from "./told.ts";
import { planPaused } from "./plan-paused.ts";
import type { Coverage, RolloutPlan } from "./plan-view.ts";
import {
  absentSetView,
  acknowledgedBy,
  type Candidate,
  chooseSets,
  type DeploymentView,
  nameOf,
  newSetView,
  oldSetViews,
  pausedSet,
  pendingMovesTo,
  replicasOf,
  revisionOfNew,
  setView,
  someUpdating,
  strategyOf,
} from "./view.ts";
import { applySet, applySets, writeRevision } from "./writing.ts";

export interface RolloutDeps extends AskDeps {
  readonly applied: AppliedMemory;
  readonly told: ToldMemory;
}

export async function rollOut(view: DeploymentView, context: ReconcileContext, deps: RolloutDeps): Promise<void> {
  if (view.deployment.spec.replicas === undefined) {
    view.outcome.fault = "spec.replicas is not set: set it, or let admission fill it in";
    throw new Error(view.outcome.fault);
  }
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
  await applySets(view, context, deps.applied, choice, identity, plan);
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
      strategyOf(view) === "OnDelete" ? onDelete(view, choice, identity, deps) : await rollingUpdate(view, context, deps, choice, identity);
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

function onDelete(view: DeploymentView, choice: Choice<Candidate>, identity: SetIdentity, deps: RolloutDeps): RolloutPlan {
  const newSet = choice.newSet ? setView(choice.newSet.set) : absentSetView(identity.name, view.nowMs);
  return planOnDelete({ replicas: replicasOf(view), newSet, oldSets: oldSetViews(view, choice, deps.told) });
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
      newSet: existing ? newSetView(view, existing, deps.told) : absentSetView(identity.name, view.nowMs),
      oldSets: oldSetViews(view, choice, deps.told),
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
    if (old)
      answers.set(name, await ask(view, context, deps, old, choice, identity, first.newSetReplicas, () => tell(view, context, false)));
  }
  const second = planNow();
  if (second.do === "ask") throw new Error(`no answer about ${second.oldSets.join(", ")}`);
  return second;
}

// --- telling ----------------------------------------------------------------------------------------------------------------------

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
    await applySet(view, context, deps.applied, { existing, identity: identityOf(existing), plan: plan.newSet, revision, old: false });
    await writeRevision(view, context, revision);
  }
  for (const oldPlan of plan.oldSets) {
    const old = choice.oldSets.find((o) => o.set.name === oldPlan.name)?.set.set;
    if (old)
      await applySet(view, context, deps.applied, {
        existing: old,
        identity: identityOf(old),
        plan: oldPlan,
        revision: storedRevision(old),
        old: true,
      });
  }
}
