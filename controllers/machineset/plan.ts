// Which machines a set makes, deletes or hands over. Here: pure plans over a snapshot. Not here: remediation (remediation.ts), writing (apply.ts).
// Source: spec/controllers/machineset.md 5, 8, inplace-workers.md 5.1; issue list in spec reports 2 and 5.

export type DeletionOrder = "Random" | "Newest" | "Oldest";

/** A Machine as the planner sees it. */
export interface MachineView {
  readonly name: string;
  /** Undefined: unknown. */
  readonly createdMs?: number;
  readonly deleting: boolean;
  /** Annotation cluster.x-k8s.io/delete-machine. */
  readonly deleteFirst: boolean;
  /** Either in-place mark. */
  readonly updating: boolean;
  /** The last call of its updater failed (condition Updating, reason InPlaceUpdateFailed). */
  readonly updateFailing: boolean;
  /** Condition Updating still says True: its controller has not finished writing the end of an update. */
  readonly finishing: boolean;
  /** Changed its set and is not counted by the MachineDeployment yet. */
  readonly pendingMove: boolean;
  readonly hookPending: boolean;
  readonly hasNode: boolean;
  /** NodeHealthy=False or HealthCheckSucceeded=False. */
  readonly unhealthy: boolean;
  /** HealthCheckSucceeded=False and OwnerRemediated=False. */
  readonly toRemediate: boolean;
}

export interface SetView {
  readonly name: string;
  readonly replicas: number;
  readonly order: DeletionOrder;
  /** Annotation disable-machine-create is "true". */
  readonly createDisabled: boolean;
  /** Stored receive annotation is not empty. */
  readonly receiving: boolean;
  /** Controlled machines whose labels the selector no longer matches: they are not managed, but they take a place. */
  readonly strays: number;
  /** Machines in the middle of an update are not deleted yet: the order to hand them on may be on its way. */
  readonly spareUpdating?: boolean;
  /** Present: surplus machines are handed to this set. */
  readonly moveTo?: MoveTarget;
}

export interface MoveTarget {
  readonly name: string;
  /** Its receive annotation lists this set. */
  readonly accepts: boolean;
  /** How many more machines it can take before it would have more than its MachineDeployment wants; undefined = unknown, no limit. */
  readonly room?: number;
}

export type ReplicaPlan =
  | { readonly do: "nothing" }
  | { readonly do: "create"; readonly count: number }
  /** @param waitFor machines that take up a place but are not ready to go: already deleting, or in the middle of an update */
  | {
      readonly do: "remove";
      readonly move: readonly string[];
      readonly delete: readonly string[];
      readonly waitFor: readonly string[];
      readonly skipped: readonly string[];
    }
  /** The target does not list this set yet; normal for a moment. */
  | { readonly do: "waitForTarget"; readonly target: string };

const NOTHING: ReplicaPlan = { do: "nothing" };

/** @param nowMs for the age of machines */
export function planReplicas(set: SetView, machines: readonly MachineView[], nowMs: number): ReplicaPlan {
  const { replicas } = set;
  if (machines.length < replicas) {
    const count = replicas - machines.length - set.strays;
    return set.createDisabled || count <= 0 ? NOTHING : { do: "create", count };
  }
  const unacknowledged = set.receiving ? machines.filter((m) => m.pendingMove).length : 0;
  const surplus = machines.length - unacknowledged - replicas;
  if (surplus <= 0) return NOTHING;
  const ordered = inDeletionOrder(machines, set.order, nowMs);
  if (set.moveTo) return set.moveTo.accepts ? planMove(ordered, surplus, set.moveTo) : { do: "waitForTarget", target: set.moveTo.name };
  const going = ordered.slice(0, surplus);
  const waits = (m: MachineView): boolean => m.deleting || (set.spareUpdating === true && m.updating);
  const split = (waiting: boolean): readonly string[] => going.filter((m) => waits(m) === waiting).map((m) => m.name);
  return { do: "remove", move: [], delete: split(false), waitFor: split(true), skipped: [] };
}

