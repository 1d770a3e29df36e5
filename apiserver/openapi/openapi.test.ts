import { describe, expect, it } from "@jest/globals";
import { testServer } from "../builtin/real/testing.ts";
import type { ResourceType } from "../registry.ts";

const thing: ResourceType = {
  group: "example.com",
  version: "v1",
  kind: "Thing",
  listKind: "ThingList",
  plural: "things",
  singular: "thing",
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ["create", "get", "list", "patch"],
  storageKey: "example.com/things",
  storageVersion: "example.com/v1",
  custom: true,
  subresources: {},
  strategy: {},
  schema: {
    type: "object",
    description: "A thing.",
    properties: {
      maybe: { type: "string", nullable: true },
      spec: {
        type: "object",
        required: ["n"],
        properties: {
          n: { "x-kubernetes-int-or-string": true },
          l: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
        },
      },
    },
  },
};

/** All references in a document that lead nowhere. */
function dangling(document: object, prefix: string, definitions: object): readonly string[] {
  const found = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map((m) => m[1] ?? "");
  return [...new Set(found)].filter((ref) => !ref.startsWith(prefix) || !(ref.slice(prefix.length) in definitions));
}

describe("OpenAPI v3", () => {
  it("has a document for each group and version, whose references hold", async () => {
    const s = await testServer();
    const { paths } = (await s.call("GET", "/openapi/v3")).body;
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(["api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1"]));
    for (const { serverRelativeURL } of Object.values(paths) as { serverRelativeURL: string }[]) {
      const answer = await s.call("GET", serverRelativeURL);
      expect([serverRelativeURL, answer.status, answer.headers["cache-control"]]).toEqual([serverRelativeURL, 200, "public, immutable"]);
      expect(dangling(answer.body, "#/components/schemas/", answer.body.components.schemas)).toEqual([]);
    }
  });

  it("carries what apply and strategic patches need", async () => {
    const s = await testServer();
    const { schemas } = (await s.call("GET", "/openapi/v3/api/v1")).body.components;
    expect(schemas["io.k8s.api.core.v1.PodSpec"].properties.containers).toMatchObject({
      items: { $ref: "#/components/schemas/io.k8s.api.core.v1.Container" },
      "x-kubernetes-list-map-keys": ["name"],
      "x-kubernetes-list-type": "map",
      "x-kubernetes-patch-merge-key": "name",
      "x-kubernetes-patch-strategy": "merge",
    });
    expect(schemas["io.k8s.api.core.v1.ServicePort"].properties.targetPort).toMatchObject({ format: "int-or-string" });
    expect(schemas["io.k8s.api.core.v1.LocalObjectReference"]["x-kubernetes-map-type"]).toBe("atomic");
    expect(schemas["io.k8s.api.core.v1.Pod"]["x-kubernetes-group-version-kind"]).toEqual([{ group: "", kind: "Pod", version: "v1" }]);
  });

  it("says which patches take dryRun and fieldValidation", async () => {
    const s = await testServer();
    const { paths } = (await s.call("GET", "/openapi/v3/apis/apps/v1")).body;
    const { patch } = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"];
    const names = patch.parameters.map((p: { name: string }) => p.name);
    expect(names).toEqual(expect.arrayContaining(["dryRun", "fieldValidation", "fieldManager", "force"]));
    expect(patch["x-kubernetes-group-version-kind"]).toEqual({ group: "apps", version: "v1", kind: "Deployment" });
  });

  it("follows custom kinds: the document, and its hash, come, change and go", async () => {
    const s = await testServer();
    const url = async () => (await s.call("GET", "/openapi/v3")).body.paths["apis/example.com/v1"]?.serverRelativeURL;
    const apps = async () => (await s.call("GET", "/openapi/v3")).body.paths["apis/apps/v1"].serverRelativeURL;
    const before = await apps();
    expect(await url()).toBeUndefined();
    s.server.registry.change([thing]);
    const first = await url();
    const { schemas } = (await s.call("GET", first)).body.components;
    expect(schemas["com.example.v1.Thing"]).toMatchObject({
      description: "A thing.",
      properties: {
        metadata: {},
        apiVersion: {},
        spec: { required: ["n"], properties: { n: { "x-kubernetes-int-or-string": true }, l: { "x-kubernetes-list-type": "set" } } },
      },
      "x-kubernetes-group-version-kind": [{ group: "example.com", kind: "Thing", version: "v1" }],
    });
    s.server.registry.change([{ ...thing, schema: { ...thing.schema, description: "Another." } }]);
    expect(await url()).not.toBe(first);
    expect(await apps()).toBe(before);
    s.server.registry.change([], s.server.registry.versions("example.com", "things"));
    expect([await url(), (await s.call("GET", "/openapi/v3/apis/example.com/v1")).status]).toEqual([undefined, 404]);
  });
});

describe("OpenAPI v2", () => {
  it("is one document whose references hold", async () => {
    const s = await testServer();
    s.server.registry.change([thing]);
    const { body } = await s.call("GET", "/openapi/v2");
    expect(body.swagger).toBe("2.0");
    expect(dangling(body, "#/definitions/", body.definitions)).toEqual([]);
    expect(body.definitions["io.k8s.api.apps.v1.DeploymentSpec"].properties.strategy).toEqual({
      $ref: "#/definitions/io.k8s.api.apps.v1.DeploymentStrategy",
      "x-kubernetes-patch-strategy": "retainKeys",
    });
    const { "com.example.v1.Thing": made, "io.k8s.api.core.v1.PodSpec": pod } = body.definitions;
    expect(made.properties.maybe).toEqual({}); // the dialect has no nullable, so the type goes
    expect(pod.properties.containers.type).toBe("array");
  });
  it("has no protobuf form, and is not sent twice", async () => {
    const s = await testServer();
    const refused = await s.call("GET", "/openapi/v2", undefined, { accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" });
    expect(refused.status).toBe(406);
    const { headers } = await s.call("GET", "/openapi/v2");
    expect((await s.call("GET", "/openapi/v2", undefined, { "if-none-match": headers.etag ?? "" })).status).toBe(304);
  });
});
