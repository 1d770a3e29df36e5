// Ten ways in which things go wrong, and the rollouts that must come through them. Here: tables. Not here: running them (suite.ts).
import type { KubeObject } from "../../api/meta/object.ts";
import { CLUSTER, manifests, NAMESPACE, WORKERS } from "../../simulator/rollout/objects.ts";
import type { RolloutSettings } from "../../simulator/rollout/settings.ts";
import type { Scenario, ScenarioSpec } from "../../simulator/scenario/schema.ts";

export interface Profile {
  readonly name: string;
  readonly faults?: ScenarioSpec["faults"];
  readonly updater?: ScenarioSpec["updater"];
  /** Goes on at the first update or creation. */
  readonly meanwhile?: NonNullable<ScenarioSpec["steps"]>[number];
}

export const profiles: readonly Profile[] = [
  { name: "calm" },
  { name: "lag", faults: { watchLagMilliseconds: 2_000 } },
  { name: "short lag", faults: { watchLagMilliseconds: 60 } },
  { name: "broken watches", faults: { droppedWatchesPercent: 3 } },
  { name: "hook errors", faults: { hookErrorsPercent: 30 } },
  { name: "write errors", faults: { writeErrorsPercent: 5 } },
  { name: "restart", faults: { restartAfterWrites: 7 }, updater: { durationSeconds: 15 } },
  { name: "failing updates", updater: { failTimes: 2, durationSeconds: 10 } },
  { name: "lost node", meanwhile: { name: "a Node is lost for a while", fault: { loseNode: { machine: WORKERS, forSeconds: 90 } } } },
  {
    name: "everything",
    faults: { watchLagMilliseconds: 700, droppedWatchesPercent: 1, hookErrorsPercent: 10, writeErrorsPercent: 2, restartAfterWrites: 25 },
    updater: { failTimes: 1, durationSeconds: 5 },
    meanwhile: { name: "the controllers start anew", fault: { restart: true } },
  },
];

interface Story {
  readonly name: string;
  readonly settings: Omit<RolloutSettings, "seed">;
  readonly next?: "change" | "back" | "scale up" | "scale down";
}

const md = (mode: RolloutSettings["mode"], replicas: number, maxSurge: number, maxUnavailable: number) =>
  ({ kind: "machinedeployment", mode, replicas, maxSurge, maxUnavailable }) as const;

export const stories: readonly Story[] = [
  { name: "in place 3, surge 0", settings: md("in-place", 3, 0, 1) },
  { name: "in place 3, surge 1, unavailable 0", settings: md("in-place", 3, 1, 0) },
  { name: "in place 3, changed again", settings: md("in-place", 3, 0, 1), next: "change" },
  { name: "in place 3, changed back", settings: md("in-place", 3, 0, 1), next: "back" },
  { name: "in place 3, scaled up", settings: md("in-place", 3, 1, 1), next: "scale up" },
  { name: "in place 4, scaled down", settings: md("in-place", 4, 0, 2), next: "scale down" },
  { name: "replace 3, surge 1", settings: md("replace", 3, 1, 0) },
  { name: "replace 3, changed back", settings: md("replace", 3, 1, 1), next: "back" },
  { name: "control plane in place", settings: { kind: "kubeadmcontrolplane", mode: "in-place", replicas: 3, maxSurge: 0 } },
];

/** The story that this seed tells under this profile: over the seeds every profile meets every story. */
export function scenarioOf(profile: Profile, seed: number): Scenario {
  const story = stories[seed % stories.length] as Story;
  const settings: RolloutSettings = { ...story.settings, seed };
  const first = { replicas: settings.replicas, content: 1, variant: 1 };
  const step = settings.mode === "in-place" ? { content: 2 } : { variant: 2 };
  const changed = manifests(settings, { ...first, ...step });
  const begun = { machines: settings.mode === "in-place" && settings.maxUnavailable !== 0 ? { updating: 1 } : { created: 1 } };
  return {
    apiVersion: "simulation.theseus.dev/v1alpha1",
    kind: "Scenario",
    metadata: { name: `${profile.name}: ${story.name}` },
    spec: {
      manifests: plain(manifests(settings, first)),
      ...(profile.faults ? { faults: profile.faults } : {}),
      ...(profile.updater ? { updater: profile.updater } : {}),
      steps: [
        { name: "the template is changed", apply: plain(changed) },
        ...(profile.meanwhile ? [{ ...profile.meanwhile, when: begun }] : []),
        ...(story.next ? [{ name: story.next, when: begun, ...second(story, settings) }] : []),
      ],
      expect: expectedOf(story, settings),
    },
  };
}

const plain = (objects: readonly KubeObject[]) => objects as unknown as NonNullable<ScenarioSpec["manifests"]>;

function second({ next }: Story, settings: RolloutSettings): NonNullable<ScenarioSpec["steps"]>[number] {
  const { replicas } = settings;
  if (next === "scale up") return { scale: { kind: "MachineDeployment", name: WORKERS, namespace: NAMESPACE, replicas: replicas + 2 } };
  if (next === "scale down") return { scale: { kind: "MachineDeployment", name: WORKERS, namespace: NAMESPACE, replicas: replicas - 2 } };
  const content = settings.mode === "in-place" ? (next === "back" ? 1 : 3) : 1;
  const variant = settings.mode === "in-place" ? 1 : next === "back" ? 1 : 3;
  return { apply: plain(manifests(settings, { replicas, content, variant })) };
}

/** Where settings leave no choice, machines are counted too. */
function expectedOf(story: Story, { kind, mode, maxSurge }: RolloutSettings): ScenarioSpec["expect"] {
  const of = kind === "machinedeployment" ? { kind: "MachineDeployment" as const, name: WORKERS } : undefined;
  const conditions = [{ kind: "Cluster", name: CLUSTER, namespace: NAMESPACE, type: "Available", status: "True" as const }];
  const stays = mode === "in-place" && maxSurge === 0 && story.next !== "scale down";
  return { conditions, ...(stays ? { machines: [{ ...(of ? { of } : {}), created: { max: 0 }, deleted: { max: 0 } }] } : {}) };
}
