import { describe, expect, it } from "@jest/globals";
import { done } from "./answers.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { dashed, extension, handleHookRequest } from "./extension.ts";
import { machineObjects } from "./testing/fixtures.ts";

const prefix = "/hooks.runtime.cluster.x-k8s.io/v1alpha1";
const e = extension("ext")
  .on("UpdateMachine", ({ desired }) => done(`updated ${desired.machine.metadata.name}`), { timeoutSeconds: 20 })
  .on("CanUpdateMachine", async () => {
    throw new Error("disk full");
  })
  .on("BeforeClusterUpgrade", () => ({ status: "Success", retryAfterSeconds: 0 }), { name: "window", failurePolicy: "Ignore" });

describe("extension", () => {
  it("is called as a function, without a server", async () => {
    expect(await e.call("UpdateMachine", { desired: machineObjects() })).toEqual({
      apiVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1",
      kind: "UpdateMachineResponse",
      status: "Success",
      message: "updated m-1",
      retryAfterSeconds: 0,
    });
    await expect(e.call("GeneratePatches", { variables: [], items: [] })).rejects.toThrow(
      "extension ext has 0 handlers of GeneratePatches, wanted one",
    );
  });

  it("lists its handlers, not itself; what was not set stays unset", async () => {
    const { handlers } = await e.call("Discovery", {});
    const apiVersion = "hooks.runtime.cluster.x-k8s.io/v1alpha1";
    expect(handlers).toEqual([
      { name: "update-machine", requestHook: { apiVersion, hook: "UpdateMachine" }, timeoutSeconds: 20 },
      { name: "can-update-machine", requestHook: { apiVersion, hook: "CanUpdateMachine" } },
      { name: "window", requestHook: { apiVersion, hook: "BeforeClusterUpgrade" }, failurePolicy: "Ignore" },
    ]);
  });

  it("adding a handler leaves the old extension alone", () => {
    const more = e.on("GenerateUpgradePlan", () => ({ status: "Success" }) as never);
    expect([e.handlers.length, more.handlers.length]).toEqual([3, 4]);
  });

  it.each([
    [
      "a bad name",
      () => e.on("ValidateTopology", () => ({ status: "Success" }), { name: "a.b" }),
      'handler name "a.b" must be a DNS label',
    ],
    [
      "a name twice",
      () => e.on("ValidateTopology", () => ({ status: "Success" }), { name: "window" }),
      "handler window is registered twice",
    ],
    ["its own discovery", () => e.on("Discovery", () => ({ status: "Success" })), "Discovery is answered by the extension itself"],
    [
      "a long limit",
      () => e.on("ValidateTopology", () => ({ status: "Success" }), { timeoutSeconds: 31 }),
      "timeoutSeconds must be 0 to 30",
    ],
  ])("refuses %s", (_title, build, message) => expect(build).toThrow(message));

  it.each([
    ["POST", `${prefix}/updatemachine/update-machine`, { desired: machineObjects() }, 200, { status: "Success" }],
    ["POST", `/behind/a//proxy${prefix}/updatemachine/update-machine/`, { desired: machineObjects() }, 200, { status: "Success" }],
    ["POST", `${prefix}/discovery`, {}, 200, { kind: "DiscoveryResponse", status: "Success" }],
    [
      "POST",
      `${prefix}/canupdatemachine/can-update-machine`,
      {},
      200,
      { kind: "CanUpdateMachineResponse", status: "Failure", message: "disk full" },
    ],
    ["POST", `${prefix}/updatemachine/update-machine`, [], 200, { kind: "UpdateMachineResponse", status: "Failure" }],
    ["POST", `${prefix}/updatemachine/other`, {}, 404, { status: "Failure" }],
    ["GET", `${prefix}/discovery`, undefined, 405, { status: "Failure" }],
  ])("%s %s", async (method, path, body, status, answer) => {
    const got = await handleHookRequest(e, method, path, body);
    expect(got.status).toBe(status);
    expect(got.answer).toMatchObject(answer);
  });

  it("names handlers after hooks", () => expect(dashed("AfterControlPlaneInitialized")).toBe("after-control-plane-initialized"));
});

describe("base64", () => {
  it.each(["", "a", "ab", '{"ü":"☃"}'])("round trip of %j", (text) => {
    expect(encodeBase64(text)).toBe(Buffer.from(text).toString("base64"));
    expect(decodeBase64(encodeBase64(text))).toBe(text);
  });

  it.each(["%%%", "/w=="])("refuses %s", (text) => expect(() => decodeBase64(text)).toThrow("not base64 of UTF-8 text"));
});
