import { describe, expect, it } from "@jest/globals";
import { type ExtensionConfig, extensionConfigKind, extensionConfigResource } from "../../api/extensionconfig.ts";
import { namespaceResource, secretResource } from "../../api/core/index.ts";
import type { KindDefinition } from "../../api/kind.ts";
import { machineKind, machineResource } from "../../api/machine.ts";
import { pendingHooksAnnotation } from "../../api/names.ts";
import { builtinTypes } from "../../apiserver/builtin/index.ts";
import { ALL_VERBS, type ResourceType } from "../../apiserver/registry.ts";
import { createApiServer } from "../../apiserver/server.ts";
import { done } from "../../hooks/answers.ts";
import { encodeBase64 } from "../../hooks/base64.ts";
import { createHookClient } from "../../hooks/client.ts";
import { type Extension, extension } from "../../hooks/extension.ts";
import { createRegistry } from "../../hooks/registry.ts";
import { type HookCall, type HookTransport, inProcessTransport } from "../../hooks/transport.ts";
import { silentLogger } from "../../runtime/base/log.ts";
import { seededRandom } from "../../runtime/base/random.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import { fixedGates } from "../../runtime/feature-gates.ts";
import { createManager } from "../../runtime/manager.ts";
import { stepDriver } from "../../runtime/step-driver.ts";
import { transportClient } from "../../runtime/transport-client.ts";
import { extensionConfigController, namespaceLabels } from "./controller.ts";
import { extensionConfigFinalizer } from "./deletion.ts";

const START_MS = Date.parse("2026-08-21T10:00:00Z");
const turn = (): Promise<void> => new Promise((next) => setImmediate(next));

const typeOf = (kind: KindDefinition): ResourceType => ({
  ...kind.resource,
  listKind: kind.listKind,
  singular: kind.singular,
  shortNames: kind.shortNames,
  categories: kind.categories,
  verbs: ALL_VERBS,
  storageKey: `${kind.resource.group}/${kind.resource.plural}`,
  storageVersion: `${kind.resource.group}/${kind.resource.version}`,
  schema: kind.schema,
  custom: true,
  subresources: { status: true },
  strategy: { generation: "allButStatusAndMetadata", generationOnDelete: true },
});
const types = [...builtinTypes(), typeOf(extensionConfigKind), typeOf(machineKind)];

async function open(role: "writer" | "reader" = "writer") {
  const clock = new VirtualClock(START_MS);
  const server = createApiServer({ clock, random: seededRandom(1), types });
  server.start();
  const client = transportClient({ transport: server.handle, fieldManager: "test" });
  const extensions = new Map<string, Extension>();
  const calls: HookCall[] = [];
  const dead = new Set<string>();
  const direct = inProcessTransport((host) => extensions.get(host.split(".")[0] ?? ""));
  const transport: HookTransport = async (call) => {
    calls.push(call);
    if ([...dead].some((name) => call.url.startsWith(`https://${name}.`))) throw new Error("connect ECONNREFUSED");
    return direct(call);
  };
  const registry = createRegistry();
  const tools = { transport, clock, log: silentLogger };
  const manager = createManager({
    client,
    clock,
    random: seededRandom(2),
    log: silentLogger,
    gates: fixedGates({}),
    controllers: [extensionConfigController({ registry, calls: tools, client, role })],
  });
  const hooks = createHookClient({ ...tools, registry, namespaceLabels: namespaceLabels(() => manager.cache) });
  const driver = stepDriver({ managers: () => [manager], random: seededRandom(3), turn });
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 100; i++) if (!(await driver.step())) return;
    throw new Error("not quiet after 100 steps");
  };
  /** Lets time pass, running what becomes due. */
  const pass = async (seconds: number): Promise<void> => {
    const untilMs = clock.nowMs() + seconds * 1_000;
    clock.after(seconds * 1_000, () => {});
    await settle();
    while ((clock.nextDueMs() ?? Number.POSITIVE_INFINITY) <= untilMs) {
      clock.runNext();
      await settle();
    }
  };
  const config = (name: string, more: Partial<ExtensionConfig["spec"]> = {}, metadata: object = {}): ExtensionConfig => ({
    apiVersion: "runtime.cluster.x-k8s.io/v1beta2",
    kind: "ExtensionConfig",
    metadata: { name, ...metadata },
    spec: { clientConfig: { url: `https://${name}.test` }, namespaceSelector: {}, ...more },
  });
  const create = (name: string, more?: Partial<ExtensionConfig["spec"]>, metadata?: object) =>
    client.create(extensionConfigResource, config(name, more, metadata));
  const get = (name: string) => client.get(extensionConfigResource, { namespace: "", name });
  const conditions = async (name: string): Promise<string[]> =>
    ((await get(name)).status?.conditions ?? []).map((c) => `${c.type}=${c.status}/${c.reason}${c.message ? `: ${c.message}` : ""}`);
  const serve = (name: string): void => {
    extensions.set(
      name,
      extension(name).on("UpdateMachine", () => done()),
    );
  };
  const edit = (name: string, body: object, subresource?: string) =>
    client.patch(extensionConfigResource, { namespace: "", name }, { type: "merge", body }, { subresource });
  for (const name of ["blue", "red", "default"]) {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { team: name } } };
    await client.create(namespaceResource, namespace as never).catch(() => {});
  }
  return { client, clock, registry, manager, hooks, calls, dead, settle, pass, create, get, conditions, serve, edit };
}

