import { describe, expect, it } from "@jest/globals";
import { type TestServer, testServer } from "./real/testing.ts";

const NS = "/namespaces/default";
const MERGE = { "content-type": "application/merge-patch+json" };

const configMaps = `/api/v1${NS}/configmaps`;
const pods = `/api/v1${NS}/pods`;
const services = `/api/v1${NS}/services`;
const deployments = `/apis/apps/v1${NS}/deployments`;

const template = (labels: object, spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: "a", image: "i" }], ...spec },
});
const pod = (name: string, spec: object = {}, labels: object = {}) => ({
  metadata: { name, labels },
  spec: { containers: [{ name: "a", image: "i:1" }], ...spec },
});

const causes = (body: { details?: { causes?: readonly { field: string; reason: string }[] } }): readonly string[] =>
  (body.details?.causes ?? []).map((c) => `${c.field} ${c.reason.replace("FieldValue", "")}`);

describe("what a create refuses", () => {
  it.each<[string, string, object, readonly string[]]>([
    ["config map key", configMaps, { metadata: { name: "x" }, data: { "a b": "" } }, ["data[a b] Invalid"]],
    ["key in both data", configMaps, { metadata: { name: "x" }, data: { a: "" }, binaryData: { a: "" } }, ["data[a] Invalid"]],
    [
      "TLS without a key",
      `/api/v1${NS}/secrets`,
      { metadata: { name: "x" }, type: "kubernetes.io/tls", data: { "tls.crt": "" } },
      ["data[tls.key] Required"],
    ],
    ["no containers", pods, { metadata: { name: "x" }, spec: {} }, ["spec.containers Required"]],
    ["no image", pods, { metadata: { name: "x" }, spec: { containers: [{ name: "a" }] } }, ["spec.containers[0].image Required"]],
    ["odd policy", pods, pod("x", { restartPolicy: "Often" }), ["spec.restartPolicy NotSupported"]],
    [
      "mount without volume",
      pods,
      { metadata: { name: "x" }, spec: { containers: [{ name: "a", image: "i", volumeMounts: [{ name: "v", mountPath: "/v" }] }] } },
      ["spec.containers[0].volumeMounts[0].name NotFound"],
    ],
    ["service name", services, { metadata: { name: "1x" }, spec: { ports: [{ port: 1 }] } }, ["metadata.name Invalid"]],
    ["no ports", services, { metadata: { name: "x" }, spec: {} }, ["spec.ports Required"]],
    [
      "unnamed ports",
      services,
      { metadata: { name: "x" }, spec: { ports: [{ port: 1, name: "a" }, { port: 2 }] } },
      ["spec.ports[1].name Required"],
    ],
    [
      "selector that misses the template",
      deployments,
      { metadata: { name: "x" }, spec: { selector: { matchLabels: { a: "1" } }, template: template({ a: "2" }) } },
      ["spec.template.metadata.labels Invalid"],
    ],
    [
      "no selector",
      deployments,
      { metadata: { name: "x" }, spec: { template: template({}) } },
      ["spec.selector Required", "spec.template.metadata.labels Invalid"],
    ],
    [
      "restart policy of a template",
      deployments,
      {
        metadata: { name: "x" },
        spec: { selector: { matchLabels: { a: "1" } }, template: template({ a: "1" }, { restartPolicy: "Never" }) },
      },
      ["spec.template.spec.restartPolicy NotSupported"],
    ],
    [
      "lease of no time",
      `/apis/coordination.k8s.io/v1${NS}/leases`,
      { metadata: { name: "x" }, spec: { leaseDurationSeconds: 0 } },
      ["spec.leaseDurationSeconds Invalid"],
    ],
    [
      "budget with both bounds",
      `/apis/policy/v1${NS}/poddisruptionbudgets`,
      { metadata: { name: "x" }, spec: { minAvailable: 1, maxUnavailable: 1 } },
      ["spec Invalid"],
    ],
    [
      "binding to nothing",
      `/apis/rbac.authorization.k8s.io/v1${NS}/rolebindings`,
      { metadata: { name: "x" }, roleRef: { kind: "Node", name: "n" } },
      ["roleRef.kind NotSupported"],
    ],
    [
      "rule without verbs",
      "/apis/rbac.authorization.k8s.io/v1/clusterroles",
      { metadata: { name: "x" }, rules: [{ apiGroups: [""], resources: ["pods"] }] },
      ["rules[0].verbs Required"],
    ],
    [
      "hook with a short name, no versions, two clients",
      "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
      {
        metadata: { name: "x" },
        webhooks: [{ name: "a", sideEffects: "None", clientConfig: { url: "http://x", service: { name: "a", namespace: "b" } } }],
      },
      ["webhooks[0].admissionReviewVersions Required", "webhooks[0].name Invalid", "webhooks[0].clientConfig Required"],
    ],
    [
      "event about elsewhere",
      `/api/v1${NS}/events`,
      { metadata: { name: "x" }, involvedObject: { namespace: "y" } },
      ["involvedObject.namespace Invalid"],
    ],
    [
      "volume without a source",
      "/api/v1/persistentvolumes",
      { metadata: { name: "x" }, spec: { capacity: { storage: "1" }, accessModes: ["ReadWriteOnce"] } },
      ["spec Required"],
    ],
  ])("%s", async (_, path, body, expected) => {
    const s = await testServer();
    const answer = await s.call("POST", path, body);
    expect([answer.status, causes(answer.body)]).toEqual([422, expected]);
  });
});

