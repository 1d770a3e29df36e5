import { describe, expect, it } from "@jest/globals";
import { ADMIN, type TestServer, testServer } from "../in-process.testing.ts";
import { type AdmissionFunction, functionPlugin, namespaceLifecycle, type WebhookCall, webhookPlugin } from "./index.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string, fields: object = {}) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, ...fields });

interface Review {
  readonly apiVersion: string;
  // biome-ignore lint/suspicious/noExplicitAny: reviews of all kinds are looked into.
  readonly request: any;
}
/** What a hook answers to a review; a text is the reason why it cannot be reached. */
type Hook = (review: Review) => object | string;

const base64 = (value: unknown): string => btoa(JSON.stringify(value));
const answer = (review: Review, response: object): object => ({
  apiVersion: review.apiVersion,
  kind: "AdmissionReview",
  response: { uid: review.request.uid, allowed: true, ...response },
});
const patching =
  (...operations: readonly object[]): Hook =>
  (review) =>
    answer(review, { patchType: "JSONPatch", patch: base64(operations) });
const allowing: Hook = (review) => answer(review, {});

interface Hooked extends TestServer {
  readonly calls: readonly { readonly hook: string; readonly review: Review; readonly call: WebhookCall }[];
  register(kind: "Mutating" | "Validating", name: string, ...webhooks: readonly object[]): Promise<void>;
}

async function hooked(hooks: Readonly<Record<string, Hook>>): Promise<Hooked> {
  const calls: { hook: string; review: Review; call: WebhookCall }[] = [];
  const test = await testServer({
    admission: (server) => [
      webhookPlugin(server, async (call) => {
        const hook = new URL(call.clientConfig.url ?? "").pathname.slice(1);
        const review = call.review as Review;
        calls.push({ hook, review, call });
        const result = (hooks[hook] ?? allowing)(review);
        if (typeof result === "string") throw new Error(result);
        return result;
      }),
    ],
  });
  return {
    ...test,
    calls,
    async register(kind, name, ...webhooks) {
      const full = webhooks.map((webhook, i) => ({
        name: `h${i}.${name}.example.com`,
        clientConfig: { url: `https://hooks.example.com/${name}${webhooks.length > 1 ? i : ""}` },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        ...webhook,
      }));
      const body = {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: `${kind}WebhookConfiguration`,
        metadata: { name },
        webhooks: full,
      };
      const path = `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}webhookconfigurations`;
      expect((await test.send(ADMIN, "POST", path, body)).code).toBe(201);
    },
  };
}