type World = Awaited<ReturnType<typeof open>>;
const machine = (name: string, namespace = "blue") => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Machine",
  metadata: { name, namespace, annotations: { [pendingHooksAnnotation]: "UpdateMachine" } },
  spec: {
    clusterName: "c",
    bootstrap: { dataSecretName: "s" },
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevMachine", name },
  },
});
const handlersIn = async ({ hooks }: World, namespace = "blue") =>
  (await hooks.handlers("UpdateMachine", machine("m", namespace))).map((h) => h.name);
const discoveries = ({ calls }: World): number => calls.filter((c) => c.url.includes("/discovery")).length;

describe("writer", () => {
  it("discovers, writes status, registers; its own writes are no reason to ask again", async () => {
    const w = await open();
    w.serve("ext");
    await w.create("ext");
    w.manager.start();
    await w.pass(1);
    expect((await w.get("ext")).status?.handlers).toEqual([
      {
        name: "update-machine.ext",
        requestHook: { apiVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1", hook: "UpdateMachine" },
        timeoutSeconds: 10,
        failurePolicy: "Fail",
      },
    ]);
    expect(await w.conditions("ext")).toEqual(["Discovered=True/Discovered", "Paused=False/NotPaused"]);
    expect(await handlersIn(w)).toEqual(["update-machine.ext"]);
    expect(discoveries(w)).toBe(1);
    await w.pass(590);
    expect(discoveries(w)).toBe(1);
    await w.pass(20);
    expect(discoveries(w)).toBe(2);
  });

  it("tells what went wrong, keeps the old registration, and comes back by itself", async () => {
    const w = await open();
    w.serve("ext");
    await w.create("ext");
    w.manager.start();
    await w.pass(1);
    w.dead.add("ext");
    await w.edit("ext", { spec: { settings: { a: "b" } } });
    await w.pass(1);
    expect(await w.conditions("ext")).toEqual([
      'Discovered=False/NotDiscovered: Error in discovery: Discovery of handler "discovery" (ExtensionConfig ext) could not be called: connect ECONNREFUSED',
      "Paused=False/NotPaused",
    ]);
    expect((await w.get("ext")).status?.handlers).toHaveLength(1);
    expect(await handlersIn(w)).toEqual(["update-machine.ext"]);
    w.dead.clear();
    await w.pass(20);
    expect((await w.conditions("ext"))[0]).toBe("Discovered=True/Discovered");
  });

  it("a config created later that is dead makes its hooks wait", async () => {
    const w = await open();
    w.manager.start();
    await w.pass(1);
    expect(await handlersIn(w)).toEqual([]);
    await w.create("ext", { namespaceSelector: { matchLabels: { team: "blue" } } });
    await w.pass(1);
    await expect(handlersIn(w)).rejects.toThrow("ExtensionConfig ext, which may serve UpdateMachine, is not ready");
    expect(await handlersIn(w, "red")).toEqual([]);
  });

  it("injects the CA of a Secret, follows its rotation, and tells what is missing", async () => {
    const w = await open();
    w.serve("ext");
    await w.create("ext", {}, { annotations: { "runtime.cluster.x-k8s.io/inject-ca-from-secret": "blue/ca" } });
    w.manager.start();
    await w.pass(70);
    expect((await w.conditions("ext"))[0]).toContain("Secret blue/ca does not exist");
    const secret = (pem: string) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "ca", namespace: "blue" },
      data: { "ca.crt": encodeBase64(pem) },
    });
    await w.client.create(secretResource, secret("first") as never);
    await w.pass(1);
    expect((await w.conditions("ext"))[0]).toBe("Discovered=True/Discovered");
    expect(w.calls.at(-1)?.caBundle).toBe("first");
    await w.client.patch(secretResource, { namespace: "blue", name: "ca" }, { type: "merge", body: secret("second") });
    await w.pass(1);
    expect((await w.get("ext")).spec.clientConfig.caBundle).toBe(encodeBase64("second"));
    expect(w.calls.at(-1)?.caBundle).toBe("second");
    const stored = await w.get("ext");
    expect(stored.status?.conditions?.[0]?.observedGeneration).toBe(stored.metadata.generation);
  });

  it("leaves a paused config alone, and says so", async () => {
    const w = await open();
    w.serve("ext");
    w.manager.start();
    await w.pass(1);
    await w.create("ext", {}, { annotations: { "cluster.x-k8s.io/paused": "" } });
    await w.pass(30);
    expect(discoveries(w)).toBe(0);
    expect(await w.conditions("ext")).toEqual(["Paused=True/Paused: ExtensionConfig has the cluster.x-k8s.io/paused annotation"]);
    await w.edit("ext", { metadata: { annotations: { "cluster.x-k8s.io/paused": null } } });
    await w.pass(1);
    expect(await w.conditions("ext")).toEqual(["Discovered=True/Discovered", "Paused=False/NotPaused"]);
  });

  it("unregisters what is deleted; with a Machine in mid-update only when that is done", async () => {
    const w = await open();
    w.serve("ext");
    await w.create("ext", { namespaceSelector: { matchLabels: { team: "blue" } } });
    w.manager.start();
    await w.pass(1);
    expect((await w.get("ext")).metadata.finalizers).toEqual([extensionConfigFinalizer]);
    await w.client.create(machineResource, machine("m") as never);
    await w.client.create(machineResource, machine("elsewhere", "red") as never);
    await w.client.delete(extensionConfigResource, { namespace: "", name: "ext" });
    await w.pass(30);
    expect(await handlersIn(w)).toEqual(["update-machine.ext"]);
    const body = { metadata: { annotations: { [pendingHooksAnnotation]: null } } };
    await w.client.patch(machineResource, { namespace: "blue", name: "m" }, { type: "merge", body });
    await w.pass(1);
    expect(await handlersIn(w)).toEqual([]);
    await expect(w.get("ext")).rejects.toMatchObject({ reason: "NotFound" });
  });

  it("a deleted config does not wait for Machines that another one can finish", async () => {
    const w = await open();
    for (const name of ["ext", "heir"]) {
      w.serve(name);
      await w.create(name);
    }
    w.manager.start();
    await w.pass(1);
    await w.client.create(machineResource, machine("m") as never);
    await w.client.delete(extensionConfigResource, { namespace: "", name: "ext" });
    await w.pass(1);
    expect(await handlersIn(w)).toEqual(["update-machine.heir"]);
  });
});

