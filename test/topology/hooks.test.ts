// Topologies and an extension, called in process: hooks around the life of a Cluster, patches and variables by an extension.
import { describe, expect, it, jest } from "@jest/globals";
import { clusterResource } from "../../api/cluster.ts";
import { kubeadmConfigTemplateResource } from "../../api/kubeadmconfig.ts";
import { kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { encodeBase64 } from "../../hooks/base64.ts";
import { type Extension, extension } from "../../hooks/extension.ts";
import { type HookTransport, inProcessTransport } from "../../hooks/transport.ts";
import { NAMESPACE, startTopology } from "./world.ts";

// A world with its API servers and keys takes seconds to build on a busy machine.
jest.setTimeout(180_000);

const HOST = "hooks.default.svc:443";
const config = {
  apiVersion: "runtime.cluster.x-k8s.io/v1beta2",
  kind: "ExtensionConfig",
  metadata: { name: "hooks" },
  spec: { clientConfig: { url: `https://${HOST}` }, namespaceSelector: {} },
};
const beside =
  (served: Extension) =>
  (updater: HookTransport): HookTransport => {
    const own = inProcessTransport((host) => (host === HOST ? served : undefined));
    return (call) => (call.url.includes(HOST) ? own(call) : updater(call));
  };

it("asks around the life of a Cluster in order, and waits as long as it is told to", async () => {
  const asked: string[] = [];
  const blocked = new Map([["BeforeClusterCreate", 1]]);
  const on = (hook: string) => (request: object) => {
    const { fromKubernetesVersion, toKubernetesVersion, kubernetesVersion, cluster } = request as Record<string, string> & {
      cluster: KubeObject;
    };
    expect((cluster as { status?: unknown }).status).toBeUndefined();
    asked.push([hook, fromKubernetesVersion, toKubernetesVersion, kubernetesVersion].filter((t) => t !== undefined).join(" "));
    const left = blocked.get(hook) ?? 0;
    blocked.set(hook, left - 1);
    return { status: "Success", message: left > 0 ? "come back later" : "", retryAfterSeconds: left > 0 ? 30 : 0 } as const;
  };
  const served = extension("hooks")
    .on("BeforeClusterCreate", on("BeforeClusterCreate"))
    .on("AfterControlPlaneInitialized", on("AfterControlPlaneInitialized"))
    .on("BeforeClusterUpgrade", on("BeforeClusterUpgrade"))
    .on("BeforeControlPlaneUpgrade", on("BeforeControlPlaneUpgrade"))
    .on("AfterControlPlaneUpgrade", on("AfterControlPlaneUpgrade"))
    .on("BeforeWorkersUpgrade", on("BeforeWorkersUpgrade"))
    .on("AfterWorkersUpgrade", on("AfterWorkersUpgrade"))
    .on("AfterClusterUpgrade", on("AfterClusterUpgrade"))
    .on("BeforeClusterDelete", on("BeforeClusterDelete"));
  const w = await startTopology({ hooks: beside(served), extra: [config] });
  await w.until("False/ClusterCreating");
  expect(await w.condition("TopologyReconciled")).toContain("BeforeClusterCreate: come back later");
  expect(await w.list(kubeadmControlPlaneResource)).toEqual([]);
  await w.settle();
  expect(asked.splice(0)).toEqual(["BeforeClusterCreate", "BeforeClusterCreate", "AfterControlPlaneInitialized"]);

  blocked.set("AfterControlPlaneUpgrade", 1).set("AfterClusterUpgrade", 1);
  await w.change({ version: "v1.34.1" });
  await w.settle();
  expect(asked.splice(0)).toEqual([
    "BeforeClusterUpgrade v1.34.0 v1.34.1",
    "BeforeControlPlaneUpgrade v1.34.0 v1.34.1",
    "AfterControlPlaneUpgrade v1.34.1",
    "AfterControlPlaneUpgrade v1.34.1",
    "BeforeWorkersUpgrade v1.34.0 v1.34.1",
    "AfterWorkersUpgrade v1.34.1",
    "AfterClusterUpgrade v1.34.1",
    "AfterClusterUpgrade v1.34.1",
  ]);

  blocked.set("BeforeClusterDelete", 1);
  await w.client.delete(clusterResource, { namespace: NAMESPACE, name: "demo" });
  await w.until("False/Deleting");
  expect(await w.list(kubeadmControlPlaneResource)).toHaveLength(1);
  await w.virtual.until("the Cluster is gone", async () => (await w.list(clusterResource)).length === 0, 600_000);
  expect(asked).toEqual(["BeforeClusterDelete", "BeforeClusterDelete"]);
  w.virtual.stop();
});

describe("an extension that makes patches", () => {
  const served = extension("hooks")
    .on("DiscoverVariables", () => ({
      status: "Success",
      variables: [{ name: "motd", required: false, schema: { openAPIV3Schema: { type: "string", default: "hello" } } }],
    }))
    .on("GeneratePatches", ({ items, variables }) => {
      const motd = variables?.find((v) => v.name === "motd")?.value;
      const own = items.filter((i) => i.object.kind === "KubeadmConfigTemplate");
      const patch = {
        spec: { template: { spec: { files: [{ path: "/etc/motd", content: `${motd} on ${own[0]?.holderReference.kind}` }] } } },
      };
      return {
        status: "Success",
        items: own.map(({ uid }) => ({ uid, patchType: "JSONMergePatch" as const, patch: encodeBase64(JSON.stringify(patch)) })),
      };
    })
    .on("ValidateTopology", ({ variables }) => {
      const isBad = variables?.some((v) => v.name === "motd" && v.value === "bad");
      return isBad ? { status: "Failure", message: "motd must not be bad" } : { status: "Success" };
    });
  const external = {
    generatePatchesExtension: "generate-patches.hooks",
    validateTopologyExtension: "validate-topology.hooks",
    discoverVariablesExtension: "discover-variables.hooks",
  };

  it("gives variables with defaults to the class, patches to templates, and refuses what it does not want", async () => {
    const w = await startTopology({ hooks: beside(served), extra: [config], clusterClass: { patches: [{ name: "motd", external }] } });
    await w.settle();
    expect((await w.cluster()).spec.topology?.variables).toEqual([{ name: "motd", value: "hello" }]);
    const contents = async () =>
      (await w.list(kubeadmConfigTemplateResource)).flatMap((t) => t.spec?.template?.spec?.files?.map((f) => f.content) ?? []);
    expect(await contents()).toEqual(["hello on MachineDeployment"]);

    await w.change({ variables: [{ name: "motd", value: "bad" }] });
    await w.until("False/ReconcileFailed");
    expect(await w.condition("TopologyReconciled")).toContain("motd must not be bad");
    expect(await contents()).toEqual(["hello on MachineDeployment"]);
    await w.change({ variables: [{ name: "motd", value: "good" }] });
    await w.settle();
    expect(await contents()).toEqual(["good on MachineDeployment"]);
    w.virtual.stop();
  });
});
