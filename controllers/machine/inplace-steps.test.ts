// The end of an update survives a stop after any of its writes, and other writers in between.
import { describe, expect, it } from "@jest/globals";
import type { Machine } from "../../api/machine.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import type { Resource } from "../../api/meta/resource.ts";
import { StatusError } from "../../api/meta/status.ts";
import { silentLogger } from "../../runtime/base/log.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import type { Client, Patch } from "../../runtime/client.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { fixedGates } from "../../runtime/feature-gates.ts";
import type { Unstructured } from "../contract/contract.ts";
import { PENDING_HOOKS, UPDATE_IN_PROGRESS } from "../inplace/marks.ts";
import { callMemories } from "./inplace.ts";
import { updateInPlace } from "./inplace-steps.ts";
import { machine, nowMs, referenced, view } from "./testing.ts";

type Annotations = Record<string, string>;

/** Three objects with versions; refuses patches of old versions, breaks after so many writes, lets others write before each. */
function server(failAfter = Number.POSITIVE_INFINITY, meddle: (objects: Map<string, KubeObject>) => void = () => {}) {
  const marked = { metadata: { annotations: { [UPDATE_IN_PROGRESS]: "" } } };
  const objects = new Map<string, KubeObject>([
    [
      "Machine",
      machine({ metadata: { resourceVersion: "1", annotations: { [UPDATE_IN_PROGRESS]: "", [PENDING_HOOKS]: "Other,UpdateMachine" } } }),
    ],
    ["DevMachine", referenced("DevMachine", marked).object as Unstructured],
    ["KubeadmConfig", referenced("KubeadmConfig", marked).object as Unstructured],
  ]);
  const writes: string[] = [];
  let left = failAfter;
  const read = (kind: string): KubeObject => {
    const object = objects.get(kind);
    if (!object)
      throw new StatusError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "NotFound", code: 404 });
    return object;
  };
  const client = {
    get: async (r: Resource) => read(r.kind),
    patch: async (r: Resource, _key: unknown, patch: Patch) => {
      meddle(objects);
      const body = patch.body as { metadata: { resourceVersion: string; annotations: Record<string, string | null> } };
      const old = read(r.kind);
      if (body.metadata.resourceVersion !== old.metadata.resourceVersion) {
        throw new StatusError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "Conflict", code: 409 });
      }
      if (left-- <= 0) throw new Error("the process ends here");
      const annotations = Object.fromEntries(
        Object.entries({ ...old.metadata.annotations, ...body.metadata.annotations }).filter(([, v]) => v !== null),
      ) as Annotations;
      writes.push(`${r.kind} ${Object.keys(body.metadata.annotations).map((k) => k.split("/")[1])}`);
      const next = { ...old, metadata: { ...old.metadata, annotations, resourceVersion: `${old.metadata.resourceVersion}x` } };
      objects.set(r.kind, next);
      return next;
    },
  } as unknown as Client;
  return { client, objects, writes, goOn: () => (left = Number.POSITIVE_INFINITY) };
}

const context = (client: Client): ReconcileContext =>
  ({
    client,
    gates: fixedGates({ InPlaceUpdates: true }),
    clock: new VirtualClock(nowMs),
    log: silentLogger,
    record: () => {},
  }) as unknown as ReconcileContext;

function runWith({ client, objects }: ReturnType<typeof server>, calls: string[]) {
  const v = view({
    machine: objects.get("Machine") as Machine,
    infrastructure: { ...referenced("DevMachine"), object: objects.get("DevMachine") },
    bootstrap: { ...referenced("KubeadmConfig"), object: objects.get("KubeadmConfig") },
  });
  const updateMachine = async () => {
    calls.push("call");
    return { retryAfterSeconds: 0, message: "" };
  };
  return updateInPlace(v, context(client), { updateMachine, memories: callMemories(() => nowMs) });
}

const ORDER = ["Machine update-in-progress", "DevMachine update-in-progress", "KubeadmConfig update-in-progress", "Machine pending-hooks"];

describe("the end of an update", () => {
  it("takes the marks off in order; other pending hooks stay", async () => {
    const s = server();
    await runWith(s, []);
    expect(s.writes).toEqual(ORDER);
    expect(s.objects.get("Machine")?.metadata.annotations).toEqual({ [PENDING_HOOKS]: "Other" });
  });

  it.each([0, 1, 2, 3])("stopped after %i writes it is finished by the next run", async (done) => {
    const s = server(done);
    const calls: string[] = [];
    await expect(runWith(s, calls)).rejects.toThrow("the process ends here");
    s.goOn();
    await runWith(s, calls);
    expect(s.writes).toEqual(ORDER);
    // Nothing written yet: the hook is asked once more, as it must be able to stand.
    expect(calls).toHaveLength(done === 0 ? 2 : 1);
  });

  it("keeps what others write to the same objects meanwhile", async () => {
    let meddled = 0;
    const s = server(Number.POSITIVE_INFINITY, (objects) => {
      const m = objects.get("Machine");
      if (!m || meddled++ % 2 === 1) return;
      objects.set("Machine", {
        ...m,
        metadata: {
          ...m.metadata,
          resourceVersion: `${m.metadata.resourceVersion}o`,
          annotations: { ...m.metadata.annotations, [`note-${meddled}`]: "" },
        },
      });
    });
    await runWith(s, []);
    expect(s.writes).toEqual(ORDER);
    expect(Object.keys(s.objects.get("Machine")?.metadata.annotations ?? {})).toEqual(expect.arrayContaining(["note-1", PENDING_HOOKS]));
  });

  it("does not mind an infrastructure object that went away", async () => {
    const s = server();
    const gone = s.objects.get("DevMachine");
    const v = view({
      machine: s.objects.get("Machine") as Machine,
      infrastructure: { ...referenced("DevMachine"), object: gone },
      bootstrap: undefined,
    });
    s.objects.delete("DevMachine");
    await updateInPlace(v, context(s.client), {
      updateMachine: async () => ({ retryAfterSeconds: 0, message: "" }),
      memories: callMemories(() => nowMs),
    });
    expect(s.writes).toEqual(["Machine update-in-progress", "Machine pending-hooks"]);
  });
});