describe("warm-up", () => {
  it("three configs, one dead: nothing is concluded for 60 s, then the other two work and the hooks of the dead one wait", async () => {
    const w = await open();
    for (const name of ["a", "b", "c"]) {
      w.serve(name);
      await w.create(name, { namespaceSelector: { matchLabels: { team: name === "c" ? "red" : "blue" } } });
    }
    w.dead.add("c");
    w.manager.start();
    await w.pass(58);
    await expect(handlersIn(w)).rejects.toMatchObject({ code: "HookNotReady" });
    await w.pass(4);
    expect(await handlersIn(w)).toEqual(["update-machine.a", "update-machine.b"]);
    await expect(handlersIn(w, "red")).rejects.toThrow("ExtensionConfig c");
    w.dead.clear();
    await w.pass(300);
    expect(await handlersIn(w, "red")).toEqual(["update-machine.c"]);
  });

  it("a fault that heals costs two seconds", async () => {
    const w = await open();
    w.serve("a");
    await w.create("a");
    w.dead.add("a");
    w.manager.start();
    await w.pass(1);
    w.dead.clear();
    await w.pass(1.5);
    expect(await handlersIn(w)).toEqual(["update-machine.a"]);
  });
});

describe("reader", () => {
  const handlers = [
    {
      name: "u.ext",
      requestHook: { apiVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1", hook: "UpdateMachine" },
      timeoutSeconds: 5,
      failurePolicy: "Fail",
    },
  ];
  const discovered = (status: string, observedGeneration: number) => ({
    handlers,
    conditions: [
      { type: "Discovered", status, reason: "Discovered", message: "", lastTransitionTime: "2026-08-21T10:00:00Z", observedGeneration },
    ],
  });

  it("uses what another manager discovered for the newest generation, calls and writes nothing", async () => {
    const w = await open("reader");
    const { metadata } = await w.create("ext");
    await w.edit("ext", { status: discovered("True", metadata.generation ?? 1) }, "status");
    const before = await w.get("ext");
    w.manager.start();
    await w.pass(1);
    expect(await handlersIn(w)).toEqual(["u.ext"]);
    expect(w.calls).toEqual([]);
    expect(await w.get("ext")).toEqual(before);
  });

  it("waits for the discovery of a changed spec, and keeps the old registration meanwhile", async () => {
    const w = await open("reader");
    w.manager.start();
    await w.pass(1);
    await w.create("ext");
    await w.pass(1);
    await expect(handlersIn(w)).rejects.toThrow("waiting for its first discovery");
    await w.edit("ext", { status: discovered("True", 1) }, "status");
    await w.pass(1);
    await w.edit("ext", { spec: { settings: { a: "b" } } });
    await w.pass(1);
    expect(w.registry.get("u.ext").settings).toEqual({});
    await w.edit("ext", { status: discovered("True", 2) }, "status");
    await w.pass(1);
    expect(w.registry.get("u.ext").settings).toEqual({ a: "b" });
  });
});
