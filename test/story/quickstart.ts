// The README's story without sockets: real controllers, real API server, real updater, on virtual time. Prints its log when run by itself:
// `node test/story/quickstart.ts SEED`. Here: the steps and what must hold after each. Not here: the golden copy (quickstart.test.ts).
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { developmentFeatureGates } from "../../api/feature-gates.ts";
import { allKinds } from "../../api/index.ts";
import { clusterResource } from "../../api/cluster.ts";
import { kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import type { HookTransport } from "../../hooks/transport.ts";
import type { Client } from "../../runtime/client.ts";
import { hasStatus } from "../../runtime/conditions.ts";
import { fixedGates } from "../../runtime/feature-gates.ts";
import { REALISTIC } from "../../simulator/host/exec.ts";
import { simulationPki } from "../../simulator/real/pki.ts";
import { macrotask } from "../../simulator/real/turn.ts";
import { startVirtual, type Virtual } from "../../simulator/virtual.ts";
import { adminClient } from "../../simulator/world.ts";

const SAMPLES = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../manifests/samples");

export interface StoryOptions {
  readonly seed: number;
  readonly gates?: Readonly<Record<string, boolean>>;
  readonly hooks?: (updater: HookTransport) => HookTransport;
}

export interface Story {
  readonly virtual: Virtual;
  readonly user: Client;
  /** Applies a folder of manifests/samples, as kubectl would, and notes it in the log. */
  apply(sample: string): Promise<void>;
  machines(): Promise<readonly Machine[]>;
  /** Runs until every Machine satisfies a condition, and as many as wanted are there. */
  untilMachines(what: string, holds: (machine: Machine) => boolean, count?: number): Promise<void>;
  /** Content of a file on each simulated host, by machine; sorted. */
  fileOnHosts(file: string): Promise<readonly (readonly [machine: string, content: string | undefined])[]>;
}

export async function openStory(options: StoryOptions): Promise<Story> {
  const virtual = await startVirtual({
    seed: options.seed,
    gates: fixedGates({ ...developmentFeatureGates, ...options.gates }),
    turn: macrotask,
    pki: simulationPki,
    timings: REALISTIC,
    ...(options.hooks ? { hooks: options.hooks } : {}),
  });
  const user = adminClient(virtual.server, "kubectl");
  const machines = async (): Promise<readonly Machine[]> => (await user.list(machineResource, { namespace: "default" })).items;
  return {
    virtual,
    user,
    machines,
    async apply(sample) {
      virtual.log.say(`kubectl apply -f manifests/samples/${sample}/`);
      const folder = path.join(SAMPLES, sample);
      for (const file of readdirSync(folder).sort()) {
        for (const document of parseAllDocuments(readFileSync(path.join(folder, file), "utf8")))
          await applyOne(user, document.toJS() as KubeObject);
      }
    },
    untilMachines: (what, holds, count = 6) =>
      virtual.until(what, async () => {
        const all = await machines();
        return all.length === count && all.every(holds);
      }),
    async fileOnHosts(file) {
      const all = await machines();
      return all.map((m) => {
        const key = { namespace: "default", name: m.spec.infrastructureRef.name };
        return [m.metadata.name ?? "", virtual.world.hosts.get(key)?.files[file]?.content] as const;
      });
    },
  };
}

async function applyOne(user: Client, object: KubeObject): Promise<void> {
  const kind = allKinds.find((k) => k.resource.kind === object.kind);
  if (!kind) throw new Error(`the samples hold a ${object.kind}, which is none of our kinds`);
  await user.apply(kind.resource, { ...object, metadata: { namespace: "default", ...object.metadata } }, { force: true });
}

export const isUpToDate = (m: Machine): boolean =>
  hasStatus(m.status?.conditions, "UpToDate", "True") && hasStatus(m.status?.conditions, "Available", "True");
export const isAtVersion =
  (version: string) =>
  (m: Machine): boolean =>
    isUpToDate(m) && m.spec.version === version && m.status?.nodeInfo?.kubeletVersion === version;

export const identities = (machines: readonly Machine[]): readonly string[] =>
  machines.map((m) => `${m.metadata.name} ${m.metadata.uid}`).sort();

/** Every KubeadmConfig of a Machine holds a file with this path and content. */
export async function configsHold(story: Story, file: string, content: string): Promise<boolean> {
  const configs = (await story.user.list(kubeadmConfigResource, { namespace: "default" })).items;
  return configs.length > 0 && configs.every((c) => c.spec?.files?.some((f) => f.path === file && f.content === content));
}

export async function bringUp(story: Story): Promise<void> {
  await story.apply("quickstart");
  await story.virtual.until("Cluster Available", async () => {
    const cluster = await story.user.get(clusterResource, { namespace: "default", name: "quickstart" });
    return hasStatus(cluster.status?.conditions, "Available", "True");
  });
  await story.untilMachines("six Machines", isUpToDate);
}

/** Where the samples put their file, and what is in it. Read from the sample, so that it may change. */
export function sampleFile(): { readonly path: string; readonly content: string } {
  const documents = parseAllDocuments(readFileSync(path.join(SAMPLES, "quickstart-file-change/change.yaml"), "utf8"));
  for (const document of documents) {
    const files = (document.toJS() as { spec?: { kubeadmConfigSpec?: { files?: { path: string; content: string }[] } } }).spec
      ?.kubeadmConfigSpec?.files;
    if (files?.[0]) return files[0];
  }
  throw new Error("manifests/samples/quickstart-file-change has no KubeadmControlPlane with a file");
}

/** Steps 2 to 4 of the README with in-place updates on. @returns the log */
export async function tell(seed: number): Promise<readonly string[]> {
  const story = await openStory({ seed });
  const { virtual } = story;
  await bringUp(story);
  const before = identities(await story.machines());
  await story.apply("quickstart-file-change");
  const file = sampleFile();
  await virtual.until("the file on all hosts", async () =>
    (await story.fileOnHosts(file.path)).every(([, content]) => content === file.content),
  );
  await story.untilMachines("all Machines up to date", isUpToDate);
  virtual.log.say(same(before, identities(await story.machines())));
  await story.apply("quickstart-version");
  await story.untilMachines("all Nodes at the new version", isAtVersion("v1.36.0"));
  virtual.log.say(same(before, identities(await story.machines())));
  await story.apply("quickstart-replace");
  await story.untilMachines(
    "workers replaced",
    (m) => isUpToDate(m) && before.includes(`${m.metadata.name} ${m.metadata.uid}`) === m.metadata.name?.includes("control-plane"),
  );
  await virtual.pass(60_000);
  virtual.log.say("the end");
  virtual.stop();
  return virtual.log.lines;
}

const same = (before: readonly string[], after: readonly string[]): string =>
  before.join() === after.join() ? "the same Machines, by name and UID" : `other Machines than before: ${after.join(", ")}`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lines = await tell(Number(process.argv[2] ?? 1));
  // Not before all of it is out: a pipe takes it in pieces.
  process.stdout.write(`${lines.join("\n")}\n`, () => process.exit(0));
}
