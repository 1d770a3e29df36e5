// A control plane from nothing: what is made in which order, how soon it works, and that it rests afterwards.
import { describe, expect, it, jest } from "@jest/globals";
import { kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { secretResource } from "../../api/core/index.ts";
import { NAMESPACE, namesIn, startControlPlane } from "./world.ts";

// A world with its API servers and keys takes seconds to build on a busy machine.
jest.setTimeout(120_000);

describe("a new control plane", () => {
  it("comes up one machine after the other, without waiting for timers, and then writes nothing for a day", async () => {
    const cp = await startControlPlane();
    await cp.settle(60);
    // Three machines one after the other, 3 s each by their start-up times.
    expect(cp.seconds()).toBeLessThanOrEqual(11);
    const created = cp.lines(/capi-kubeadmcontrolplane +apply +Machine \S+ rv=\d+: \+annotation/);
    expect(created).toHaveLength(3);

    const [first, ...others] = namesIn(created);
    const configs = await cp.client.list(kubeadmConfigResource, { namespace: NAMESPACE });
    for (const { metadata, spec } of configs.items) {
      expect([metadata.name, spec?.joinConfiguration?.controlPlane !== undefined]).toEqual([metadata.name, metadata.name !== first]);
    }
    expect(others).toHaveLength(2);
    for (const purpose of ["ca", "etcd", "proxy", "sa", "kubeconfig"]) {
      const secret = await cp.client.get(secretResource, { namespace: NAMESPACE, name: `demo-${purpose}` });
      expect(secret.metadata.ownerReferences?.map((o) => o.kind)).toEqual(["KubeadmControlPlane"]);
    }

    const rest = cp.mark();
    await cp.virtual.pass(24 * 3_600_000);
    expect(cp.lines(/^(?!.*hook +discovery)/, rest)).toEqual([]);
    expect(await cp.condition("Available")).toBe("True/Available");
    cp.virtual.stop();
  });

  it("is initialized in the moment its API server answers", async () => {
    const cp = await startControlPlane({ replicas: 1, maxSurge: 1 });
    await cp.settle(60);
    const second = (pattern: RegExp): number => Number(cp.lines(pattern)[0]?.trim().split(/\s+/)[0]);
    const up = second(/demo: kubelet +create +Pod kube-apiserver/);
    expect(second(/KubeadmControlPlane cp .*Initialized=True/) - up).toBeLessThan(0.5);
    cp.virtual.stop();
  });

  it("notes when certificates run out, and tells ScalingUp what it waits for", async () => {
    const cp = await startControlPlane();
    await cp.virtual.until("the first machine is there", async () => (await cp.machines()).length === 1, 30_000);
    await cp.virtual.pass(100);
    expect(await cp.condition("ScalingUp")).toMatch(/^True\/ScalingUp: Scaling up from 1 to 3 replicas/);
    await cp.settle(60);
    const expiry = (await cp.machines()).map((m) => m.status?.certificatesExpiryDate);
    expect(expiry.every((date) => date?.startsWith("2027-01-01"))).toBe(true);
    cp.virtual.stop();
  });
});
