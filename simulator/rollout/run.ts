// One rollout on virtual time: real controllers, simulated machines, a user who changes a template and perhaps something more on the way.
// Here: the course of it. Not here: the objects (objects.ts), the world (../virtual.ts), flags and printing (cmd/simulate.ts).
import { kindOf } from "../../api/index.ts";
import { kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import { machineControlPlaneLabel } from "../../api/names.ts";
import { resolveIntOrPercent } from "../../controllers/rollout/numbers.ts";
import type { Client } from "../../runtime/client.ts";
import { type MachineFacts, type MachineNews, type Tally, tallyMachines } from "../observe/machines.ts";
import type { Virtual } from "../virtual.ts";
import { adminClient } from "../world.ts";
import { CONTROL_PLANE, manifests, NAMESPACE, WORKERS, type Wanted } from "./objects.ts";
import { checkSettings, type RolloutSettings, type RolloutStory } from "./settings.ts";

/** How often a user looks who deletes machines by hand. */
const USER_LOOKS_MS = 5_000;
const LIMIT_MS = 24 * 3_600_000;

interface Rollout {
  readonly settings: RolloutSettings;
  readonly virtual: Virtual;
  readonly user: Client;
  readonly tally: Tally;
  readonly say: (text: string) => void;
  wanted: Wanted;
}

/** @param start a world; it is stopped at the end
 *  @throws RolloutSettingsError; Error when the rollout does not end within a day of virtual time */
export async function runRollout(settings: RolloutSettings, start: () => Promise<Virtual>): Promise<RolloutStory> {
  checkSettings(settings);
  const virtual = await start();
  try {
    return await inWorld(settings, virtual);
  } finally {
    virtual.stop();
  }
}

async function inWorld(settings: RolloutSettings, virtual: Virtual): Promise<RolloutStory> {
  const user = adminClient(virtual.server, "kubectl");
  const lines: string[] = [];
  let begunMs: number | undefined;
  const say = (text: string): void => {
    if (begunMs !== undefined) lines.push(`${((virtual.clock.nowMs() - begunMs) / 1_000).toFixed(1).padStart(8)} s  ${text}`);
  };
  const tally = await tallyMachines({
    client: user,
    namespace: NAMESPACE,
    counts: belongs(settings),
    onNews: (news, machine, now) => say(storyLine(news, machine, now)),
  });
  const rollout: Rollout = { settings, virtual, user, tally, say, wanted: { replicas: settings.replicas, content: 1, variant: 1 } };
  await apply(rollout);
  await virtual.until(`${settings.replicas} machines`, () => isDone(rollout), LIMIT_MS);

  begunMs = virtual.clock.nowMs();
  tally.begin();
  say(`the template is changed: ${describeChange(settings)}`);
  await change(rollout);
  if (settings.afterwards) await meanwhile(rollout, settings.afterwards);
  await toTheEnd(rollout);
  const virtualSeconds = Math.round((virtual.clock.nowMs() - begunMs) / 100) / 10;
  say("everything is up to date");
  tally.stop();
  return {
    figures: {
      finalReplicas: tally.present,
      keptOriginalMachines: tally.kept(),
      machinesCreated: tally.created,
      machinesDeleted: tally.deleted,
      updatedInPlace: tally.updatedInPlace,
      peakMachines: tally.peak,
      minAvailable: tally.minAvailable,
      virtualSeconds,
    },
    lines,
  };
}

const belongs = ({ kind }: RolloutSettings): ((machine: Machine) => boolean) => {
  const wanted = kind === "kubeadmcontrolplane";
  return (machine) => (machine.metadata.labels?.[machineControlPlaneLabel] !== undefined) === wanted;
};

const WORDS: Readonly<Record<MachineNews, string>> = {
  created: "is created",
  available: "is available",
  unavailable: "is not available any more",
  "update begins": "is taken for an update in place",
  "updated in place": "is updated in place",
  "deletion begins": "is being deleted",
  gone: "is gone",
};
const storyLine = (news: MachineNews, { name }: MachineFacts, { present, available }: Tally): string =>
  `${`${name} ${WORDS[news]}`.padEnd(58)} ${present} machines, ${available} available`;

const describeChange = ({ mode }: RolloutSettings): string =>
  mode === "in-place" ? "another file, which the updater can write" : "another kind of machine, which no updater can make of the old one";

async function apply({ settings, user, wanted }: Rollout): Promise<void> {
  for (const object of manifests(settings, wanted)) {
    const kind = kindOf(object.kind);
    if (!kind) throw new Error(`${object.kind} is none of our kinds`);
    await user.apply(kind.resource, object, { force: true });
  }
}

async function change(rollout: Rollout): Promise<void> {
  const { wanted, settings } = rollout;
  rollout.wanted = settings.mode === "in-place" ? { ...wanted, content: wanted.content + 1 } : { ...wanted, variant: wanted.variant + 1 };
  await apply(rollout);
}

/** As soon as some machine is affected, the user has something else in mind. */
async function meanwhile(rollout: Rollout, then: NonNullable<RolloutSettings["afterwards"]>): Promise<void> {
  const { tally, say } = rollout;
  const begun = (): boolean => tally.created > 0 || tally.deleted > 0 || tally.machines().some((m) => m.updating);
  await waitFor(rollout, "the first machine to be affected", () => begun());
  if (then === "change") {
    say("the template is changed again");
    return change(rollout);
  }
  say(`replicas are set to ${then.scaleTo}`);
  rollout.wanted = { ...rollout.wanted, replicas: then.scaleTo };
  await apply(rollout);
}

const toTheEnd = (rollout: Rollout): Promise<void> => waitFor(rollout, "the end of the rollout", () => isDone(rollout));

async function waitFor(rollout: Rollout, what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const { virtual, settings } = rollout;
  if (settings.mode !== "on-delete") return virtual.until(what, holds, LIMIT_MS);
  const endMs = virtual.clock.nowMs() + LIMIT_MS;
  while (!(await holds())) {
    if (virtual.clock.nowMs() > endMs) return virtual.until(what, holds, 0);
    await deleteOldMachines(rollout);
    await virtual.pass(USER_LOOKS_MS);
  }
}

/** The user of OnDelete: never more than maxUnavailable out at a time. */
async function deleteOldMachines({ tally, user, wanted, settings }: Rollout): Promise<void> {
  const out = resolveIntOrPercent(settings.maxUnavailable ?? 1, wanted.replicas, "down");
  for (const { machine } of tally.machines().filter((m) => !m.upToDate && !m.deleting)) {
    if (tally.available <= wanted.replicas - Math.max(out, 1)) return;
    await user.delete(machineResource, { namespace: NAMESPACE, name: machine.metadata.name ?? "" });
  }
}

/** The owner has seen everything, and all its machines are what it wants. */
async function isDone({ settings, user, tally, wanted }: Rollout): Promise<boolean> {
  const counted = tally.present === wanted.replicas && tally.available === wanted.replicas;
  if (!counted || tally.machines().some((m) => m.deleting || !m.upToDate)) return false;
  const owner =
    settings.kind === "kubeadmcontrolplane"
      ? await user.get(kubeadmControlPlaneResource, { namespace: NAMESPACE, name: CONTROL_PLANE })
      : await user.get(machineDeploymentResource, { namespace: NAMESPACE, name: WORKERS });
  const { status, metadata } = owner;
  const figures = [status?.replicas, status?.upToDateReplicas, status?.availableReplicas];
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) && figures.every((n) => n === wanted.replicas);
}