describe("what an update refuses", () => {
  it.each<[string, string, object, object, readonly string[]]>([
    [
      "data of an immutable map",
      configMaps,
      { metadata: { name: "x" }, immutable: true, data: { a: "1" } },
      { data: { a: "2" } },
      ["data Forbidden"],
    ],
    ["the type of a secret", `/api/v1${NS}/secrets`, { metadata: { name: "x" } }, { type: "other" }, ["type Invalid"]],
    [
      "the address of a service",
      services,
      { metadata: { name: "x" }, spec: { ports: [{ port: 1 }] } },
      { spec: { clusterIP: "10.96.9.9" } },
      ["spec.clusterIPs[0] Invalid"],
    ],
    [
      "the selector of a deployment",
      deployments,
      { metadata: { name: "x" }, spec: { selector: { matchLabels: { a: "1" } }, template: template({ a: "1", b: "1" }) } },
      { spec: { selector: { matchLabels: { a: null, b: "1" } } } },
      ["spec.selector Invalid"],
    ],
    ["fields of a pod", pods, pod("x"), { spec: { hostNetwork: true } }, ["spec Forbidden"]],
    ["containers of a pod", pods, pod("x"), { spec: { containers: [] } }, ["spec.containers Required", "spec.containers Forbidden"]],
    [
      "the role of a binding",
      `/apis/rbac.authorization.k8s.io/v1${NS}/rolebindings`,
      { metadata: { name: "x" }, roleRef: { kind: "Role", name: "n" } },
      { roleRef: { name: "m" } },
      ["roleRef Invalid"],
    ],
    [
      "the provider of a node",
      "/api/v1/nodes",
      { metadata: { name: "x" }, spec: { providerID: "a" } },
      { spec: { providerID: "b" } },
      ["spec.providerID Forbidden"],
    ],
  ])("%s", async (_, path, body, patch, expected) => {
    const s = await testServer();
    expect((await s.call("POST", path, body)).status).toBe(201);
    const answer = await s.call("PATCH", `${path}/x`, patch, MERGE);
    expect([answer.status, causes(answer.body)]).toEqual([422, expected]);
  });

  it("but not the image of a pod", async () => {
    const s = await testServer();
    await s.call("POST", pods, pod("x"));
    const answer = await s.call(
      "PATCH",
      `${pods}/x`,
      { spec: { containers: [{ name: "a", image: "i:2" }] } },
      { "content-type": "application/strategic-merge-patch+json" },
    );
    expect([answer.status, answer.body.spec.containers[0].image, answer.body.metadata.generation]).toEqual([200, "i:2", 2]);
  });
});

