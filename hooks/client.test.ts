import { describe, expect, it } from "@jest/globals";
import { createMetrics } from "../runtime/metrics.ts";
import { coversMachine, coversMachineSet, declines, done, failed, working } from "./answers.ts";
import { createHookClient } from "./client.ts";
import { discover, registered } from "./discovery.ts";
import { extension } from "./extension.ts";
import { hookMetrics } from "./metrics.ts";
import { extensionConfig, machineObjects, setObjects, wired } from "./testing/fixtures.ts";
import type { HookTransport } from "./transport.ts";

const machine = machineObjects().machine;
const JOINED = {
  bootstrapToken: { token: "abcdef.0123456789abcdef", apiServerEndpoint: "1.2.3.4:6443" },
  tlsBootstrapToken: "abcdef.secret",
};
const desired = machineObjects({ version: "v1.35.1" }, {}, { joinConfiguration: { discovery: JOINED, skipPhases: ["x"] } });
const updater = extension("ext").on("UpdateMachine", () => working("step 1", 15));
const cluster = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata: { name: "blue", namespace: "blue" } } as never;

describe("one call", () => {
  it("goes to the short name in lower case, with the limit in the query and only what an extension may see", async () => {
    const { inPlace, register, calls } = wired();
    await register(updater, { settings: { site: "lab" } });
    expect(await inPlace.updateMachine(machine, desired)).toEqual({ retryAfterSeconds: 15, message: "step 1" });
    const [call] = calls;
    expect(call?.url).toBe("https://ext.test:443/hooks.runtime.cluster.x-k8s.io/v1alpha1/updatemachine/update-machine?timeout=10s");
    expect(call?.timeoutMs).toBe(10_000);
    expect(call?.body).toEqual({
      apiVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1",
      kind: "UpdateMachineRequest",
      settings: { site: "lab" },
      desired: {
        machine: {
          apiVersion: "cluster.x-k8s.io/v1beta2",
          kind: "Machine",
          metadata: { name: "m-1", namespace: "blue", labels: { a: "b" } },
          spec: desired.machine.spec,
        },
        infrastructureMachine: { ...desired.infrastructureMachine, metadata: { name: "m-1", namespace: "blue" } },
        bootstrapConfig: {
          ...desired.bootstrapConfig,
          spec: {
            joinConfiguration: {
              discovery: {
                bootstrapToken: { token: "redact.redactedredacted", apiServerEndpoint: "1.2.3.4:6443" },
                tlsBootstrapToken: "redact.redactedredacted",
              },
              skipPhases: ["x"],
            },
          },
        },
      },
    });
  });

  const bytes = (text: string) => new TextEncoder().encode(text);
  const answers =
    (status: number, body: Uint8Array | object): HookTransport =>
    async () => ({ status, body });

  it.each([
    [
      "refused connection",
      "Fail",
      async () => Promise.reject(new Error("connect ECONNREFUSED")),
      "HookCallFailed",
      "could not be called: connect ECONNREFUSED",
    ],
    ["redirect", "Fail", answers(301, bytes("")), "HookCallFailed", "HTTP 301"],
    ["long refusal", "Fail", answers(500, bytes("x".repeat(600))), "HookCallFailed", `${"x".repeat(512)}...`],
    ["not JSON", "Fail", answers(200, bytes("<html>")), "HookCallFailed", "the answer is not JSON"],
    ["wrong case of status", "Ignore", answers(200, { status: "success" }), "HookAnswerInvalid", 'status "success"'],
    ["no status", "Ignore", answers(200, {}), "HookAnswerInvalid", 'wanted "Success" or "Failure"'],
    ["Failure", "Ignore", answers(200, { status: "Failure", message: "no room" }), "HookAnswerFailure", "answered Failure: no room"],
    ["negative retry", "Fail", answers(200, { status: "Success", retryAfterSeconds: -1 }), "HookAnswerInvalid", "retryAfterSeconds -1"],
  ] as const)("%s under policy %s is an error that names handler and config", async (_title, failurePolicy, fault, code, text) => {
    const { inPlace, register, seam } = wired();
    await register(extension("ext").on("UpdateMachine", () => done(), { failurePolicy }));
    seam.fault = fault;
    const error = await inPlace.updateMachine(machine, desired).catch((e) => e);
    expect(error).toMatchObject({ code });
    expect(error.message).toContain('UpdateMachine of handler "update-machine.ext" (ExtensionConfig ext)');
    expect(error.message).toContain(text);
  });

  it("policy Ignore reads a dead server as success", async () => {
    const { client, register, seam } = wired();
    await register(
      extension("ext").on("BeforeClusterUpgrade", () => ({ status: "Success", retryAfterSeconds: 9 }), { failurePolicy: "Ignore" }),
    );
    seam.fault = answers(200, bytes("not json"));
    expect(await client.callAll("BeforeClusterUpgrade", cluster, {} as never)).toMatchObject({
      status: "Success",
      retryAfterSeconds: 0,
      message: "",
    });
  });

  it("settings of the request win key by key", async () => {
    const { client, register, calls } = wired();
    await register(
      extension("ext").on("DiscoverVariables", () => ({ status: "Success", variables: [] })),
      { settings: { a: "config", b: "config" } },
    );
    await client.callOne("DiscoverVariables", "discover-variables.ext", cluster, { settings: { b: "patch" } });
    expect(calls[0]?.body).toMatchObject({ settings: { a: "config", b: "patch" } });
  });

  it("counts calls and observes their length", async () => {
    const { registry, register, tools } = wired();
    await register(updater);
    const metrics = createMetrics();
    const client = createHookClient({ ...tools, registry, metrics: hookMetrics(metrics), namespaceLabels: async () => ({}) });
    await client.callAll("UpdateMachine", machine, { desired });
    const families = metrics.collect().map(({ metric, samples }) => `${metric.name} ${JSON.stringify(samples[0]?.labels)}`);
    const labels = '"host":"ext.test:443","group":"hooks.runtime.cluster.x-k8s.io","version":"v1alpha1","hook":"UpdateMachine"';
    expect(families).toEqual([
      `capi_runtime_sdk_request_duration_seconds {${labels}}`,
      `capi_runtime_sdk_requests_total {${labels},"code":"200","status":"Success"}`,
    ]);
  });
});

