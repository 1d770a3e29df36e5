// How many machines each set of a MachineDeployment shall have next, and who hands machines to whom.
// Here: the rolling update as a pure function over a snapshot. Not here: OnDelete (plan-on-delete.ts), paused (plan-paused.ts), which set is the new one
// (../rollout/compare.ts), writing (apply.ts). Source: spec/controllers/machinedeployment.md 6, inplace-workers.md 3.
import { byAge } from "../rollout/compare.ts";
import { type AskFirst, mayHave, type OldSetView, type RolloutPlan, type RolloutView, type SetPlan, type SetView } from "./plan-view.ts";

interface Draft {
  readonly view: RolloutView;
  /** Oldest first. */
  readonly oldSets: readonly OldSetView[];
  /** New set's replicas with moved machines counted, and with those that it takes back. */
  readonly newReplicas: number;
  /** The same without those that it takes back: says whether it still wants machines of other sets. */
  readonly countedReplicas: number;
  readonly holdCreation: boolean;
  /** Wanted replicas by set name, where they differ from the spec. */
  readonly intents: Map<string, number>;
  readonly because: Map<string, string>;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** One reconcile's worth of a rolling update. */
export function planRollingUpdate(view: RolloutView): RolloutPlan | AskFirst {
  const fresh = freshMoves(view);
  const back = takeBack(view, fresh.length);
  const because = [
    ...(fresh.length > 0 ? [`counts moved ${fresh.join(", ")}`] : []),
    ...(back.replicas === view.newSet.replicas ? [] : ["keeps machines that were not handed over yet"]),
  ].join("; ");
  const draft: Draft = {
    view,
    oldSets: view.oldSets.map(settled).sort(byAge),
    newReplicas: back.replicas + fresh.length,
    // Replicas given to a set that makes no machines are not machines: what it has says how many it still wants.
    countedReplicas: Math.min(
      view.newSet.replicas + fresh.length,
      back.hold ? (view.newSet.machines ?? view.newSet.current) : Number.POSITIVE_INFINITY,
    ),
    holdCreation: back.hold,
    intents: new Map(),
    because: new Map(because === "" ? [] : [[view.newSet.name, because]]),
  };
  const questions = openQuestions(draft);
  if (questions.length > 0) return { do: "ask", oldSets: questions, newSetReplicas: draft.newReplicas };
  growOrShrinkNewSet(draft);
  shrinkOldSets(draft);
  const blocked = whyBlocked(draft);
  if (blocked.length > 0) keepOldSets(draft);
  const inPlace = planMoves(draft);
  if (blocked.length === 0) breakDeadlock(draft);
  return finish(draft, inPlace, blocked);
}

function freshMoves(view: RolloutView): readonly string[] {
  const { pendingMoves = [], acknowledged = [] } = view.inPlace ?? {};
  return pendingMoves.filter((name) => !acknowledged.includes(name)).sort();
}

/** A set that took machines back and is old again: places without a machine are not filled. */
const settled = (set: OldSetView): OldSetView =>
  set.holding && isCounted(set) ? { ...set, replicas: Math.min(set.replicas, set.current) } : set;

/** Machines and counters are read from caches of their own: only where both tell the same is it known how many machines a set has. */
const isCounted = (set: SetView): boolean => set.seen === true && (set.machines ?? set.current) === set.current;
const present = (set: SetView): number => Math.max(set.current, set.machines ?? 0);

/** After a change back the new set may have fewer replicas than machines: those that it was told to hand over and did not yet. They stay.
 *  Its counters may be older than its last hand-over, so it first gets the replicas and makes no machines; once it has seen that and its machines
 *  are as many as it counts, the counters are right, and so are the replicas made from them. */
function takeBack({ newSet, replicas, inPlace }: RolloutView, fresh: number): { readonly replicas: number; readonly hold: boolean } {
  if (!inPlace) return { replicas: newSet.replicas, hold: false };
  if (newSet.wasSender && present(newSet) > newSet.replicas && newSet.replicas < replicas) {
    return { replicas: Math.min(present(newSet), replicas), hold: true };
  }
  if (!newSet.holding) return { replicas: newSet.replicas, hold: false };
  if (!isCounted(newSet)) return { replicas: newSet.replicas, hold: true };
  return { replicas: Math.max(Math.min(newSet.replicas, newSet.current - fresh), 0), hold: false };
}

// --- questions -----------------------------------------------------------------------------------------------------------------------

/** Old sets with machines, as long as the new set still has to grow. */
function questionable({ view, oldSets, countedReplicas }: Draft): readonly OldSetView[] {
  if (!view.inPlace || countedReplicas >= view.replicas) return [];
  return oldSets.filter((set) => present(set) > 0 && set.inPlaceEligible);
}

function openQuestions(draft: Draft): readonly string[] {
  const answers = draft.view.inPlace?.answers;
  return questionable(draft)
    .map((set) => set.name)
    .filter((name) => !answers?.has(name));
}

// --- new set -------------------------------------------------------------------------------------------------------------------------

const wanted = (draft: Draft, set: SetView): number =>
  draft.intents.get(set.name) ?? (set === draft.view.newSet ? draft.newReplicas : set.replicas);
const specOf = (draft: Draft, set: SetView): number => (set === draft.view.newSet ? draft.newReplicas : set.replicas);
const allSets = (draft: Draft): readonly SetView[] => [draft.view.newSet, ...draft.oldSets];

function intend(draft: Draft, set: SetView, replicas: number, because: string): void {
  draft.intents.set(set.name, replicas);
  draft.because.set(set.name, because);
}

function growOrShrinkNewSet(draft: Draft): void {
  const { view, newReplicas } = draft;
  if (newReplicas > view.replicas) intend(draft, view.newSet, view.replicas, `above the wanted ${view.replicas}`);
  if (newReplicas >= view.replicas) return;
  const ceiling = view.replicas + view.limits.maxSurge;
  const counted = sum(allSets(draft).map((set) => Math.max(specOf(draft, set), mayHave(set))));
  const total = Math.max(counted, view.machineCount ?? 0);
  if (total >= ceiling) return;
  const growth = Math.min(ceiling - total, view.replicas - newReplicas);
  intend(draft, view.newSet, newReplicas + growth, `${total} of at most ${ceiling} machines exist`);
}

// --- old sets ------------------------------------------------------------------------------------------------------------------------

function shrinkOldSets(draft: Draft): void {
  const { view, oldSets, newReplicas } = draft;
  if (sum(oldSets.map((set) => set.replicas)) <= 0) return;
  const minAvailable = Math.max(view.replicas - view.limits.maxUnavailable, 0);
  const leaving = sum(allSets(draft).map((set) => Math.max(set.current - Math.min(specOf(draft, set), wanted(draft, set)), 0)));
  // The brake: while machines of the new set are not available, nothing more is taken from the old ones for them.
  const newUnavailable = Math.max(newReplicas - view.newSet.available, 0);
  let room = sum(allSets(draft).map((set) => specOf(draft, set))) - leaving - minAvailable - newUnavailable;
  if (room <= 0) return;
  let available = sum(allSets(draft).map((set) => set.available));
  const take = (set: SetView, limit: number): void => {
    const replicas = wanted(draft, set);
    let down = Math.min(limit, room);
    let gone = 0;
    // Pessimistic: the set may lose an available machine although it has a bad one.
    if (set.available > 0) {
      gone = Math.max(set.current - (replicas - down), 0);
      if (gone > available - minAvailable) {
        const keep = Math.min(set.current - Math.max(available - minAvailable, 0), replicas);
        down = Math.max(replicas - keep, 0);
        gone = Math.max(set.current - (replicas - down), 0);
      }
      available -= Math.min(set.available, gone);
    }
    if (down <= 0) return;
    intend(draft, set, replicas - down, `${minAvailable} of ${view.replicas} machines must stay available`);
    room -= down;
  };
  for (const set of oldSets) if (room > 0) take(set, Math.max(wanted(draft, set) - set.available, 0));
  for (const set of oldSets) if (room > 0) take(set, wanted(draft, set));
}

/** Nothing moves and nothing may: machines that are not available hold up the whole rollout. One of them has to go. */
function breakDeadlock(draft: Draft): void {
  const { view, oldSets } = draft;
  const oldCurrent = sum(oldSets.map((set) => set.current));
  const stuck =
    oldCurrent > 0 &&
    sum(oldSets.map((set) => set.available)) !== oldCurrent &&
    allSets(draft).every((set) => specOf(draft, set) === set.current) &&
    draft.intents.size === 0 &&
    view.newSet.available === view.newSet.current;
  if (!stuck) return;
  const set = oldSets.find((s) => s.replicas > 0 && s.available !== s.current);
  if (set) intend(draft, set, set.replicas - 1, "machines that are not available hold up the rollout");
}

// --- in place ------------------------------------------------------------------------------------------------------------------------

interface Moves {
  readonly senders: readonly string[];
  readonly surgePutOff: number;
}

function planMoves(draft: Draft): Moves {
  const { view, newReplicas } = draft;
  const senders = questionable(draft)
    .map((set) => set.name)
    .filter((name) => view.inPlace?.answers.get(name)?.covered)
    .sort();
  const intent = draft.intents.get(view.newSet.name);
  if (senders.length === 0 || intent === undefined || intent <= newReplicas) return { senders, surgePutOff: 0 };
  const total = sum(allSets(draft).map((set) => Math.max(wanted(draft, set), set.current)));
  const growth = intent - newReplicas;
  const surge = Math.min(growth, Math.max(total - view.replicas, 0));
  if (surge === 0) return { senders, surgePutOff: 0 };
  let keep = growth - surge;
  // One machine more to start with, or to go on with when no move can happen without it.
  if (keep === 0 && !somethingMoves(draft)) keep = 1;
  if (keep === 0) {
    draft.intents.delete(view.newSet.name);
    if (newReplicas === view.newSet.replicas) draft.because.delete(view.newSet.name);
  } else draft.intents.set(view.newSet.name, newReplicas + keep);
  return { senders, surgePutOff: growth - keep };
}

function somethingMoves(draft: Draft): boolean {
  const { view, oldSets, newReplicas } = draft;
  const { newSet } = view;
  return (
    newReplicas !== newSet.current ||
    newReplicas !== newSet.upToDate ||
    newReplicas !== newSet.available ||
    view.inPlace?.someUpdating === true ||
    oldSets.some((set) => set.replicas < set.current || wanted(draft, set) < set.replicas)
  );
}

// --- in place or stop ----------------------------------------------------------------------------------------------------------------

function whyBlocked(draft: Draft): readonly string[] {
  const { view, oldSets, newReplicas } = draft;
  if (!view.inPlace?.required || newReplicas >= view.replicas) return [];
  const withMachines = oldSets.filter((set) => set.current > 0);
  if (withMachines.length === 0) return [];
  const texts = withMachines.flatMap((set) => {
    if (!set.inPlaceEligible) return [`MachineSet ${set.name} cannot be updated in place`];
    const answer = view.inPlace?.answers.get(set.name);
    return answer?.covered ? [] : (answer?.reasons ?? []).map((reason) => `MachineSet ${set.name}: ${reason}`);
  });
  if (view.limits.maxUnavailable > 0) return texts;
  return [...texts, "maxUnavailable is 0, so the last machine would be replaced by a surge machine: set maxUnavailable to 1 or more"];
}

/** Old sets shrink only by what a smaller MachineDeployment needs; the new set takes nothing beyond what is missing. */
function keepOldSets(draft: Draft): void {
  const { view, oldSets, newReplicas } = draft;
  const missing = Math.max(view.replicas - sum(oldSets.map((set) => set.replicas)) - newReplicas, 0);
  if (wanted(draft, view.newSet) > newReplicas) intend(draft, view.newSet, newReplicas + missing, "machines are missing");
  let surplus = Math.max(sum(oldSets.map((set) => set.replicas)) + newReplicas - view.replicas, 0);
  for (const set of oldSets) {
    const down = Math.min(surplus, Math.max(set.replicas - wanted(draft, set), 0));
    draft.intents.delete(set.name);
    draft.because.delete(set.name);
    if (down > 0) intend(draft, set, set.replicas - down, `above the wanted ${view.replicas}`);
    surplus -= down;
  }
}

// --- result --------------------------------------------------------------------------------------------------------------------------

function finish(draft: Draft, moves: Moves, blocked: readonly string[]): RolloutPlan {
  const { view, oldSets } = draft;
  const { inPlace } = view;
  const senders = blocked.length > 0 ? [] : moves.senders;
  const receive = senders.length > 0 ? { receiveFrom: senders } : {};
  const acknowledged = inPlace && inPlace.pendingMoves.length > 0 ? { acknowledged: [...inPlace.pendingMoves].sort() } : {};
  const plan = (set: SetView, more: Partial<SetPlan>): SetPlan => {
    const replicas = wanted(draft, set);
    const because = draft.because.get(set.name);
    return { name: set.name, replicas, ...(replicas !== set.replicas && because !== undefined ? { because } : {}), ...more };
  };
  return {
    do: "apply",
    newSet: plan(view.newSet, { ...receive, ...acknowledged, ...(draft.holdCreation ? { holdCreation: true } : {}) }),
    oldSets: oldSets.map((set) =>
      plan(set, {
        ...(senders.includes(set.name) ? { moveTo: view.newSet.name } : {}),
        ...(set.holding && !isCounted(set) ? { holdCreation: true } : {}),
      }),
    ),
    replaced: questionable(draft).flatMap((set) => {
      const answer = inPlace?.answers.get(set.name);
      return answer && !answer.covered ? [{ set: set.name, reasons: answer.reasons }] : [];
    }),
    surgePutOff: moves.surgePutOff,
    ...(blocked.length > 0 ? { blocked } : {}),
  };
}