describe("what a create sets", () => {
  it("a pod waits, tolerates and has a class", async () => {
    const s = await testServer();
    const { body } = await s.call("POST", pods, pod("x"));
    expect(body.status).toEqual({ phase: "Pending", qosClass: "BestEffort" });
    expect(body.spec).toMatchObject({ priority: 0, tolerations: [{ tolerationSeconds: 300 }, { tolerationSeconds: 300 }] });
  });

  it("services get addresses and node ports, and keep them", async () => {
    const s = await testServer();
    const make = (name: string, spec: object) => s.call("POST", services, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
    const [a, b, none] = [
      await make("a", {}),
      await make("b", { type: "NodePort" }),
      await make("c", { clusterIP: "None", selector: { a: "b" } }),
    ];
    expect([a.body.spec.clusterIP, b.body.spec.clusterIP, none.body.spec.clusterIPs]).toEqual(["10.96.0.2", "10.96.0.3", ["None"]]);
    expect(b.body.spec).toMatchObject({ ports: [{ nodePort: 30_000 }], externalTrafficPolicy: "Cluster", ipFamilies: ["IPv4"] });
    const back = await s.call("PATCH", `${services}/b`, { spec: { type: "ClusterIP" } }, MERGE);
    expect(back.body.spec.ports[0]).toEqual({ port: 80, targetPort: 80, protocol: "TCP" });
    expect(back.body.spec.clusterIP).toBe("10.96.0.3");
  });

  it("a status is the server's", async () => {
    const s = await testServer();
    const body = {
      metadata: { name: "x" },
      spec: { selector: { matchLabels: { a: "1" } }, template: template({ a: "1" }) },
      status: { replicas: 9 },
    };
    expect((await s.call("POST", deployments, body)).body.status).toEqual({});
    const scale = await s.call("PATCH", `${deployments}/x/scale`, { spec: { replicas: 4 } }, MERGE);
    expect([scale.body.kind, scale.body.spec.replicas, scale.body.status.selector]).toEqual(["Scale", 4, "a=1"]);
    expect((await s.call("GET", `${deployments}/x`)).body.metadata.generation).toBe(2);
  });
});

describe("events", () => {
  it("are one thing in two versions", async () => {
    const s = await testServer();
    await s.call("POST", `/api/v1${NS}/events`, {
      metadata: { name: "x" },
      involvedObject: { kind: "Pod", name: "p", namespace: "default" },
      message: "m",
      count: 2,
      source: { component: "c" },
    });
    const { body } = await s.call("GET", `/apis/events.k8s.io/v1${NS}/events/x`);
    expect(body).toMatchObject({
      apiVersion: "events.k8s.io/v1",
      regarding: { name: "p" },
      note: "m",
      deprecatedCount: 2,
      deprecatedSource: { component: "c" },
    });
    expect(body).not.toHaveProperty("involvedObject");
    const made = await s.call("POST", `/apis/events.k8s.io/v1${NS}/events`, {
      metadata: { name: "y" },
      eventTime: "2026-01-01T00:00:00.000001Z",
      type: "Normal",
      reason: "R",
      action: "A",
      reportingController: "example.com/c",
      reportingInstance: "i",
      regarding: { kind: "Pod", name: "p", namespace: "default" },
      note: "n",
    });
    expect(made.status).toBe(201);
    expect((await s.call("GET", `/api/v1${NS}/events/y`)).body).toMatchObject({
      apiVersion: "v1",
      message: "n",
      reportingComponent: "example.com/c",
      involvedObject: { name: "p" },
    });
    const found = await s.call("GET", `/api/v1${NS}/events?fieldSelector=involvedObject.name%3Dp,reason%3DR`);
    expect(found.body.items.map((e: { metadata: { name: string } }) => e.metadata.name)).toEqual(["y"]);
  });
});

describe("evictions", () => {
  const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
  async function withPods(budget: object): Promise<TestServer> {
    const s = await testServer();
    for (const name of ["a", "b"]) {
      await s.call("POST", pods, pod(name, {}, { app: "x" }));
      await s.call("PATCH", `${pods}/${name}/status`, { status: ready }, MERGE);
    }
    await s.call("POST", `/apis/policy/v1${NS}/poddisruptionbudgets`, {
      metadata: { name: "pdb" },
      spec: { selector: { matchLabels: { app: "x" } }, ...budget },
    });
    return s;
  }
  const evict = (s: TestServer, name: string) =>
    s.call("POST", `${pods}/${name}/eviction`, { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: "default" } });

  it("go through while the budget lasts, then have to wait", async () => {
    const s = await withPods({ minAvailable: 1 });
    expect((await evict(s, "a")).status).toBe(201);
    const refused = await evict(s, "b");
    expect([refused.status, refused.body.reason, refused.body.details.causes[0].reason]).toEqual([
      429,
      "TooManyRequests",
      "DisruptionBudget",
    ]);
    expect((await s.call("GET", `${pods}/b`)).status).toBe(200);
  });

  it("spend what a kept status allows", async () => {
    const s = await withPods({ minAvailable: 2 });
    const path = `/apis/policy/v1${NS}/poddisruptionbudgets/pdb`;
    await s.call(
      "PATCH",
      `${path}/status`,
      { status: { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 } },
      MERGE,
    );
    expect((await evict(s, "a")).status).toBe(201);
    expect((await s.call("GET", path)).body.status).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { a: "2026-01-01T00:00:00Z" } });
    expect((await evict(s, "b")).status).toBe(429);
  });

  it("of pods that are not ready follow the policy", async () => {
    const s = await withPods({ minAvailable: 2, unhealthyPodEvictionPolicy: "AlwaysAllow" });
    await s.call("PATCH", `${pods}/a/status`, { status: { conditions: [{ type: "Ready", status: "False" }] } }, MERGE);
    expect([(await evict(s, "a")).status, (await evict(s, "b")).status]).toEqual([201, 429]);
  });

  it("of an absent pod find nothing", async () => expect((await evict(await withPods({}), "none")).status).toBe(404));
});