function planMove(ordered: readonly MachineView[], surplus: number, target: MoveTarget): ReplicaPlan {
  const move: string[] = [];
  const remove: string[] = [];
  const waitFor: string[] = [];
  const skipped: string[] = [];
  let left = surplus;
  // What the target has no room for would be updated only to be deleted there: it is deleted here.
  let excess = target.room === undefined ? 0 : Math.max(surplus - ordered.filter(alreadyGoing).length - Math.max(target.room, 0), 0);
  for (const machine of ordered) {
    if (left === 0) break;
    if (machine.deleting) waitFor.push(machine.name);
    else if (machine.toRemediate) remove.push(machine.name);
    // Not available already, so it is the surplus: taking another one instead would leave two machines unavailable.
    else if (machine.finishing || (machine.updating && !machine.updateFailing)) waitFor.push(machine.name);
    else if (machine.updating || !machine.hasNode) {
      skipped.push(machine.name);
      continue;
    } else if (excess > 0) {
      remove.push(machine.name);
      excess--;
    } else move.push(machine.name);
    left--;
  }
  return { do: "remove", move, delete: remove, waitFor, skipped };
}

const alreadyGoing = (m: MachineView): boolean => m.deleting || m.toRemediate;

// --- order ---------------------------------------------------------------------------------------------------------------------------

const PRIORITY_DELETING = 100;
const PRIORITY_DELETE_ANNOTATION = 80;
const PRIORITY_UPDATING = 75;
const PRIORITY_UNHEALTHY = 50;
const PRIORITY_RANDOM = 20;
/** Machines reach about two thirds of the highest age priority after this time: ten days. */
const AGE_SCALE_SECONDS = 864_000;

/** Machines in the order in which they go; equal priorities by name. */
export function inDeletionOrder(machines: readonly MachineView[], order: DeletionOrder, nowMs: number): readonly MachineView[] {
  const ranked = machines.map((machine) => ({ machine, priority: deletionPriority(machine, order, nowMs) }));
  ranked.sort((a, b) => b.priority - a.priority || (a.machine.name < b.machine.name ? -1 : a.machine.name > b.machine.name ? 1 : 0));
  return ranked.map((r) => r.machine);
}

export function deletionPriority(machine: MachineView, order: DeletionOrder, nowMs: number): number {
  if (machine.deleting) return PRIORITY_DELETING;
  if (machine.deleteFirst) return PRIORITY_DELETE_ANNOTATION;
  if (machine.updating) return PRIORITY_UPDATING;
  if (!machine.hasNode || machine.unhealthy) return PRIORITY_UNHEALTHY;
  if (order === "Random") return PRIORITY_RANDOM;
  const age = ageShare(machine.createdMs, nowMs);
  return order === "Oldest" ? age : PRIORITY_UNHEALTHY - age;
}

function ageShare(createdMs: number | undefined, nowMs: number): number {
  if (createdMs === undefined || createdMs > nowMs) return 0;
  return PRIORITY_UNHEALTHY * (1 - Math.exp(-(nowMs - createdMs) / 1000 / AGE_SCALE_SECONDS));
}

// --- in-place trigger ----------------------------------------------------------------------------------------------------------------

/** Machines whose in-place update this set has to start now: handed over (or taken up again after a crash), counted, and not about to go.
 *  @param acknowledged names in the set's stored acknowledged-move annotation  @param moving surplus machines are handed on, not deleted */
export function machinesToTrigger(
  set: Pick<SetView, "receiving">,
  machines: readonly MachineView[],
  acknowledged: readonly string[],
  plan: ReplicaPlan,
  moving: boolean,
): readonly string[] {
  const going = plan.do !== "remove" ? [] : moving ? plan.delete : [...plan.delete, ...plan.waitFor];
  return machines
    .filter((m) => m.updating && !m.hookPending && !m.deleting && !going.includes(m.name))
    .filter((m) => !m.pendingMove || !set.receiving || acknowledged.includes(m.name))
    .map((m) => m.name)
    .sort();
}
