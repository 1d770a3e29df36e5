// Whatever comes in is answered: no request makes a fault of ours, and none leaves an object that cannot be read.
import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { seededRandom } from "../../runtime/base/random.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import { builtinTypes } from "../builtin/index.ts";
import { ALL_VERBS, type ResourceType } from "../registry.ts";
import { createApiServer } from "../server.ts";

const widget: ResourceType = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  listKind: "WidgetList",
  plural: "widgets",
  singular: "widget",
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ALL_VERBS,
  storageKey: "example.com/widgets",
  storageVersion: "example.com/v1",
  schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          replicas: { type: "integer" },
          list: {
            type: "array",
            items: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
          },
          set: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
        },
      },
      status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
  },
  custom: true,
  subresources: { status: true, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
  strategy: { generation: "allButStatusAndMetadata" },
};

const name = fc.constantFrom("a", "b", "", "Bad", "__proto__");
const json = fc.jsonValue({ maxDepth: 3 });
const keyed = fc.dictionary(fc.constantFrom("name", "list", "set", "replicas", "metadata", "labels", "__proto__", "x"), json, {
  maxKeys: 4,
});
const metadata = fc.record(
  {
    name,
    namespace: fc.constantFrom("n", "m"),
    labels: fc.oneof(keyed, json),
    finalizers: fc.oneof(fc.array(fc.constantFrom("example.com/f", "orphan", "")), json),
    ownerReferences: json,
    managedFields: fc.oneof(json, fc.constant([{}])),
    resourceVersion: fc.constantFrom("1", "x", "", "999999"),
    deletionTimestamp: fc.constantFrom(null, "2001-01-01T00:00:00Z", "x"),
    uid: fc.constantFrom("u", ""),
  },
  { requiredKeys: [] },
);
const object = fc.record(
  {
    apiVersion: fc.constantFrom("example.com/v1", "v1", 1),
    kind: fc.constantFrom("Widget", "ConfigMap", "Scale", "DeleteOptions", null),
    metadata: fc.oneof({ arbitrary: metadata, weight: 4 }, json),
    spec: fc.oneof({ arbitrary: keyed, weight: 4 }, json),
    status: json,
    data: fc.oneof(fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("1", "2")), json),
    propagationPolicy: fc.constantFrom("Orphan", "Foreground", "Sideways", 1),
    preconditions: json,
  },
  { requiredKeys: ["apiVersion", "kind"] },
);
const pointer = fc.constantFrom("/spec", "/spec/list/0", "/spec/list/-", "/metadata/labels/x", "/metadata", "", "x", "/spec/~2", "/data/a");
const operation = fc.record(
  { op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test", "what"), path: pointer, from: pointer, value: json },
  { requiredKeys: ["op"] },
);
const body = fc.oneof({ arbitrary: object, weight: 6 }, { arbitrary: fc.array(operation, { maxLength: 4 }), weight: 2 }, json);
const request = fc.record({
  method: fc.constantFrom("GET", "POST", "POST", "PUT", "PATCH", "PATCH", "PATCH", "DELETE"),
  path: fc.constantFrom(
    "/apis/example.com/v1/namespaces/n/widgets",
    "/api/v1/namespaces/n/configmaps",
    "/apis/example.com/v1/widgets",
    "/api/v1/nodes",
  ),
  tail: fc.constantFrom("", "/a", "/a", "/b", "/a/status", "/a/scale", "/__proto__", "/%20"),
  query: fc.constantFrom(
    "",
    "dryRun=All",
    "fieldManager=m",
    "fieldManager=m&force=true",
    "fieldValidation=Strict&fieldManager=k",
    "limit=1",
    "labelSelector=x",
    "watch=1",
    "resourceVersion=2&resourceVersionMatch=Exact",
    "fieldSelector=metadata.name%3Da",
  ),
  type: fc.constantFrom(
    "application/json",
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/apply-patch+yaml",
    "application/strategic-merge-patch+json",
    "application/yaml",
    "text/plain",
  ),
  accept: fc.constantFrom(
    "",
    "application/yaml",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "text/html",
  ),
  body,
  asBytes: fc.boolean(),
});

describe("any request", () => {
  it("is answered without a fault of ours (property)", async () => {
    const utf8 = new TextEncoder();
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 25 }), async (requests) => {
        const faults: string[] = [];
        const log = {
          debug() {},
          info() {},
          warn() {},
          error: (message: string, fields?: object) => void faults.push(`${message} ${JSON.stringify(fields)}`),
          with: () => log,
        };
        const server = createApiServer({
          clock: new VirtualClock(1_000),
          random: seededRandom(1),
          types: [...builtinTypes(), widget],
          log,
        });
        for (const { method, path, tail, query, type, accept, body: value, asBytes } of requests) {
          const text = JSON.stringify(value);
          const sent = asBytes || typeof value !== "object" || value === null ? utf8.encode(text) : (JSON.parse(text) as object);
          const answer = await server.handle({
            method,
            path: path + tail,
            query,
            headers: { "content-type": type, accept },
            ...(method === "GET" ? {} : { body: sent }),
          });
          if (answer.kind === "watch") answer.subscribe({ event: () => true, end() {} })();
          else expect(answer.status).toBeGreaterThanOrEqual(200);
        }
        for (const path of ["/apis/example.com/v1/widgets", "/api/v1/configmaps", "/api/v1/nodes"]) {
          expect((await server.handle({ method: "GET", path, query: "", headers: {} })).status).toBe(200);
        }
        expect(faults).toEqual([]);
        expect(({} as { x?: unknown }).x).toBeUndefined();
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 60) },
    );
  });
});