describe("validating webhooks", () => {
  it("get a whole review", async () => {
    const { send, register, calls } = await hooked({});
    await register("Validating", "v", {});
    const { body } = await send(ADMIN, "POST", `${CONFIG_MAPS}?fieldManager=fm`, configMap("a", { data: { x: "1" } }));
    await send(ADMIN, "PUT", `${CONFIG_MAPS}/a`, { ...body, data: { x: "2" } });
    await send(ADMIN, "DELETE", `${CONFIG_MAPS}/a`);
    const shown = calls.map(({ review: { apiVersion, request } }) => ({
      apiVersion,
      operation: request.operation,
      name: request.name,
      data: [request.oldObject?.data, request.object?.data],
      options: request.options.kind,
    }));
    const common = { apiVersion: "admission.k8s.io/v1", name: "a" };
    expect(shown).toEqual([
      { ...common, operation: "CREATE", data: [undefined, { x: "1" }], options: "CreateOptions" },
      { ...common, operation: "UPDATE", data: [{ x: "1" }, { x: "2" }], options: "UpdateOptions" },
      { ...common, operation: "DELETE", data: [{ x: "2" }, undefined], options: "DeleteOptions" },
    ]);
    const kind = { group: "", version: "v1", kind: "ConfigMap" };
    const resource = { group: "", version: "v1", resource: "configmaps" };
    expect(calls[0]?.review.request).toMatchObject({
      kind,
      requestKind: kind,
      resource,
      requestResource: resource,
      namespace: "default",
      userInfo: { username: "admin" },
      dryRun: false,
      oldObject: null,
    });
    expect(calls[0]?.call.timeoutSeconds).toBe(10);
  });

  const refusals: readonly [string, Hook, object][] = [
    [
      "without a word",
      (r) => answer(r, { allowed: false }),
      { code: 400, message: 'admission webhook "h0.v.example.com" denied the request without explanation' },
    ],
    [
      "with code, reason and text",
      (r) => answer(r, { allowed: false, status: { code: 409, reason: "Conflict", message: "taken", details: { name: "a" } } }),
      { code: 409, reason: "Conflict", message: 'admission webhook "h0.v.example.com" denied the request: taken', details: { name: "a" } },
    ],
    [
      "with a code that is no error",
      (r) => answer(r, { allowed: false, status: { code: 200, reason: "Why" } }),
      { code: 400, message: 'admission webhook "h0.v.example.com" denied the request: Why' },
    ],
    ["by not being there", () => "connection refused", { code: 500, reason: "InternalError" }],
    ["by another uid", (r) => answer(r, { uid: "x" }), { code: 500, reason: "InternalError" }],
    ["by no response", (r) => ({ apiVersion: r.apiVersion, kind: "AdmissionReview" }), { code: 500 }],
    ["by another version", (r) => ({ ...answer(r, {}), apiVersion: "admission.k8s.io/v1beta1" }), { code: 500 }],
    ["by a patch", patching({ op: "add", path: "/data", value: {} }), { code: 500 }],
  ];
  it.each(refusals)("refuse %s", async (_, hook, status) => {
    const { send, register } = await hooked({ v: hook });
    await register("Validating", "v", {});
    const { code, body } = await send(ADMIN, "POST", CONFIG_MAPS, configMap("a"));
    expect(code).toBe((status as { code: number }).code);
    expect(body).toMatchObject({ kind: "Status", status: "Failure", ...status });
    expect((await send(ADMIN, "GET", `${CONFIG_MAPS}/a`)).code).toBe(404);
  });

  it("are passed over when they cannot be asked and their policy is Ignore, but not when they refuse", async () => {
    const { send, register } = await hooked({ away: () => "connection refused", no: (r) => answer(r, { allowed: false }) });
    await register("Validating", "away", { failurePolicy: "Ignore" });
    expect((await send(ADMIN, "POST", CONFIG_MAPS, configMap("a"))).code).toBe(201);
    await register("Validating", "no", { failurePolicy: "Ignore" });
    expect((await send(ADMIN, "POST", CONFIG_MAPS, configMap("b"))).code).toBe(400);
  });

  it("warn", async () => {
    const { send, register } = await hooked({ v: (r) => answer(r, { warnings: ["old field"] }) });
    await register("Validating", "v", {});
    expect((await send(ADMIN, "POST", CONFIG_MAPS, configMap("a"))).warnings).toContain('299 - "old field"');
  });

  it("see dry runs as such", async () => {
    const { send, register, calls } = await hooked({});
    await register("Validating", "pure", { sideEffects: "NoneOnDryRun" });
    expect((await send(ADMIN, "POST", `${CONFIG_MAPS}?dryRun=All`, configMap("a"))).code).toBe(201);
    expect(calls[0]?.review.request).toMatchObject({ dryRun: true, options: { dryRun: ["All"] } });
  });

  it("are called when their conditions hold; one that cannot be judged refuses, or lets pass", async () => {
    const { send, register, calls } = await hooked({});
    await register("Validating", "v", { matchConditions: [{ name: "x", expression: "object.metadata.name.startsWith('x')" }] });
    await send(ADMIN, "POST", CONFIG_MAPS, configMap("y"));
    expect(calls).toHaveLength(0);
    await send(ADMIN, "POST", CONFIG_MAPS, configMap("x"));
    expect(calls).toHaveLength(1);
    const failing = [{ name: "bad", expression: "object.none.more == 1" }];
    await register("Validating", "open", { matchConditions: failing, failurePolicy: "Ignore" });
    expect((await send(ADMIN, "POST", CONFIG_MAPS, configMap("x2"))).code).toBe(201);
    await register("Validating", "shut", { matchConditions: failing });
    expect((await send(ADMIN, "POST", CONFIG_MAPS, configMap("x3"))).code).toBe(403);
  });
});

