// DevMachine controller, in-memory backend: a simulated machine from switch-on to a Node, and away again.
// Here: steps in order. Not here: which stage is due (stages.ts), what a stage does to the workload cluster (../workload), hosts (../host).
// Source: spec/controllers/dev-provider.md section 3.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { type DevCluster, devClusterResource } from "../../api/devcluster.ts";
import { type DevMachine, devMachineResource } from "../../api/devmachine.ts";
import { secretResource } from "../../api/core/index.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { keyOf, type ObjectKey } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import { devMachineFinalizer, inMemoryMachineBootstrappedAnnotation, machineControlPlaneLabel } from "../../api/names.ts";
import { mayReconcile } from "../../controllers/lifecycle/begin.ts";
import { parseTimestamp, timestamp } from "../../runtime/base/clock.ts";
import { seededRandom, uuid } from "../../runtime/base/random.ts";
import { type Finding, findCondition, hasStatus, setConditions } from "../../runtime/conditions.ts";
import { type Controller, controller, mapped, type ReconcileContext } from "../../runtime/controller.ts";
import { patchObject, patchStatus, removeFinalizer } from "../../runtime/patch.ts";
import { type BootstrapContent, readCloudConfig } from "../host/cloud-config.ts";
import { bootHost, type HostState, type Hosts } from "../host/host.ts";
import type { SimulatedCluster } from "../workload/cluster.ts";
import type { SimulatedClusters, WorkloadFront } from "../workload/clusters.ts";
import { COMPONENTS, imageOf } from "../workload/objects.ts";
import { clusterOf, ownerMachine } from "./owners.ts";
import { planStages, type StageName, type StagePlan, stagesOf, startupDelayMs } from "./stages.ts";

const STAGES: readonly StageName[] = ["VMProvisioned", "NodeProvisioned", "EtcdProvisioned", "APIServerProvisioned"];

export interface DevMachineParts {
  readonly clusters: SimulatedClusters;
  readonly hosts: Hosts;
  readonly front: WorkloadFront;
}

interface View {
  readonly infra: DevMachine;
  readonly machine?: Machine;
  readonly cluster?: Cluster;
  readonly devCluster?: DevCluster;
  readonly controlPlane: boolean;
}

async function load(infra: DevMachine, context: ReconcileContext): Promise<View | undefined> {
  const machine = ownerMachine(infra, context);
  const cluster = clusterOf(machine ?? infra, context);
  const ref = cluster?.spec?.infrastructureRef;
  const devCluster =
    ref?.kind === "DevCluster"
      ? context.cache.get(devClusterResource, { namespace: keyOf(infra).namespace, name: ref.name ?? "" })
      : undefined;
  const view = { infra, machine, cluster, devCluster, controlPlane: machine?.metadata.labels?.[machineControlPlaneLabel] !== undefined };
  if (!cluster) return infra.metadata.deletionTimestamp ? view : undefined;
  if (!machine && !infra.metadata.deletionTimestamp) return undefined;
  return (await mayReconcile(devMachineResource, infra, cluster, devMachineFinalizer, context)) ? view : undefined;
}