describe("several handlers", () => {
  const gate = (name: string, retryAfterSeconds: number, message: string) =>
    extension(name).on("BeforeClusterUpgrade", () => ({ status: "Success", retryAfterSeconds, message }));

  it("are called by name; the lowest wait above 0 counts, messages are joined", async () => {
    const { client, register, paths } = wired();
    await register(gate("c", 30, "c waits"));
    await register(gate("a", 60, ""));
    await register(gate("b", 0, "b is fine"));
    const answer = await client.callAll("BeforeClusterUpgrade", cluster, {} as never);
    expect(answer).toMatchObject({ status: "Success", retryAfterSeconds: 30, message: "b is fine, c waits" });
    expect(paths()).toHaveLength(3);
  });

  it("the first error ends it", async () => {
    const { client, register, calls } = wired();
    await register(extension("a").on("BeforeClusterUpgrade", () => ({ status: "Failure", retryAfterSeconds: 0, message: "no" })));
    await register(gate("b", 0, ""));
    await expect(client.callAll("BeforeClusterUpgrade", cluster, {} as never)).rejects.toMatchObject({ code: "HookAnswerFailure" });
    expect(calls).toHaveLength(1);
  });

  it("nobody is success", async () => {
    const { client, register } = wired();
    await register(updater);
    expect(await client.callAll("BeforeClusterUpgrade", cluster, {} as never)).toMatchObject({ status: "Success", retryAfterSeconds: 0 });
  });
});