describe("mutating webhooks", () => {
  it("change the object in order, before it is defaulted, validated and reviewed", async () => {
    const { send, register, calls } = await hooked({
      a: patching({ op: "add", path: "/metadata/labels", value: { by: "a" } }),
      b: patching({ op: "add", path: "/data/seen", value: "b" }),
    });
    await register("Mutating", "b", {});
    await register("Mutating", "a", {});
    await register("Validating", "v", {});
    const { body } = await send(ADMIN, "POST", CONFIG_MAPS, configMap("m", { data: { x: "1" } }));
    expect(body).toMatchObject({ metadata: { labels: { by: "a" } }, data: { x: "1", seen: "b" } });
    expect(calls.map((c) => [c.hook, c.review.request.object.metadata.labels, c.review.request.object.data])).toEqual([
      ["a", undefined, { x: "1" }],
      ["b", { by: "a" }, { x: "1" }],
      ["v", { by: "a" }, { x: "1", seen: "b" }],
    ]);
  });

  it("are asked again when they want to and a later one changed the object", async () => {
    const { send, register, calls } = await hooked({ m1: patching({ op: "add", path: "/data/two", value: "2" }) });
    await register("Mutating", "m", { reinvocationPolicy: "IfNeeded" }, {}, { reinvocationPolicy: "IfNeeded" });
    await send(ADMIN, "POST", CONFIG_MAPS, configMap("a", { data: { x: "1" } }));
    expect(calls.map((c) => c.hook)).toEqual(["m0", "m1", "m2", "m0"]);
    await send(ADMIN, "POST", CONFIG_MAPS, configMap("b", { data: { two: "2" } }));
    // Nothing changed this time.
    expect(calls.slice(4).map((c) => c.hook)).toEqual(["m0", "m1", "m2"]);
  });

  const bad: readonly [string, Hook, number][] = [
    ["a patch that does not fit", patching({ op: "remove", path: "/data/none" }), 500],
    ["no patch at all", (r) => answer(r, { patchType: "JSONPatch", patch: base64({}) }), 500],
    ["no base64", (r) => answer(r, { patchType: "JSONPatch", patch: "%" }), 500],
    ["a patch of an unknown type", (r) => answer(r, { patchType: "Merge", patch: base64([]) }), 500],
    ["a patch without type", (r) => answer(r, { patch: base64([]) }), 500],
    ["an object unfit for its kind", patching({ op: "add", path: "/data", value: { x: 1 } }), 400],
    ["a name that is none", patching({ op: "add", path: "/metadata/labels", value: { "": "x" } }), 422],
  ];
  it.each(bad)("that answer with %s fail the request", async (_, hook, code) => {
    const { send, register } = await hooked({ m: hook });
    await register("Mutating", "m", {});
    expect((await send(ADMIN, "POST", CONFIG_MAPS, configMap("a"))).code).toBe(code);
  });
});

describe("webhooks as functions", () => {
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];
  const functions: readonly AdmissionFunction[] = [
    {
      name: "default.example.com",
      rules,
      mutate: ({ object }) => ({ allowed: true, object: { ...object, data: { defaulted: "yes" } }, warnings: ["defaulted"] }),
    },
    {
      name: "check.example.com",
      rules,
      validate: ({ name }) =>
        name === "bad" ? { allowed: false, status: { code: 422, reason: "Invalid", message: "bad name" } } : { allowed: true },
    },
  ];
  it("are asked like webhooks", async () => {
    const { send } = await testServer({ admission: (server) => [functionPlugin(server, functions)] });
    const good = await send(ADMIN, "POST", CONFIG_MAPS, configMap("a"));
    expect([good.code, good.body.data, good.warnings]).toEqual([201, { defaulted: "yes" }, expect.stringContaining("defaulted")]);
    const refused = await send(ADMIN, "POST", CONFIG_MAPS, configMap("bad"));
    expect(refused.body).toMatchObject({
      code: 422,
      reason: "Invalid",
      message: 'admission webhook "check.example.com" denied the request: bad name',
    });
    expect((await send(ADMIN, "PUT", `${CONFIG_MAPS}/a`, { ...good.body, data: {} })).body.data).toBeUndefined();
  });
});

describe("namespace lifecycle", () => {
  const started = () => testServer({ admission: (server) => [namespaceLifecycle(server)] });

  it("keeps objects out of absent and dying namespaces", async () => {
    const { send } = await started();
    const absent = await send(ADMIN, "POST", "/api/v1/namespaces/none/configmaps", configMap("a"));
    expect(absent.body).toMatchObject({ code: 404, details: { kind: "namespaces", name: "none" } });
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "dying", finalizers: ["example.com/keep"] } };
    await send(ADMIN, "POST", "/api/v1/namespaces", namespace);
    expect((await send(ADMIN, "POST", "/api/v1/namespaces/dying/configmaps", configMap("a"))).code).toBe(201);
    await send(ADMIN, "DELETE", "/api/v1/namespaces/dying");
    const refused = await send(ADMIN, "POST", "/api/v1/namespaces/dying/configmaps", configMap("b"));
    expect(refused.body).toMatchObject({
      code: 403,
      details: { causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }] },
    });
    expect((await send(ADMIN, "DELETE", "/api/v1/namespaces/dying/configmaps/a")).code).toBe(200);
  });

  it("keeps the namespaces that a cluster needs", async () => {
    const { send } = await started();
    for (const name of ["default", "kube-system", "kube-public"])
      expect((await send(ADMIN, "DELETE", `/api/v1/namespaces/${name}`)).code).toBe(403);
    expect((await send(ADMIN, "DELETE", "/api/v1/namespaces/kube-node-lease")).code).toBe(200);
  });
});
