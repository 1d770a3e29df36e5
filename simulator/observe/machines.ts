// The Machines of a simulation, seen at every write: who came, who went, who was updated, how many at once.
// Here: the tally over a watch that delivers in the same turn. Not here: what is expected of it (rollout/, scenario/).
import { type Machine, machineResource } from "../../api/machine.ts";
import type { WatchEventType } from "../../api/meta/transport.ts";
import { isUpdatingInPlace } from "../../controllers/inplace/marks.ts";
import { hasStatus } from "../../runtime/conditions.ts";
import type { Client } from "../../runtime/client.ts";

export interface MachineFacts {
  readonly name: string;
  readonly uid: string;
  readonly deleting: boolean;
  /** Available, and not being updated or deleted. */
  readonly available: boolean;
  readonly updating: boolean;
  readonly upToDate: boolean;
  readonly machine: Machine;
}

export type MachineNews = "created" | "available" | "unavailable" | "update begins" | "updated in place" | "deletion begins" | "gone";

export interface Tally {
  /** Machines by name, those being deleted included. */
  machines(): readonly MachineFacts[];
  /** Machines that are not being deleted. */
  readonly present: number;
  readonly available: number;
  /** Since the last begin(). */
  readonly peak: number;
  readonly minAvailable: number;
  readonly created: number;
  readonly deleted: number;
  /** Machines whose update in place ended, each counted once. */
  readonly updatedInPlace: number;
  /** Machines that were there at the last begin() and still are. */
  kept(): number;
  /** Everything is counted from here on. */
  begin(): void;
  stop(): void;
}

export interface TallyOptions {
  readonly client: Client;
  readonly namespace?: string;
  readonly counts: (machine: Machine) => boolean;
  /** After each change that is told. */
  readonly onNews?: (news: MachineNews, machine: MachineFacts, tally: Tally) => void;
}

const factsOf = (machine: Machine): MachineFacts => {
  const { conditions } = machine.status ?? {};
  const deleting = machine.metadata.deletionTimestamp !== undefined;
  const updating = isUpdatingInPlace(machine);
  return {
    name: machine.metadata.name ?? "",
    uid: machine.metadata.uid ?? "",
    deleting,
    updating,
    available: !deleting && !updating && hasStatus(conditions, "Available", "True"),
    upToDate: hasStatus(conditions, "UpToDate", "True"),
    machine,
  };
};

/** What happened to a Machine between two versions of it. */
function newsOf(before: MachineFacts | undefined, now: MachineFacts): readonly MachineNews[] {
  if (!before) return ["created", ...(now.available ? (["available"] as const) : [])];
  return [
    ...(now.updating && !before.updating ? (["update begins"] as const) : []),
    ...(before.updating && !now.updating && !now.deleting ? (["updated in place"] as const) : []),
    ...(now.deleting && !before.deleting ? (["deletion begins"] as const) : []),
    ...(now.available && !before.available ? (["available"] as const) : []),
    ...(before.available && !now.available && !now.deleting && !now.updating ? (["unavailable"] as const) : []),
  ];
}

class Counting implements Tally {
  readonly known = new Map<string, MachineFacts>();
  originals = new Set<string>();
  readonly updated = new Set<string>();
  present = 0;
  available = 0;
  peak = 0;
  minAvailable = 0;
  created = 0;
  deleted = 0;
  close: () => void = () => {};

  get updatedInPlace(): number {
    return this.updated.size;
  }

  machines(): readonly MachineFacts[] {
    return [...this.known.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  kept(): number {
    return [...this.known.values()].filter((m) => !m.deleting && this.originals.has(m.uid)).length;
  }

  begin(): void {
    this.originals = new Set([...this.known.values()].filter((m) => !m.deleting).map((m) => m.uid));
    this.updated.clear();
    this.created = 0;
    this.deleted = 0;
    this.peak = this.present;
    this.minAvailable = this.available;
  }

  stop(): void {
    this.close();
  }

  see(type: WatchEventType, machine: Machine): readonly MachineNews[] {
    const before = this.known.get(machine.metadata.uid ?? "");
    const gone = type === "DELETED";
    const facts = factsOf(machine);
    // An object without finalizers goes without ever having been marked as going.
    const now = gone ? { ...facts, deleting: true, available: false } : facts;
    if (gone) this.known.delete(now.uid);
    else this.known.set(now.uid, now);
    const news = gone ? [...newsOf(before, now), "gone" as const] : newsOf(before, now);
    this.present += Number(!now.deleting) - Number(before !== undefined && !before.deleting);
    this.available += Number(now.available) - Number(before?.available === true);
    this.peak = Math.max(this.peak, this.present);
    this.minAvailable = Math.min(this.minAvailable, this.available);
    if (news.includes("created")) this.created++;
    if (news.includes("deletion begins")) this.deleted++;
    if (news.includes("updated in place")) this.updated.add(now.uid);
    return news;
  }
}

/** @param client asked in process, so that events come with the write that causes them */
export async function tallyMachines({ client, namespace, counts, onNews }: TallyOptions): Promise<Tally> {
  const tally = new Counting();
  const handle = await client.watch(
    machineResource,
    { ...(namespace === undefined ? {} : { namespace }), sendInitialEvents: true, resourceVersion: "0" },
    {
      event: ({ type, object }) => {
        if (type === "BOOKMARK" || type === "ERROR" || !counts(object)) return;
        const facts = factsOf(object);
        for (const news of tally.see(type, object)) onNews?.(news, facts, tally);
      },
      end: () => {},
    },
  );
  tally.close = () => handle.close();
  return tally;
}
