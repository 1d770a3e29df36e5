import { describe, expect, it } from "@jest/globals";
import { deepFreeze } from "../object.ts";
import { createDecoder } from "./decode.ts";
import { createDefaults, pullPolicyOf } from "./defaults.ts";
import { createTypeSet } from "./types.ts";

const types = createTypeSet();
const plain = createDecoder(types);
const defaulted = createDecoder(types, createDefaults());

const decoded = (typeKey: string, fields: object): object =>
  plain.decode(typeKey, deepFreeze({ metadata: { name: "x" }, ...fields })).object;

describe("zero values, as the served types write them", () => {
  it.each<[string, string, object, object]>([
    ["an empty map is left out", "core.ConfigMap", { data: {} }, { metadata: { name: "x" } }],
    ["a null field is left out", "core.ConfigMap", { data: null }, { metadata: { name: "x" } }],
    ["a null in a map is its zero value", "core.ConfigMap", { data: { a: null } }, { metadata: { name: "x" }, data: { a: "" } }],
    ["a pointer keeps false", "core.ConfigMap", { immutable: false }, { metadata: { name: "x" }, immutable: false }],
    ["a struct that is no pointer is always there", "coordination.Lease", {}, { metadata: { name: "x" }, spec: {} }],
    ["a required list is null when unset", "rbac.Role", {}, { metadata: { name: "x" }, rules: null }],
    [
      "an Event writes its times and reporter",
      "core.Event",
      { involvedObject: { name: "a" } },
      {
        metadata: { name: "x" },
        involvedObject: { name: "a" },
        eventTime: null,
        firstTimestamp: null,
        lastTimestamp: null,
        reportingComponent: "",
        reportingInstance: "",
        source: {},
      },
    ],
    [
      "entries of lists are filled too",
      "core.Node",
      { status: { conditions: [{ type: "Ready", status: "True" }], daemonEndpoints: { kubeletEndpoint: { Port: 1 } }, nodeInfo: null } },
      { status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: null, lastTransitionTime: null }] } },
    ],
  ])("%s", (_, typeKey, given, expected) => {
    const object = decoded(typeKey, given);
    if (typeKey === "core.Node") expect(object).toMatchObject(expected);
    else expect(object).toEqual(expected);
  });

  it("gives the same object back when nothing changes", () => {
    const object = deepFreeze({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", labels: { b: "c" } }, data: { d: "e" } });
    expect(defaulted.decode("core.ConfigMap", object).object).toBe(object);
  });
});

describe("canonical forms", () => {
  it.each<[string, string, object, object]>([
    ["quantities", "core.PersistentVolume", { spec: { capacity: { storage: "1024Mi" } } }, { spec: { capacity: { storage: "1Gi" } } }],
    ["numbers as quantities", "core.PersistentVolume", { spec: { capacity: { storage: 5 } } }, { spec: { capacity: { storage: "5" } } }],
    [
      "micro times",
      "coordination.Lease",
      { spec: { renewTime: "2020-01-02T05:04:05.5+02:00" } },
      { spec: { renewTime: "2020-01-02T03:04:05.500000Z" } },
    ],
    ["times", "core.Event", { firstTimestamp: "2020-01-02T03:04:05.9Z" }, { firstTimestamp: "2020-01-02T03:04:05Z" }],
    [
      "microseconds stay exact",
      "coordination.Lease",
      { spec: { renewTime: "2020-01-02T03:04:05.000006Z" } },
      { spec: { renewTime: "2020-01-02T03:04:05.000006Z" } },
    ],
  ])("%s", (_, typeKey, given, expected) => {
    expect(decoded(typeKey, given)).toMatchObject(expected);
  });
});

describe("laws", () => {
  const roots = types.keys().filter((key) => types.get(key).fields.has("kind") && types.get(key).fields.has("metadata"));
  const samples: Readonly<Record<string, object>> = {
    "core.LimitRange": { spec: { limits: [{ type: "Container", max: { cpu: "1" }, min: { memory: "1Gi" } }] } },
    "core.Pod": {
      spec: {
        hostNetwork: true,
        serviceAccount: "s",
        containers: [{ image: "i", ports: [{ containerPort: 1 }], resources: { limits: { cpu: 1 } } }],
      },
    },
    "core.Node": { spec: { podCIDR: "10.0.0.0/24" }, status: { capacity: { cpu: 1 } } },
    "core.Service": { spec: { type: "LoadBalancer", sessionAffinity: "ClientIP", ports: [{ port: 1 }] } },
    "apps.StatefulSet": { spec: { volumeClaimTemplates: [{}] } },
  };
  it.each(roots)("decoding %s twice is decoding it once", (key) => {
    const once = deepFreeze(defaulted.decode(key, { metadata: { name: "x" }, ...samples[key] }).object);
    expect(defaulted.decode(key, once).object).toBe(once);
  });
  it("every type can be decoded from nothing", () => {
    for (const key of types.keys()) expect(plain.decode(key, {}).unknown).toEqual([]);
  });
});

