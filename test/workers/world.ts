// A management cluster for tests of MachineDeployments and MachineSets: the in-process API server, the real controllers on a virtual clock,
// and a stand-in that plays providers and the Machine controller. Not here: anything a product may import.
import { createApiServer } from "../../apiserver/server.ts";
import { builtinTypes } from "../../apiserver/builtin/index.ts";
import type { ResourceType } from "../../apiserver/registry.ts";
import { ALL_VERBS } from "../../apiserver/registry.ts";
import { allKinds } from "../../api/index.ts";
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { customResourceDefinitionResource, namespaceResource } from "../../api/core/index.ts";
import type { KindDefinition } from "../../api/kind.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { type MachineDeployment, machineDeploymentResource } from "../../api/machinedeployment.ts";
import { type MachineSet, machineSetResource } from "../../api/machineset.ts";
import type { Condition, KubeObject } from "../../api/meta/object.ts";
import { keyOf, type Resource } from "../../api/meta/resource.ts";
import { contractVersionLabel, machineFinalizer, pendingHooksAnnotation, updateInProgressAnnotation } from "../../api/names.ts";
import type { ApiRequest, Transport } from "../../api/meta/transport.ts";
import { parseTimestamp, timestamp } from "../../runtime/base/clock.ts";
import { type Logger, silentLogger } from "../../runtime/base/log.ts";
import { seededRandom } from "../../runtime/base/random.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import type { Client } from "../../runtime/client.ts";
import { findCondition, isFalse, isTrue, setConditions, type Finding } from "../../runtime/conditions.ts";
import type { AnyController } from "../../runtime/controller.ts";
import { fixedGates } from "../../runtime/feature-gates.ts";
import { createManager } from "../../runtime/manager.ts";
import { stepDriver } from "../../runtime/step-driver.ts";
import { transportClient } from "../../runtime/transport-client.ts";
import { hasMark, hasPendingHook, UPDATE_MACHINE_HOOK, withoutPendingHook } from "../../controllers/inplace/marks.ts";
import { templateDifferences } from "../../controllers/rollout/compare.ts";

export const NAMESPACE = "ns";
export const START_MS = Date.parse("2026-08-21T10:00:00Z");
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

function typeOf(kind: KindDefinition): ResourceType {
  const { group, version, plural, namespaced } = kind.resource;
  return {
    group,
    version,
    kind: kind.resource.kind,
    listKind: kind.listKind,
    plural,
    singular: kind.singular,
    shortNames: kind.shortNames,
    categories: kind.categories,
    namespaced,
    verbs: ALL_VERBS,
    storageKey: `${group}/${plural}`,
    storageVersion: `${group}/${version}`,
    schema: kind.schema,
    custom: true,
    subresources: { status: kind.statusSubresource, ...(kind.scale ? { scale: kind.scale } : {}) },
    strategy: { generation: "allButStatusAndMetadata", generationOnDelete: true },
  };
}

/** Made once: schemas are compiled per object. */
const TYPES: readonly ResourceType[] = [...builtinTypes(), ...allKinds.map(typeOf)];

export interface Write {
  readonly verb: string;
  /** `Kind/name`, or `Kind/name/status`. */
  readonly what: string;
  readonly manager: string;
  readonly body: unknown;
}

export interface WorldOptions {
  readonly controllers: readonly AnyController[];
  readonly seed?: number;
  readonly inPlace?: boolean;
  readonly preflight?: boolean;
  /** Default: a new one at START_MS. */
  readonly clock?: VirtualClock;
  /** In place of the built-in stand-in. @returns true when it changed something */
  readonly standIn?: (client: Client) => Promise<boolean>;
  /** Stands between the controllers and the server: watches that lag, and the like. */
  readonly between?: (transport: Transport) => Transport;
  /** How long an in-place update takes, milliseconds of virtual time. Default 0: done when the stand-in next looks. */
  readonly updateMs?: number;
}