// Drawn from the object's uid: the same however often it is asked, after a restart too.
function chance(infra: DevMachine, stage: StageName): number {
  let seed = 0x811c9dc5;
  for (const c of `${infra.metadata.uid}/${stage}`) seed = Math.imul(seed ^ (c.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return seededRandom(seed).next();
}

function delays(infra: DevMachine): Readonly<Record<StageName, number>> {
  const m = infra.spec?.backend?.inMemory;
  const parts = { VMProvisioned: m?.vm, NodeProvisioned: m?.node, EtcdProvisioned: m?.etcd, APIServerProvisioned: m?.apiServer };
  const delay = (stage: StageName): number => startupDelayMs(parts[stage]?.provisioning, chance(infra, stage));
  return Object.fromEntries(STAGES.map((s) => [s, delay(s)])) as Record<StageName, number>;
}

function plan(v: View, host: HostState | undefined, nowMs: number): StagePlan {
  const done = STAGES.flatMap((stage) => {
    const condition = findCondition(v.infra.status?.conditions, stage);
    return condition?.status === "True" ? [[stage, parseTimestamp(condition.lastTransitionTime)] as const] : [];
  });
  return planStages({
    nowMs,
    controlPlane: v.controlPlane,
    infrastructureProvisioned: v.cluster?.status?.initialization?.infrastructureProvisioned === true,
    controlPlaneInitialized: hasStatus(v.cluster?.status?.conditions, "ControlPlaneInitialized", "True"),
    hasBootstrapData: (v.machine?.spec?.bootstrap?.dataSecretName ?? "") !== "",
    bootstrapped: v.machine?.metadata.annotations?.[inMemoryMachineBootstrappedAnnotation] !== undefined,
    ...(host ? { createdMs: host.createdMs } : {}),
    doneMs: Object.fromEntries(done),
    delayMs: delays(v.infra),
  });
}

/** A private address that is the same for the same machine. */
function addressOf(uid: string): string {
  const n = seededRandom([...uid].reduce((sum, c) => (Math.imul(sum, 31) + (c.codePointAt(0) ?? 0)) >>> 0, 7)).bytes(3);
  return `10.${n[0]}.${n[1]}.${1 + ((n[2] ?? 0) % 254)}`;
}

async function readBootstrap(v: View, { client }: ReconcileContext): Promise<BootstrapContent> {
  const name = v.machine?.spec?.bootstrap?.dataSecretName ?? "";
  const secret = await client.get(secretResource, { namespace: keyOf(v.infra).namespace, name });
  const bytes = Uint8Array.from(atob(secret.data?.value ?? ""), (c) => c.charCodeAt(0));
  // Bootstrap data of other providers (Ignition and the like) boots a host whose files are not known.
  const text = new TextDecoder().decode(bytes);
  return text.trimStart().startsWith("{") ? { files: {}, commands: [] } : readCloudConfig(text);
}

const DEFAULT_CLUSTER_CONFIGURATION = (name: string, version: string): string =>
  `apiVersion: kubeadm.k8s.io/v1beta4\nclusterName: ${name}\nkind: ClusterConfiguration\nkubernetesVersion: ${version}\n`;

export function devMachineController(parts: DevMachineParts): Controller<DevMachine> {
  const switchOn = async (v: View, context: ReconcileContext): Promise<HostState> => {
    const { infra, machine, cluster } = v;
    const host = bootHost({
      cluster: keyOf(cluster as Cluster),
      providerId: `in-memory://${infra.metadata.name}`,
      controlPlane: v.controlPlane,
      address: addressOf(infra.metadata.uid ?? ""),
      bootId: uuid(context.random),
      version: machine?.spec?.version ?? "",
      nowMs: context.clock.nowMs(),
      bootstrap: await readBootstrap(v, context),
    });
    parts.hosts.put(keyOf(infra), host);
    return host;
  };

  const effects: Readonly<Record<StageName, (v: View, host: HostState, cluster: SimulatedCluster) => Promise<HostState>>> = {
    VMProvisioned: async (_v, host) => host,
    NodeProvisioned: async (v, host, cluster) => {
      const name = keyOf(v.infra).name;
      const version = host.binaries.kubelet;
      await cluster.ensureNode({
        name,
        providerId: host.providerId,
        version,
        controlPlane: host.controlPlane,
        address: host.address,
        bootId: host.bootId,
        ready: true,
      });
      return host.runningKubelet === "" ? { ...host, runningKubelet: version } : host;
    },
    EtcdProvisioned: async (v, host, cluster) => {
      await cluster.ensureEtcdMember(keyOf(v.infra).name, host.binaries.kubelet, host.address);
      return host;
    },
    APIServerProvisioned: async (v, host, cluster) => {
      const version = host.binaries.kubelet;
      await cluster.ensureKubeadmObjects(host.clusterConfiguration ?? DEFAULT_CLUSTER_CONFIGURATION(cluster.key.name, version), version);
      await cluster.ensureApiServer(keyOf(v.infra).name, version, host.address);
      await parts.front.open(cluster);
      const staticPods = Object.fromEntries(COMPONENTS.map((c) => [c, imageOf(c, version)]));
      return Object.keys(host.staticPods).length > 0 ? host : { ...host, staticPods };
    },
  };

  const provision = async (v: View, context: ReconcileContext) => {
    const { infra, cluster } = v;
    if (!cluster) return { stop: true as const };
    if (v.devCluster && !v.devCluster.spec?.backend?.inMemory)
      throw new Error(`DevCluster ${v.devCluster.metadata.name} has no in-memory backend: give it spec.backend.inMemory`);
    const key = keyOf(infra);
    let next = plan(v, parts.hosts.get(key), context.clock.nowMs());
    if (next.create) {
      await switchOn(v, context);
      next = plan(v, parts.hosts.get(key), context.clock.nowMs());
    }
    const before = STAGES.filter((s) => hasStatus(infra.status?.conditions, s, "True"));
    const fresh = next.done.filter((s) => !before.includes(s));
    for (const stage of fresh) {
      const host = parts.hosts.get(key) as HostState;
      const after = await effects[stage](v, host, parts.clusters.open(keyOf(cluster)));
      if (after !== host) parts.hosts.put(key, after);
    }
    if (fresh.length > 0) await parts.clusters.find(keyOf(cluster))?.ensureAddonPods().catch(ignoreUnreachable);
    await report(v, next, parts.hosts.get(key), context);
    return next.requeueAfterMs === undefined ? undefined : { requeueAfterMs: next.requeueAfterMs };
  };

  const destroy = async (v: View, { client }: ReconcileContext) => {
    const host = parts.hosts.get(keyOf(v.infra));
    if (host) {
      const cluster = parts.clusters.find(host.cluster);
      await cluster?.removeMachine(keyOf(v.infra).name);
      if (cluster?.running()) await cluster.ensureAddonPods();
      else if (cluster) await parts.front.close(host.cluster);
      parts.hosts.delete(keyOf(v.infra));
    }
    await removeFinalizer(client, devMachineResource, v.infra, devMachineFinalizer);
  };

  return controller<DevMachine, View>(devMachineResource, {
    watches: [
      mapped(machineResource, (machine) => {
        const ref = machine.spec?.infrastructureRef;
        return ref?.kind === "DevMachine" ? [{ namespace: keyOf(machine).namespace, name: ref.name ?? "" }] : [];
      }),
      mapped(clusterResource, (cluster, { cache }) => machinesOf(cache.ofCluster(machineResource, keyOf(cluster)))),
    ],
    reads: [devClusterResource],
    fieldManager: "manager",
    load,
    whenDeleting: [destroy],
    whenLive: [provision],
  });
}

// Addons need the API they are written to; a control plane that is down has none to place.
const ignoreUnreachable = (e: unknown): void => {
  if (!isNotFound(e)) throw e;
};

const machinesOf = (machines: readonly Machine[]): readonly ObjectKey[] =>
  machines.flatMap((m) =>
    m.spec?.infrastructureRef?.kind === "DevMachine" ? [{ namespace: keyOf(m).namespace, name: m.spec.infrastructureRef.name ?? "" }] : [],
  );

function readyFinding(conditions: readonly Finding[], types: readonly StageName[]): Finding {
  const bad = types.flatMap((t) => conditions.filter((c) => c.type === t && c.status !== "True"));
  return bad.length === 0
    ? { type: "Ready", status: "True", reason: "Ready", message: "" }
    : { type: "Ready", status: "False", reason: "NotReady", message: bad.map((c) => `* ${c.type}: ${c.message}`).join("\n") };
}

async function report(v: View, next: StagePlan, host: HostState | undefined, { client, clock }: ReconcileContext): Promise<void> {
  const { infra, machine } = v;
  const findings: readonly Finding[] = next.conditions;
  const conditions = setConditions(
    infra.status?.conditions,
    [...findings, readyFinding(findings, stagesOf(v.controlPlane))],
    timestamp(clock.nowMs()),
    infra.metadata.generation,
  );
  if (next.done.includes("VMProvisioned") && host) {
    await patchObject(client, devMachineResource, infra, {
      ...infra,
      spec: { backend: { inMemory: {} }, ...infra.spec, providerID: host.providerId },
    } as DevMachine);
  }
  const provisioned = next.done.includes("VMProvisioned") && host;
  await patchStatus(client, devMachineResource, infra, {
    ...infra.status,
    conditions,
    ...(provisioned
      ? {
          initialization: { provisioned: true },
          addresses: [
            { type: "InternalIP", address: host.address },
            { type: "Hostname", address: infra.metadata.name ?? "" },
          ],
          ...(machine?.spec?.failureDomain ? { failureDomain: machine.spec.failureDomain } : {}),
        }
      : {}),
  });
  const up = v.controlPlane ? "APIServerProvisioned" : "NodeProvisioned";
  if (machine && next.done.includes(up) && machine.metadata.annotations?.[inMemoryMachineBootstrappedAnnotation] === undefined) {
    await client.patch(machineResource, keyOf(machine), {
      type: "merge",
      body: { metadata: { annotations: { [inMemoryMachineBootstrappedAnnotation]: "" } } },
    });
  }
}