describe("what is no such object", () => {
  it("names unknown fields at any depth, in order, and drops them", () => {
    const { object, unknown } = plain.decode("core.Pod", {
      metadata: { name: "x", foo: 1 },
      spec: { containers: [{ name: "a", image: "i", bar: {} }] },
      baz: null,
    });
    expect(unknown).toEqual(["metadata.foo", "spec.containers[0].bar", "baz"]);
    expect(JSON.stringify(object)).not.toMatch(/foo|bar|baz/);
  });

  it("looks into the schemas of a CRD, which contain themselves", () => {
    const crd = (schema: object) => ({
      spec: { group: "g", names: {}, scope: "", versions: [{ name: "v1", schema: { openAPIV3Schema: schema } }] },
    });
    const { unknown } = plain.decode("apiextensions.CustomResourceDefinition", {
      ...crd({ properties: { a: { items: { properties: { b: { odd: 1 } } }, additionalProperties: true } } }),
    });
    expect(unknown).toEqual(["spec.versions[0].schema.openAPIV3Schema.properties.a.items.properties.b.odd"]);
  });

  it.each<[string, object, RegExp]>([
    ["core.ConfigMap", { data: { a: 1 } }, /number.*data\.a.*string/],
    ["core.ConfigMap", { data: [] }, /array.*data/],
    ["core.Secret", { data: { a: "***" } }, /base64.*data\.a/],
    ["core.Pod", { spec: { containers: {} } }, /spec\.containers/],
    ["core.Pod", { spec: { terminationGracePeriodSeconds: 1.5 } }, /int64/],
    ["apps.Deployment", { spec: { replicas: 3_000_000_000 } }, /int32/],
    ["coordination.Lease", { spec: { renewTime: "soon" } }, /parsing time/],
    ["core.PersistentVolume", { spec: { capacity: { storage: "much" } } }, /quantities/],
    ["core.Service", { spec: { ports: [{ port: 1, targetPort: true }] } }, /targetPort/],
  ])("%s %j is a bad request", (typeKey, given, message) => {
    expect(() => plain.decode(typeKey, given)).toThrow(message);
  });
});

describe("defaults", () => {
  const filled = (typeKey: string, given: object): object =>
    defaulted.decode(typeKey, deepFreeze({ metadata: { name: "x" }, ...given })).object;

  it.each<[string, string, object, object]>([
    [
      "pod",
      "core.Pod",
      { spec: { containers: [{ name: "a", image: "i:1", ports: [{ containerPort: 1 }] }] } },
      {
        spec: {
          restartPolicy: "Always",
          dnsPolicy: "ClusterFirst",
          terminationGracePeriodSeconds: 30,
          enableServiceLinks: true,
          securityContext: {},
          containers: [{ imagePullPolicy: "IfNotPresent", terminationMessagePath: "/dev/termination-log", ports: [{ protocol: "TCP" }] }],
        },
      },
    ],
    [
      "requests from limits, in pods",
      "core.Pod",
      { spec: { containers: [{ name: "a", image: "i", resources: { limits: { cpu: "2" }, requests: { memory: "1Gi" } } }] } },
      { spec: { containers: [{ resources: { requests: { cpu: "2", memory: "1Gi" } } }] } },
    ],
    [
      "deployment",
      "apps.Deployment",
      { spec: { template: {} } },
      { spec: { replicas: 1, strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%" } }, revisionHistoryLimit: 10 } },
    ],
    ["zero replicas stay", "apps.Deployment", { spec: { replicas: 0 } }, { spec: { replicas: 0 } }],
    [
      "daemon set",
      "apps.DaemonSet",
      { spec: { template: {} } },
      { spec: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } } },
    ],
    [
      "service",
      "core.Service",
      { spec: { ports: [{ port: 80 }] } },
      { spec: { type: "ClusterIP", ports: [{ targetPort: 80, protocol: "TCP" }] } },
    ],
    ["secret", "core.Secret", { stringData: { a: "ü" }, data: { b: "Yg==" } }, { type: "Opaque", data: { a: "w7w=", b: "Yg==" } }],
    ["namespace", "core.Namespace", {}, { metadata: { labels: { "kubernetes.io/metadata.name": "x" } }, status: { phase: "Active" } }],
    [
      "webhook",
      "admissionregistration.MutatingWebhookConfiguration",
      { webhooks: [{ name: "a.b.c", clientConfig: { service: { name: "n", namespace: "m" } }, rules: [{}] }] },
      {
        webhooks: [
          {
            failurePolicy: "Fail",
            timeoutSeconds: 10,
            reinvocationPolicy: "Never",
            clientConfig: { service: { port: 443 } },
            rules: [{ scope: "*" }],
          },
        ],
      },
    ],
    [
      "subjects",
      "rbac.RoleBinding",
      {
        subjects: [
          { kind: "User", name: "u" },
          { kind: "ServiceAccount", name: "s" },
        ],
      },
      { subjects: [{ apiGroup: "rbac.authorization.k8s.io" }, { kind: "ServiceAccount", name: "s" }] },
    ],
    [
      "CRD names",
      "apiextensions.CustomResourceDefinition",
      { spec: { names: { kind: "AbC", plural: "abcs" } } },
      { spec: { names: { singular: "abc", listKind: "AbCList" } } },
    ],
    [
      "volume without a source",
      "core.Pod",
      { spec: { containers: [], volumes: [{ name: "v" }] } },
      { spec: { volumes: [{ emptyDir: {} }] } },
    ],
  ])("%s", (_, typeKey, given, expected) => {
    expect(filled(typeKey, given)).toMatchObject(expected);
  });

  it("stringData is not kept", () => expect(filled("core.Secret", { stringData: { a: "1" } })).not.toHaveProperty("stringData"));
  it("templates get no service links", () => expect(JSON.stringify(filled("apps.Deployment", {}))).not.toMatch(/enableServiceLinks/));

  it.each<[string, string]>([
    ["nginx", "Always"],
    ["nginx:latest", "Always"],
    ["host:5000/nginx", "Always"],
    ["host:5000/nginx:1", "IfNotPresent"],
    ["nginx@sha256:00", "IfNotPresent"],
  ])("image %s is pulled %s", (image, policy) => expect(pullPolicyOf(image)).toBe(policy));
});
