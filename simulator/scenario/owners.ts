// The MachineDeployments and KubeadmControlPlanes of a scenario with their Machines, followed at every write.
// Here: tallies, guards, whether all is done. Not here: what bounds are (invariants.ts).
import { kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import type { Machine } from "../../api/machine.ts";
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import type { Resource } from "../../api/meta/resource.ts";
import { machineControlPlaneNameLabel, machineDeploymentNameLabel } from "../../api/names.ts";
import type { Client, WatchHandle } from "../../runtime/client.ts";
import { type MachineFacts, type MachineNews, type Tally, tallyMachines } from "../observe/machines.ts";
import { createGuard, type Guard, type Owner } from "./invariants.ts";
import type { MachineFigures } from "./report.ts";

interface Followed {
  owner: Owner;
  readonly guard: Guard;
  readonly tally: Tally;
}

export interface Owners {
  readonly all: Tally;
  /** By `Kind/name`. */
  figures(): ReadonlyMap<string, MachineFigures>;
  begin(): void;
  /** Every owner is up to date and available; those that are get their narrower bounds. */
  converged(): boolean;
  /** @returns what is broken now */
  check(lost: ReadonlySet<string>): readonly string[];
  /** Those that are not done, with their figures. */
  openText(): string;
  stop(): void;
}

const figuresOf = (t: Tally): MachineFigures => ({
  present: t.present,
  kept: t.kept(),
  created: t.created,
  deleted: t.deleted,
  updatedInPlace: t.updatedInPlace,
  peak: t.peak,
  minAvailable: t.minAvailable,
});

export async function followOwners(
  client: Client,
  onNews: (news: MachineNews, machine: MachineFacts, tally: Tally) => void,
): Promise<Owners> {
  const followed = new Map<string, Followed>();
  const starting = new Set<string>();
  const all = await tallyMachines({ client, counts: () => true, onNews });

  const follow = async (owner: Owner, id: string): Promise<void> => {
    const { kind, metadata } = owner;
    const label = kind === "MachineDeployment" ? machineDeploymentNameLabel : machineControlPlaneNameLabel;
    const counts = (m: Machine): boolean => m.metadata.labels?.[label] === metadata.name;
    const tally = await tallyMachines({ client, namespace: metadata.namespace, counts });
    const one: Followed = { owner, tally, guard: createGuard(`${kind} ${metadata.name}`) };
    one.guard.wants(owner);
    followed.set(id, one);
    starting.delete(id);
  };
  const see = (owner: Owner, gone: boolean): void => {
    const id = `${owner.kind}/${owner.metadata.name}`;
    const known = followed.get(id);
    if (gone) {
      known?.tally.stop();
      followed.delete(id);
    } else if (known) {
      known.owner = owner;
      known.guard.wants(owner);
    } else if (!starting.has(id)) {
      starting.add(id);
      void follow(owner, id);
    }
  };
  const handles: WatchHandle[] = [];
  for (const resource of [machineDeploymentResource, kubeadmControlPlaneResource] as readonly Resource<Owner>[]) {
    handles.push(
      await client.watch<Owner>(
        resource,
        { sendInitialEvents: true, resourceVersion: "0" },
        {
          event: ({ type, object }) => {
            if (type !== "BOOKMARK" && type !== "ERROR") see(object, type === "DELETED");
          },
          end: () => {},
        },
      ),
    );
  }
  const each = (): readonly (readonly [string, Followed])[] => [...followed].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    all,
    figures: () => new Map([["all", figuresOf(all)] as const, ...each().map(([id, { tally }]) => [id, figuresOf(tally)] as const)]),
    begin() {
      all.begin();
      for (const [, { tally }] of each()) tally.begin();
    },
    converged() {
      const done = each().map(([, one]) => {
        if (!isDone(one)) return false;
        one.guard.settled();
        return true;
      });
      return done.every((d) => d);
    },
    check: (lost) => each().flatMap(([, { guard, tally }]) => guard.check(tally, lost) ?? []),
    openText: () =>
      each()
        .filter(([, one]) => !isDone(one))
        .map(([id, { owner, tally }]) => `${id} wants ${owner.spec.replicas}, has ${tally.present}, available ${tally.available}`)
        .join("; "),
    stop() {
      for (const handle of handles) handle.close();
      for (const [, { tally }] of each()) tally.stop();
      all.stop();
    },
  };
}

function isDone({ owner, tally }: Followed): boolean {
  const { replicas = 1 } = owner.spec;
  const { status, metadata } = owner;
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return false;
  if (tally.present !== replicas || tally.available !== replicas) return false;
  if (tally.machines().some((m) => m.deleting || m.updating || !m.upToDate)) return false;
  return [status?.replicas ?? 0, status?.upToDateReplicas ?? 0, status?.availableReplicas ?? 0].every((n) => n === replicas);
}
