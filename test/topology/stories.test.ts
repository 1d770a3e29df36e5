// A cluster from a class: made, at rest, changed, upgraded, taken down.
import { describe, expect, it, jest } from "@jest/globals";
import { secretResource } from "../../api/core/index.ts";
import { devMachineTemplateKind } from "../../api/devmachine.ts";
import { kubeadmConfigResource, kubeadmConfigTemplateResource } from "../../api/kubeadmconfig.ts";
import { kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import { machineResource } from "../../api/machine.ts";
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import { machineSetResource } from "../../api/machineset.ts";
import { clusterResource } from "../../api/cluster.ts";
import { files, namesOf, pool, startTopology, type TopologyWorld, uidsOf } from "./world.ts";

// A world with its API servers and keys takes seconds to build on a busy machine.
jest.setTimeout(180_000);

const owned = (objects: readonly { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } }[]) =>
  objects.filter((o) => o.metadata.labels?.["topology.cluster.x-k8s.io/owned"] !== undefined);
const templatesOf = async (w: TopologyWorld) => [
  ...owned(await w.list(kubeadmConfigTemplateResource)),
  ...owned(await w.list(devMachineTemplateKind.resource)),
];

describe("a cluster from a class", () => {
  it("comes up, rests without a write, and follows changes of variables in place with one new template", async () => {
    const w = await startTopology();
    await w.settle();
    const [kcp] = await w.list(kubeadmControlPlaneResource);
    expect(kcp?.metadata.ownerReferences?.map((o) => o.kind)).toEqual(["Cluster"]);
    expect(kcp?.spec).toMatchObject({ replicas: 3, version: "v1.34.0", rollout: { strategy: { rollingUpdate: { maxSurge: 0 } } } });
    expect((await w.list(secretResource)).filter((s) => s.metadata.name?.endsWith("-shim"))).toEqual([]);
    expect(await templatesOf(w)).toHaveLength(3);
    expect((await w.cluster()).metadata.annotations?.["runtime.cluster.x-k8s.io/pending-hooks"]).toBeUndefined();

    const rest = w.mark();
    await w.virtual.pass(24 * 3_600_000);
    expect(w.lines(/^(?!.*hook +discovery)/, rest)).toEqual([]);

    const machines = uidsOf(await w.list(machineResource));
    const before = namesOf(await w.list(kubeadmConfigTemplateResource));
    await w.change(files("one"));
    await w.settle();
    expect(uidsOf(await w.list(machineResource))).toEqual(machines);
    expect(await w.list(machineSetResource)).toHaveLength(1);
    expect(await templatesOf(w)).toHaveLength(3);
    expect(namesOf(await w.list(kubeadmConfigTemplateResource)).filter((n) => !before.includes(n))).toHaveLength(1);
    const contents = (await w.list(kubeadmConfigResource)).map((c) => c.spec?.files?.[0]?.content).sort();
    expect(contents).toEqual(["one", "one", "one", "one on md-0", "one on md-0"]);
    w.virtual.stop();
  });

  it("takes labels and limits over without a new template or MachineSet", async () => {
    const w = await startTopology();
    await w.settle();
    const before = [uidsOf(await w.list(machineSetResource)), namesOf((await templatesOf(w)) as never)];
    const metadata = { labels: { team: "blue" }, annotations: { "topology.cluster.x-k8s.io/defer-upgrade": "" } };
    await w.change({
      controlPlane: { replicas: 3, metadata: { labels: { team: "green" } }, deletion: { nodeDrainTimeoutSeconds: 7 } },
      workers: { machineDeployments: [pool("md-0", { metadata, minReadySeconds: 3 })] },
    });
    await w.settle();
    expect([uidsOf(await w.list(machineSetResource)), namesOf((await templatesOf(w)) as never)]).toEqual(before);
    const machines = await w.list(machineResource);
    expect(machines.map((m) => m.metadata.labels?.team).sort()).toEqual(["blue", "blue", "green", "green", "green"]);
    expect(machines.filter((m) => m.spec.deletion?.nodeDrainTimeoutSeconds === 7)).toHaveLength(3);
    expect(machines.filter((m) => m.spec.minReadySeconds === 3)).toHaveLength(2);
    const [md] = await w.list(machineDeploymentResource);
    expect(md?.metadata.annotations?.["topology.cluster.x-k8s.io/defer-upgrade"]).toBeUndefined();
    w.virtual.stop();
  });

  it("upgrades the control plane first, then one MachineDeployment after the other, and holds where it is told to", async () => {
    const hold = { metadata: { annotations: { "topology.cluster.x-k8s.io/hold-upgrade-sequence": "" } } };
    const w = await startTopology({ topology: { workers: { machineDeployments: [pool("a"), pool("b", hold), pool("c")] } } });
    await w.settle();
    const from = w.mark();
    await w.change({ version: "v1.34.1" });
    await w.until("False/MachineDeploymentsUpgradeDeferred");
    expect(await w.condition("TopologyReconciled")).toContain("* MachineDeployments b, c deferring upgrade");
    const versions = async () => (await w.list(machineDeploymentResource)).map((m) => m.spec.template.spec.version).sort();
    expect(await versions()).toEqual(["v1.34.0", "v1.34.0", "v1.34.1"]);
    expect((await w.cluster()).metadata.annotations?.["topology.internal.cluster.x-k8s.io/upgrade-step"]).toBe("v1.34.1");
    await expect(w.change({ version: "v1.34.2" })).rejects.toThrow(/AfterClusterUpgrade|upgrad/);

    await w.change({ workers: { machineDeployments: [pool("a"), pool("b"), pool("c")] } });
    await w.settle();
    expect(await versions()).toEqual(["v1.34.1", "v1.34.1", "v1.34.1"]);
    const { annotations } = (await w.cluster()).metadata;
    expect(annotations?.["runtime.cluster.x-k8s.io/pending-hooks"]).toBeUndefined();
    expect(annotations?.["topology.internal.cluster.x-k8s.io/upgrade-step"]).toBeUndefined();
    const applied = w.lines(/capi-topology +apply +(KubeadmControlPlane|MachineDeployment) /, from);
    const order = applied.map((l) => /(KubeadmControlPlane|MachineDeployment) demo(-[abc](?=-))?/.exec(l)?.[0]);
    expect([...new Set(order)]).toEqual([
      "KubeadmControlPlane demo",
      "MachineDeployment demo-a",
      "MachineDeployment demo-b",
      "MachineDeployment demo-c",
    ]);
    w.virtual.stop();
  });

  it("tells what the control plane refuses, leaves it as it was, and recovers with the corrected value", async () => {
    const w = await startTopology();
    await w.settle();
    const [before] = await w.list(kubeadmControlPlaneResource);
    await w.change({ controlPlane: { replicas: 1 } });
    await w.until("False/ReconcileFailed");
    expect(await w.condition("TopologyReconciled")).toContain("replica count needs to be at least 3");
    expect((await w.list(kubeadmControlPlaneResource))[0]?.metadata.generation).toBe(before?.metadata.generation);
    await w.change({ controlPlane: { replicas: 3 } });
    await w.settle();
    w.virtual.stop();
  });

  it("removes a MachineDeployment with its templates, and leaves nothing of ours when the Cluster goes", async () => {
    const w = await startTopology({ topology: { workers: { machineDeployments: [pool("a"), pool("b")] } } });
    await w.settle();
    expect(await templatesOf(w)).toHaveLength(5);
    await w.change({ workers: { machineDeployments: [pool("b")] } });
    await w.settle();
    await w.virtual.until("b is alone", async () => (await w.list(machineDeploymentResource)).length === 1, 120_000);
    expect(await templatesOf(w)).toHaveLength(3);

    await w.client.delete(clusterResource, { namespace: "default", name: "demo" });
    await w.virtual.until("the Cluster is gone", async () => (await w.list(clusterResource)).length === 0, 600_000);
    await w.virtual.pass(10_000);
    expect(await w.list(machineResource)).toEqual([]);
    expect(await templatesOf(w)).toEqual([]);
    w.virtual.stop();
  });
});