export interface World {
  readonly client: Client;
  readonly clock: VirtualClock;
  /** Requests that changed something, in order, by anybody but the stand-in. */
  readonly writes: Write[];
  /** Throws after this many more writes of controllers were made, then never again: a crash between two writes. */
  crashAfter(writes: number): void;
  /** Runs controllers and stand-in until nothing happens any more. */
  settle(options?: { readonly standIn?: boolean; readonly everyStep?: () => Promise<void>; readonly until?: () => boolean }): Promise<void>;
  /** One key of one controller. @returns false when there is none */
  step(): Promise<boolean>;
  /** One pass of the stand-in over all machines. */
  standInOnce(): Promise<boolean>;
  /** Runs controllers only. */
  run(stepsMax?: number): Promise<void>;
  advance(ms: number): Promise<void>;
  /** New process, same cluster: memory is lost. */
  restart(controllers: readonly AnyController[]): void;
  machines(): Promise<readonly Machine[]>;
  sets(): Promise<readonly MachineSet[]>;
  deployment(name?: string): Promise<MachineDeployment>;
  events(): Promise<readonly string[]>;
  /** Machines the stand-in shall not make ready, by name. */
  readonly broken: Set<string>;
  /** Names of machines whose updater fails. */
  readonly updateFails: Set<string>;
  readonly errors: string[];
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const clock = options.clock ?? new VirtualClock(START_MS);
  const random = seededRandom(options.seed ?? 1);
  const server = createApiServer({ clock, random: seededRandom(77), types: TYPES });
  server.start();
  const writes: Write[] = [];
  let crash = Number.POSITIVE_INFINITY;
  const user = { username: "admin", groups: ["system:masters"] };
  const asked: Transport = async (request) => {
    const write = writeOf(request);
    if (write) {
      if (crash <= 0) throw new Error("the process was killed");
      crash--;
      if (crash === 0) crash = -1;
    }
    const response = await server.handle({ ...request, user });
    if (write && response.kind === "object" && response.status < 300) writes.push(write);
    return response;
  };
  const client = transportClient({ transport: (request) => server.handle({ ...request, user }), fieldManager: "stand-in", user });
  const gates = fixedGates({
    InPlaceUpdates: options.inPlace ?? true,
    RuntimeSDK: true,
    MachineSetPreflightChecks: options.preflight ?? false,
    ClusterTopology: true,
    MachineTaintPropagation: false,
  });
  const errors: string[] = [];
  const open = (controllers: readonly AnyController[]) => {
    const manager = createManager({
      client: transportClient({ transport: options.between?.(asked) ?? asked, user }),
      clock,
      random,
      log: errorLogger(errors),
      gates,
      controllers,
    });
    manager.start();
    return manager;
  };
  await seed(client);
  let manager = open(options.controllers);
  const driver = stepDriver({ managers: () => [manager], random: seededRandom((options.seed ?? 1) + 100), turn });
  const broken = new Set<string>();
  const updateFails = new Set<string>();
  const given = options.standIn;
  const standIn = given ? () => given(client) : createStandIn(client, clock, { broken, updateFails, updateMs: options.updateMs ?? 0 });

  const world: World = {
    client,
    clock,
    writes,
    crashAfter: (n) => {
      crash = n;
    },
    step: async () => (await driver.step()) !== undefined,
    standInOnce: async () => {
      const changed = await standIn();
      await turn();
      return changed;
    },
    run: async (stepsMax = 500) => {
      for (let i = 0; i < stepsMax; i++) if (!(await driver.step())) return;
      throw new Error(
        `not quiet after ${stepsMax} steps: ${writes
          .slice(-6)
          .map((w) => `${w.verb} ${w.what} ${JSON.stringify(w.body)}`)
          .join("\n")}`,
      );
    },
    settle: async ({ standIn: withStandIn = true, everyStep, until } = {}) => {
      for (let round = 0; round < 2_000; round++) {
        const report = await driver.step();
        await everyStep?.();
        if (until?.()) return;
        if (report) continue;
        if (withStandIn && (await standIn())) {
          await turn();
          await everyStep?.();
          continue;
        }
        // Short waits (back-off, rate limits) pass by themselves; anything longer is for the test to say.
        const due = clock.nextDueMs();
        if (due === undefined || due - clock.nowMs() > 3_000) return;
        clock.runNext();
      }
      throw new Error(
        `not settled: ${writes
          .slice(-8)
          .map((w) => `${w.verb} ${w.what} ${JSON.stringify(w.body)}`)
          .join("\n")}\n${errors.slice(-3).join("\n")}`,
      );
    },
    advance: async (ms) => {
      const until = clock.nowMs() + ms;
      while ((clock.nextDueMs() ?? Number.POSITIVE_INFINITY) <= until) {
        clock.runNext();
        while (await driver.step());
      }
      clock.after(Math.max(until - clock.nowMs(), 0), () => {});
      while (clock.nowMs() < until) clock.runNext();
    },
    restart: (controllers) => {
      manager.stop();
      crash = Number.POSITIVE_INFINITY;
      manager = open(controllers);
    },
    machines: async () => (await client.list<Machine>(machineResource, { namespace: NAMESPACE })).items,
    sets: async () => (await client.list<MachineSet>(machineSetResource, { namespace: NAMESPACE })).items,
    deployment: (name = "md") => client.get<MachineDeployment>(machineDeploymentResource, { namespace: NAMESPACE, name }),
    events: async () => {
      const list = await client.list<KubeObject>(
        { group: "", version: "v1", kind: "Event", plural: "events", namespaced: true },
        { namespace: NAMESPACE },
      );
      return list.items.map((e) => {
        const event = e as KubeObject & { reason: string; message: string; involvedObject: { kind: string } };
        return `${event.involvedObject.kind} ${event.reason}: ${event.message}`;
      });
    },
    broken,
    updateFails,
    errors,
  };
  return world;
}

