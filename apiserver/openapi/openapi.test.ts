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
  it("is not sent twice, and a form it does not have is refused", async () => {
    const s = await testServer();
    expect((await s.call("GET", "/openapi/v2", undefined, { accept: "application/xml" })).status).toBe(406);
    const { headers } = await s.call("GET", "/openapi/v2");
    expect((await s.call("GET", "/openapi/v2", undefined, { "if-none-match": headers.etag ?? "" })).status).toBe(304);
  });
  it("has the protobuf form that kubectl asks for when a kind is in no v3 document", async () => {
    const s = await testServer();
    s.server.registry.change([thing]);
    const accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    const response = await s.server.handle({
      method: "GET",
      path: "/openapi/v2",
      query: "",
      headers: { accept },
      user: { username: "admin", groups: ["system:masters"] },
    });
    if (response.kind !== "bytes") throw new Error(response.kind);
    expect([response.status, response.headers["content-type"]]).toEqual([200, accept.replace("@", ".")]);
    const document = fieldsOf(response.bytes);
    expect(textsAt(document, [1])).toEqual(["2.0"]);
    const paths = below(document, [8, 2]);
    const patched = paths.filter((path) => textsAt(path, [1])[0] === "/api/v1/namespaces/{name}").flatMap((path) => below(path, [2, 8]));
    expect(patched.flatMap((patch) => textsAt(patch, [8, 1, 2, 3, 4]))).toContain("fieldValidation");
    const extensions = patched.flatMap((patch) => below(patch, [13])).map((x) => [textsAt(x, [1])[0], textsAt(x, [2, 2])[0]]);
    expect(extensions).toContainEqual(["x-kubernetes-group-version-kind", '{"group":"","version":"v1","kind":"Namespace"}']);
    const [made] = below(document, [9, 1]).filter((schema) => textsAt(schema, [1])[0] === "com.example.v1.Thing");
    expect(
      made &&
        below(made, [2, 25, 1])
          .flatMap((property) => textsAt(property, [1]))
          .sort(),
    ).toEqual(Object.keys((await s.call("GET", "/openapi/v2")).body.definitions["com.example.v1.Thing"].properties).sort());
    expect(made && textsAt(made, [2, 22, 1])).toEqual(["object"]);
  });
});

// --- reading protobuf ---------------------------------------------------------------------------------------------------------------

type Fields = readonly (readonly [number: number, bytes: Uint8Array])[];

/** Fields of bytes only; numbers are passed over. */
function fieldsOf(bytes: Uint8Array): Fields {
  const found: [number, Uint8Array][] = [];
  let at = 0;
  const varint = (): number => {
    for (let value = 0, shift = 1; ; shift *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte % 128) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    if (tag % 8 === 0) varint();
    else if (tag % 8 === 1) at += 8;
    else {
      const length = varint();
      found.push([Math.floor(tag / 8), bytes.subarray(at, at + length)]);
      at += length;
    }
  }
  expect(at).toBe(bytes.length);
  return found;
}

const bytesAt = (fields: Fields, [number, ...rest]: readonly number[]): Uint8Array[] => {
  const here = fields.filter(([n]) => n === number).map(([, bytes]) => bytes);
  return rest.length === 0 ? here : here.flatMap((bytes) => bytesAt(fieldsOf(bytes), rest));
};
const below = (fields: Fields, path: readonly number[]): Fields[] => bytesAt(fields, path).map(fieldsOf);
const textsAt = (fields: Fields, path: readonly number[]): string[] => bytesAt(fields, path).map((b) => new TextDecoder().decode(b));