describe("who serves a namespace", () => {
  it("selectors are matched on the namespace's labels", async () => {
    const { client, register } = wired({ blue: { team: "a" }, red: { team: "b" } });
    await register(updater, { namespaceSelector: { matchExpressions: [{ key: "team", operator: "In", values: ["a"] }] } });
    const named = async (namespace: string) =>
      (await client.handlers("UpdateMachine", { ...machine, metadata: { name: "m", namespace } })).map((h) => h.name);
    expect(await named("blue")).toEqual(["update-machine.ext"]);
    expect(await named("red")).toEqual([]);
    await expect(named("gone")).rejects.toMatchObject({ code: "HookNotReady" });
    const red = { ...machine, metadata: { name: "m", namespace: "red" } };
    const call = client.callOne("UpdateMachine", "update-machine.ext", red, { desired });
    await expect(call).rejects.toMatchObject({ code: "HookNamespaceMismatch" });
  });

  it("an absent selector matches nothing", async () => {
    const { client, register } = wired();
    await register(updater, { namespaceSelector: undefined });
    expect(await client.handlers("UpdateMachine", machine)).toEqual([]);
  });

  it("before warm-up ended nothing is concluded", async () => {
    const { client } = wired();
    await expect(client.handlers("UpdateMachine", machine)).rejects.toMatchObject({ code: "HookNotReady" });
  });

  it("a config that is not ready makes the hooks it may serve wait, and no others", async () => {
    const { client, registry, register } = wired();
    await register(updater);
    const dead = {
      ...extensionConfig("dead"),
      status: { handlers: [{ name: "x.dead", requestHook: { apiVersion: "h/v1", hook: "CanUpdateMachine" } }] },
    };
    registry.setUnready(dead, "connect ECONNREFUSED");
    expect(await client.handlers("UpdateMachine", machine)).toHaveLength(1);
    const asked = client.handlers("CanUpdateMachine", machine);
    await expect(asked).rejects.toThrow("ExtensionConfig dead, which may serve CanUpdateMachine, is not ready: connect ECONNREFUSED");
    registry.setUnready(extensionConfig("never-seen"), "no route");
    await expect(client.handlers("UpdateMachine", machine)).rejects.toThrow("ExtensionConfig never-seen");
  });

  it("a handler by another hook's name, or by no name, is an error", async () => {
    const { client, register } = wired();
    await register(updater);
    const wrong = client.callOne("CanUpdateMachine", "update-machine.ext", machine, { current: desired, desired });
    await expect(wrong).rejects.toThrow("serves UpdateMachine, not CanUpdateMachine");
    await expect(client.callOne("UpdateMachine", "gone.ext", machine, { desired })).rejects.toMatchObject({ code: "HookHandlerUnknown" });
  });
});

describe("in-place questions", () => {
  const covering = extension("ext")
    .on("CanUpdateMachine", (r) => coversMachine(r, { machine: [".spec.version"] }))
    .on("CanUpdateMachineSet", (r) => coversMachineSet(r, { machineSet: [".spec.template.spec.version"] }));

  it("covered, not covered with reasons, and nobody to ask", async () => {
    const { inPlace, register, calls, registry } = wired();
    await register(covering);
    const current = machineObjects();
    expect(await inPlace.canUpdateMachine({ current, desired: machineObjects({ version: "v1.35.1" }) })).toEqual({
      covered: true,
      reasons: [],
      handler: "can-update-machine.ext",
    });
    expect(await inPlace.canUpdateMachine({ current, desired: machineObjects({}, { image: "x" }) })).toMatchObject({
      covered: false,
      reasons: ["DevMachine cannot be updated in place: .spec.image differs"],
    });
    expect(calls).toHaveLength(2);
    registry.unregister("ext");
    expect(await inPlace.canUpdateMachine({ current, desired: current })).toEqual({
      covered: false,
      reasons: ["no extension serves CanUpdateMachine for namespace blue"],
    });
    await expect(inPlace.updateMachine(machine, desired)).rejects.toThrow("no extension serves UpdateMachine for namespace blue");
  });

  it("the extension's own words come along with a no", async () => {
    const { inPlace, register } = wired();
    await register(extension("ext").on("CanUpdateMachine", () => declines("two minors at once")));
    const answer = await inPlace.canUpdateMachine({ current: machineObjects(), desired: machineObjects({ version: "v1.36.0" }) });
    expect(answer.reasons).toEqual([
      "Machine cannot be updated in place: .spec.version differs",
      "can-update-machine.ext: two minors at once",
    ]);
  });

  it("more than one handler is an error that names them", async () => {
    const { inPlace, register } = wired();
    await register(covering);
    await register(extension("other").on("CanUpdateMachine", () => declines("")));
    const asked = inPlace.canUpdateMachine({ current: machineObjects(), desired: machineObjects() });
    await expect(asked).rejects.toThrow(
      "found multiple CanUpdateMachine hooks (can-update-machine.ext,can-update-machine.other): only one hook is supported",
    );
  });

  it("a bootstrap config on one side only is not asked about", async () => {
    const { inPlace, register, calls } = wired();
    await register(covering);
    const answer = await inPlace.canUpdateMachineSet({ current: setObjects("old"), desired: setObjects("new", {}, {}, {}) });
    expect(answer).toEqual({ covered: false, reasons: ["KubeadmConfigTemplate is on one side only"] });
    expect(calls).toHaveLength(0);
  });

  it("answers about a pair of sets are kept for a day, until the ExtensionConfig changes; errors are not kept", async () => {
    const { inPlace, register, calls, clock, seam } = wired();
    await register(covering);
    const question = { current: setObjects("old"), desired: setObjects("new", { version: "v1.35.1" }) };
    seam.fault = async () => ({ status: 500, body: {} });
    await expect(inPlace.canUpdateMachineSet(question)).rejects.toMatchObject({ code: "HookCallFailed" });
    seam.fault = undefined;
    for (let i = 0; i < 3; i++) expect((await inPlace.canUpdateMachineSet(question)).covered).toBe(true);
    expect(calls).toHaveLength(2);
    await inPlace.canUpdateMachineSet({ ...question, desired: setObjects("newer", { version: "v1.35.1" }) });
    expect(calls).toHaveLength(3);
    await register(covering, {}, "2");
    await inPlace.canUpdateMachineSet(question);
    expect(calls).toHaveLength(1);
    clock.after(24 * 3_600_000, () => {});
    clock.runNext();
    await inPlace.canUpdateMachineSet(question);
    expect(calls).toHaveLength(2);
  });

  it("a patch that cannot be applied names the handler and is no answer", async () => {
    const { inPlace, register } = wired();
    await register(extension("ext").on("CanUpdateMachine", () => ({ status: "Success", machinePatch: { patch: "W10=" } })));
    const asked = inPlace.canUpdateMachine({ current: machineObjects(), desired: machineObjects() });
    await expect(asked).rejects.toThrow(
      'CanUpdateMachine of handler "can-update-machine.ext" (ExtensionConfig ext): machinePatch cannot be applied: patchType is not set',
    );
  });

  it("a failed update is an error with its message", async () => {
    const { inPlace, register } = wired();
    await register(extension("ext").on("UpdateMachine", () => failed("step 3: preflight")));
    await expect(inPlace.updateMachine(machine, desired)).rejects.toThrow("answered Failure: step 3: preflight");
  });
});

