import { describe, expect, it } from "@jest/globals";
import type { Cluster } from "../../api/cluster.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { resource } from "../../api/meta/resource.ts";
import { StatusError } from "../../api/meta/status.ts";
import type { Client, Patch } from "../../runtime/client.ts";
import { clusterOf } from "./cluster-of.ts";
import { isPaused, pausedFinding } from "./paused.ts";
import { writeStatus } from "./status.ts";

interface Thing extends KubeObject {
  readonly status?: { readonly mine?: string; readonly theirs?: string };
}
const Things = resource<Thing>("g", "v1", "Thing", "things");
const thing = (resourceVersion: string, status: Thing["status"]): Thing => ({
  apiVersion: "g/v1",
  kind: "Thing",
  metadata: { name: "a", namespace: "ns", resourceVersion },
  status,
});
const refusal = (reason: string, code: number): StatusError =>
  new StatusError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, code });

function serverWith(stored: Thing | undefined) {
  const patches: object[] = [];
  let current = stored;
  const client = {
    get: async () => {
      if (!current) throw refusal("NotFound", 404);
      return current;
    },
    patch: async (_r: unknown, _k: unknown, patch: Patch) => {
      if (!current) throw refusal("NotFound", 404);
      const body = patch.body as { metadata: { resourceVersion: string }; status: object };
      if (body.metadata.resourceVersion !== current.metadata.resourceVersion) throw refusal("Conflict", 409);
      patches.push(body);
      current = { ...current, status: { ...current.status, ...body.status } };
      return current;
    },
  } as unknown as Client;
  return { client, patches };
}
const setMine = (o: Thing): object => ({ ...o.status, mine: "new" });

describe("clusterOf", () => {
  const object = { ...thing("1", {}), spec: { clusterName: "c" } };
  const context = (found: object | undefined, record: (...all: unknown[]) => void) =>
    ({ cache: { get: () => found }, record }) as unknown as Parameters<typeof clusterOf>[1];
  it("finds it", () => {
    const cluster = { metadata: { name: "c", namespace: "ns" } };
    expect(
      clusterOf(
        object,
        context(cluster, () => expect("no event").toBe("")),
      ),
    ).toBe(cluster);
  });
  it("tells by an Event what is missed, since the object has no status then", () => {
    const told: unknown[] = [];
    const text = "Cluster ns/c does not exist: create it, or delete this Thing";
    expect(() =>
      clusterOf(
        object,
        context(undefined, (...all) => told.push(all)),
      ),
    ).toThrow(text);
    expect(told).toEqual([[object, "Warning", "ClusterNotFound", text]]);
  });
});

describe("writeStatus", () => {
  it("writes the difference only, bound to the version it was computed from", async () => {
    const { client, patches } = serverWith(thing("1", { mine: "old", theirs: "x" }));
    await writeStatus(client, Things, thing("1", { mine: "old", theirs: "x" }), setMine);
    expect(patches).toEqual([{ metadata: { resourceVersion: "1" }, status: { mine: "new" } }]);
  });

  it("keeps what somebody else wrote in between", async () => {
    const { client } = serverWith(thing("7", { mine: "old", theirs: "set meanwhile" }));
    const stored = await writeStatus(client, Things, thing("1", { mine: "old" }), setMine);
    expect(stored.status).toEqual({ mine: "new", theirs: "set meanwhile" });
  });

  it("writes nothing when nothing differs, and nothing to an object that is gone", async () => {
    const same = serverWith(thing("1", { mine: "new" }));
    await writeStatus(same.client, Things, thing("1", { mine: "new" }), setMine);
    expect(same.patches).toEqual([]);
    await expect(writeStatus(serverWith(undefined).client, Things, thing("1", {}), setMine)).resolves.toBeDefined();
  });
});

it("is paused by the Cluster, by the annotation, or not", () => {
  const cluster = (paused: boolean) => ({ spec: { paused } }) as Cluster;
  const marked: Thing = { ...thing("1", {}), metadata: { annotations: { "cluster.x-k8s.io/paused": "" } } };
  expect([isPaused(cluster(false), thing("1", {})), isPaused(cluster(true), thing("1", {})), isPaused(undefined, marked)]).toEqual([
    false,
    true,
    true,
  ]);
  expect(pausedFinding(cluster(true), marked).message).toBe(
    "Cluster spec.paused is set to true, Thing has the cluster.x-k8s.io/paused annotation",
  );
});