const errorLogger = (errors: string[]): Logger => ({
  ...silentLogger,
  error: (message, fields) => errors.push(`${message} ${JSON.stringify(fields)}`),
  with: () => errorLogger(errors),
});

function writeOf(request: ApiRequest): Write | undefined {
  if (request.method === "GET" || request.path.includes("/events")) return undefined;
  const parts = request.path.split("/");
  const at = parts.indexOf("namespaces");
  const [plural = "", name = "", subresource] = parts.slice(at + 2);
  const body = request.body as { kind?: string } | undefined;
  const query = new URLSearchParams(request.query);
  const type = request.headers["content-type"] ?? "";
  const verb = request.method === "PATCH" ? (type.includes("apply") ? "apply" : "patch") : request.method.toLowerCase();
  return { verb, what: [plural, name, ...(subresource ? [subresource] : [])].join("/"), manager: query.get("fieldManager") ?? "", body };
}

async function seed(client: Client): Promise<void> {
  await client.create(namespaceResource, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  for (const kind of allKinds) {
    const { group, plural, namespaced } = kind.resource;
    await client.create(customResourceDefinitionResource, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}`, labels: { [contractVersionLabel]: kind.resource.version } },
      spec: {
        group,
        names: { kind: kind.resource.kind, plural, singular: kind.singular, listKind: kind.listKind },
        scope: namespaced ? "Namespaced" : "Cluster",
        versions: [{ name: kind.resource.version, served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    } as KubeObject as never);
  }
  const cluster = {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "demo", namespace: NAMESPACE },
    spec: { clusterNetwork: { serviceDomain: "cluster.local" } },
  };
  await client.create<Cluster>(clusterResource, cluster as Cluster);
  for (const name of ["infra-1", "infra-2"]) await client.create(resourceOf("DevMachineTemplate"), infraTemplate(name));
  for (const name of ["boot-1", "boot-2", "boot-3"]) await client.create(resourceOf("KubeadmConfigTemplate"), bootTemplate(name));
}

export const resourceOf = (kind: string): Resource => {
  const found = allKinds.find((k) => k.resource.kind === kind);
  if (!found) throw new Error(`no kind ${kind}`);
  return found.resource;
};

const infraTemplate = (name: string): KubeObject => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind: "DevMachineTemplate",
  metadata: { name, namespace: NAMESPACE },
  ...{
    spec: {
      template: { spec: { backend: { inMemory: { vm: { provisioning: { startupDuration: name === "infra-1" ? "1s" : "2s" } } } } } },
    },
  },
});

const bootTemplate = (name: string): KubeObject => ({
  apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
  kind: "KubeadmConfigTemplate",
  metadata: { name, namespace: NAMESPACE },
  ...{ spec: { template: { spec: { files: [{ path: "/etc/motd", content: name }] } } } },
});

/** A MachineDeployment as admission leaves it. */
export function deploymentOf(
  more: { replicas?: number; maxSurge?: number; maxUnavailable?: number; strategy?: "RollingUpdate" | "OnDelete" } = {},
): MachineDeployment {
  const { replicas = 3, maxSurge = 0, maxUnavailable = 1, strategy = "RollingUpdate" } = more;
  const labels = { pool: "a", "cluster.x-k8s.io/cluster-name": "demo" };
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineDeployment",
    metadata: { name: "md", namespace: NAMESPACE, labels: { "cluster.x-k8s.io/cluster-name": "demo" } },
    spec: {
      clusterName: "demo",
      replicas,
      rollout: { strategy: { type: strategy, ...(strategy === "OnDelete" ? {} : { rollingUpdate: { maxSurge, maxUnavailable } }) } },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          clusterName: "demo",
          version: "v1.35.0",
          bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfigTemplate", name: "boot-1" } },
          infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevMachineTemplate", name: "infra-1" },
        },
      },
    },
  };
}

interface StandInOptions {
  readonly broken: ReadonlySet<string>;
  readonly updateFails: ReadonlySet<string>;
  readonly updateMs: number;
}

/** Plays providers and the Machine controller, one pass over all machines per call. @returns true when it changed something */
function createStandIn(client: Client, clock: VirtualClock, { broken, updateFails, updateMs }: StandInOptions): () => Promise<boolean> {
  const doneAtMs = new Map<string, number>();
  const now = (): string => timestamp(clock.nowMs());

  const remove = async (machine: Machine): Promise<boolean> => {
    for (const ref of [machine.spec.infrastructureRef, machine.spec.bootstrap.configRef]) {
      if (ref) await client.delete(resourceOf(ref.kind), { namespace: NAMESPACE, name: ref.name }).catch(() => {});
    }
    const finalizers = (machine.metadata.finalizers ?? []).filter((f) => f !== machineFinalizer);
    await client.patch(machineResource, keyOf(machine), { type: "merge", body: { metadata: { finalizers } } });
    return true;
  };

  const provision = async (machine: Machine): Promise<boolean> => {
    for (const ref of [machine.spec.infrastructureRef, machine.spec.bootstrap.configRef]) {
      if (!ref) continue;
      const owner = {
        apiVersion: "cluster.x-k8s.io/v1beta2",
        kind: "Machine",
        name: machine.metadata.name,
        uid: machine.metadata.uid,
        controller: true,
      };
      await client.patch(
        resourceOf(ref.kind),
        { namespace: NAMESPACE, name: ref.name },
        { type: "merge", body: { metadata: { ownerReferences: [owner] } } },
      );
    }
    const spec = { providerID: `test://${machine.metadata.name}`, bootstrap: { dataSecretName: machine.metadata.name } };
    await client.patch(machineResource, keyOf(machine), { type: "merge", body: { spec } });
    const status = {
      initialization: { infrastructureProvisioned: true, bootstrapDataSecretCreated: true },
      nodeRef: { name: machine.metadata.name },
      phase: "Running",
    };
    await client.patch(machineResource, keyOf(machine), { type: "merge", body: { status } }, { subresource: "status" });
    return true;
  };

  /** Marks off in the order of the protocol: Machine, infrastructure, bootstrap, hook. */
  const finish = async (machine: Machine): Promise<boolean> => {
    const mark = { type: "merge", body: { metadata: { annotations: { [updateInProgressAnnotation]: null } } } } as const;
    for (const ref of [machine.spec.infrastructureRef, machine.spec.bootstrap.configRef]) {
      if (!ref) continue;
      const object = await client.get(resourceOf(ref.kind), { namespace: NAMESPACE, name: ref.name });
      if (!hasMark(object, updateInProgressAnnotation)) throw new Error(`${ref.kind} ${ref.name} is not marked`);
    }
    await client.patch(machineResource, keyOf(machine), mark);
    for (const ref of [machine.spec.infrastructureRef, machine.spec.bootstrap.configRef]) {
      if (ref) await client.patch(resourceOf(ref.kind), { namespace: NAMESPACE, name: ref.name }, mark);
    }
    const annotations = { [pendingHooksAnnotation]: withoutPendingHook(machine, UPDATE_MACHINE_HOOK) };
    await client.patch(machineResource, keyOf(machine), { type: "merge", body: { metadata: { annotations } } });
    return true;
  };

  const update = async (machine: Machine): Promise<boolean> => {
    const name = machine.metadata.name ?? "";
    if (!hasPendingHook(machine, UPDATE_MACHINE_HOOK) || updateFails.has(name)) return false;
    let due = doneAtMs.get(name);
    if (due === undefined) {
      due = clock.nowMs() + updateMs;
      doneAtMs.set(name, due);
      // Something has to be due, or time would stand still.
      if (updateMs > 0) clock.after(updateMs, () => {});
    }
    if (clock.nowMs() < due) return false;
    doneAtMs.delete(name);
    return finish(machine);
  };

  const status = async (machine: Machine, sets: readonly MachineSet[], deployments: readonly MachineDeployment[]): Promise<boolean> => {
    const updating = hasMark(machine, updateInProgressAnnotation) || hasPendingHook(machine, UPDATE_MACHINE_HOOK);
    const well = machine.status?.nodeRef !== undefined && !broken.has(machine.metadata.name ?? "") && !updating;
    const failing = updateFails.has(machine.metadata.name ?? "");
    const findings: Finding[] = [
      well ? isTrue("Ready") : isFalse("Ready", "NotReady", updating ? "updating" : "no node"),
      well ? isTrue("Available") : isFalse("Available", "NotReady"),
      updating
        ? isTrue("Updating", failing ? "InPlaceUpdateFailed" : "InPlaceUpdating", "In-place update in progress")
        : isFalse("Updating", "NotUpdating"),
      upToDate(machine, sets, deployments, updating),
    ];
    const conditions = setConditions(machine.status?.conditions, findings, now(), machine.metadata.generation);
    if (sameConditions(machine.status?.conditions, conditions)) return false;
    await client.patch(machineResource, keyOf(machine), { type: "merge", body: { status: { conditions } } }, { subresource: "status" });
    return true;
  };

  return async () => {
    const list = async <K extends KubeObject>(r: Resource<K>): Promise<readonly K[]> =>
      (await client.list(r, { namespace: NAMESPACE })).items;
    let changed = false;
    for (const { metadata } of await list<Machine>(machineResource)) {
      const read = (): Promise<Machine> => client.get<Machine>(machineResource, { namespace: NAMESPACE, name: metadata.name ?? "" });
      const machine = await read();
      if (machine.metadata.deletionTimestamp) {
        changed = (await remove(machine)) || changed;
        continue;
      }
      if (!machine.status?.nodeRef && !broken.has(metadata.name ?? "")) changed = (await provision(machine)) || changed;
      changed = (await update(await read())) || changed;
      changed =
        (await status(
          await read(),
          await list<MachineSet>(machineSetResource),
          await list<MachineDeployment>(machineDeploymentResource),
        )) || changed;
    }
    return changed;
  };
}

function upToDate(machine: Machine, sets: readonly MachineSet[], deployments: readonly MachineDeployment[], updating: boolean): Finding {
  const set = sets.find((s) => s.metadata.uid === machine.metadata.ownerReferences?.find((o) => o.controller)?.uid);
  const deployment = deployments.find((d) => d.metadata.uid === set?.metadata.ownerReferences?.find((o) => o.controller)?.uid);
  const differences = set && deployment ? templateDifferences(set.spec.template.spec, deployment.spec.template.spec) : [];
  const after = parseTimestamp(deployment?.spec.rollout?.after ?? "");
  if (differences.length > 0) return isFalse("UpToDate", "NotUpToDate", differences.map((d) => `* ${d}`).join("\n"));
  if (set && after > parseTimestamp(set.metadata.creationTimestamp ?? ""))
    return isFalse("UpToDate", "NotUpToDate", "* rollout.after expired");
  return updating ? isFalse("UpToDate", "Updating", "* In-place update in progress") : isTrue("UpToDate");
}

const sameConditions = (a: readonly Condition[] | undefined, b: readonly Condition[]): boolean =>
  b.every((c) => {
    const old = findCondition(a, c.type);
    return old?.status === c.status && old.reason === c.reason && old.message === c.message;
  });