describe("answers that may be kept", () => {
  it("are asked again after ten minutes, for other settings, or a changed config", async () => {
    const { client, register, calls, clock } = wired();
    const e = extension("ext").on("DiscoverVariables", () => ({ status: "Success", variables: [] }));
    const ask = (settings: Record<string, string>) =>
      client.callOne("DiscoverVariables", "discover-variables.ext", cluster, { settings }, { cacheKey: "" });
    await register(e);
    await ask({ a: "1", b: "2" });
    await ask({ b: "2", a: "1" });
    expect(calls).toHaveLength(1);
    await ask({ a: "2" });
    expect(calls).toHaveLength(2);
    clock.after(600_000, () => {});
    clock.runNext();
    await ask({ a: "2" });
    expect(calls).toHaveLength(3);
  });
});

describe("discovery", () => {
  it("fills defaults and registers names with the config", async () => {
    const { tools, register } = wired();
    await register(updater.on("CanUpdateMachine", () => declines(""), { name: "ask", timeoutSeconds: 15, failurePolicy: "Fail" }));
    expect(await discover(tools, extensionConfig("ext"))).toEqual([
      {
        name: "ask.ext",
        requestHook: { apiVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1", hook: "CanUpdateMachine" },
        timeoutSeconds: 15,
        failurePolicy: "Fail",
      },
      {
        name: "update-machine.ext",
        requestHook: { apiVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1", hook: "UpdateMachine" },
        timeoutSeconds: 10,
        failurePolicy: "Fail",
      },
    ]);
  });

  const apiVersion = "hooks.runtime.cluster.x-k8s.io/v1alpha1";
  it("tells all faults at once", () => {
    const handlers = [
      { name: "a.b", requestHook: { apiVersion, hook: "UpdateMachine" } },
      { name: "ok", requestHook: { apiVersion, hook: "CanUpdateMachine" }, timeoutSeconds: 31 },
      { name: "ok", requestHook: { apiVersion: "hooks/v9", hook: "canUpdateMachine" }, failurePolicy: "Maybe" as never },
      { name: "dead", requestHook: { apiVersion, hook: "UpdateMachine" }, failurePolicy: "Ignore" as const },
    ];
    expect(() => registered("ext", handlers)).toThrow(
      new Error(
        `the answer of ExtensionConfig ext to Discovery is invalid: ${[
          'handlers[0] "a.b": the name must be a DNS label (lower case letters, digits, dashes, at most 63)',
          'handlers[1] "ok": timeoutSeconds must be 0 to 30',
          'handlers[2] "ok": the name is used twice',
          `handlers[2] "ok": requestHook.apiVersion must be ${apiVersion}`,
          'handlers[2] "ok": unknown hook "canUpdateMachine"',
          'handlers[2] "ok": failurePolicy must be Fail or Ignore',
          'handlers[3] "dead": failurePolicy Ignore is refused for UpdateMachine: an unreachable server would read as an answer',
        ].join("; ")}`,
      ),
    );
    expect(registered("ext", handlers.slice(3), { allowIgnore: true })).toHaveLength(1);
  });
});
