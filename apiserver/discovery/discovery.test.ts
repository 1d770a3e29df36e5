import { describe, expect, it } from "@jest/globals";
import { testServer } from "../builtin/real/testing.ts";
import type { ResourceType } from "../registry.ts";
import { compareVersions } from "./groups.ts";

const AGGREGATED = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json" };

const custom = (version: string, plural = "things"): ResourceType => ({
  group: "example.com",
  version,
  kind: "Thing",
  listKind: "ThingList",
  plural,
  singular: "thing",
  shortNames: ["th"],
  categories: ["all"],
  namespaced: true,
  verbs: ["get", "list"],
  storageKey: `example.com/${plural}`,
  storageVersion: "example.com/v1",
  custom: true,
  subresources: { status: true, scale: { specReplicasPath: ".spec.r", statusReplicasPath: ".status.r" } },
  strategy: {},
});

it("versions come in the order clients prefer them", () => {
  const versions = ["foo10", "v1", "v11alpha2", "v10", "v2", "v3beta1", "foo1", "v12alpha1", "v10beta3", "v11beta2"];
  const preferred = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"];
  expect([...versions].sort(compareVersions)).toEqual(preferred);
});

describe("a kind that comes and goes", () => {
  it("shows in its group, with subresources, and vanishes with it", async () => {
    const s = await testServer();
    expect((await s.call("GET", "/apis/example.com")).status).toBe(404);
    const types = [custom("v1beta1"), custom("v1")];
    s.server.registry.change(types);
    const group = (await s.call("GET", "/apis/example.com")).body;
    expect(group).toMatchObject({
      kind: "APIGroup",
      preferredVersion: { version: "v1" },
      versions: [{ version: "v1" }, { version: "v1beta1" }],
    });
    const { resources } = (await s.call("GET", "/apis/example.com/v1")).body;
    expect(resources.map((r: { name: string }) => r.name)).toEqual(["things", "things/scale", "things/status"]);
    expect(resources[1]).toMatchObject({ group: "autoscaling", version: "v1", kind: "Scale" });
    s.server.registry.change([], types);
    const gone = await s.call("GET", "/apis/example.com/v1");
    expect([gone.status, gone.headers["content-type"], gone.body]).toEqual([404, "text/plain; charset=utf-8", "404 page not found\n"]);
  });

  it("changes the tag of the aggregated document, and nothing else does", async () => {
    const s = await testServer();
    const first = await s.call("GET", "/apis", undefined, AGGREGATED);
    const again = await s.call("GET", "/apis", undefined, { ...AGGREGATED, "if-none-match": first.headers.etag ?? "" });
    expect([first.status, again.status, again.body]).toEqual([200, 304, ""]);
    s.server.registry.change([custom("v1")]);
    const changed = await s.call("GET", "/apis", undefined, { ...AGGREGATED, "if-none-match": first.headers.etag ?? "" });
    expect(changed.status).toBe(200);
    const found = changed.body.items.find((g: { metadata: { name: string } }) => g.metadata.name === "example.com");
    expect(found.versions[0].resources[0]).toMatchObject({
      resource: "things",
      responseKind: { group: "", version: "", kind: "Thing" },
      scope: "Namespaced",
      subresources: [{ subresource: "scale", responseKind: { group: "autoscaling" } }, { subresource: "status" }],
    });
  });
});

describe("forms", () => {
  it.each<[string, string, string, string]>([
    ["/apis", "", "APIGroupList", "application/json"],
    ["/apis", "application/json", "APIGroupList", "application/json"],
    ["/apis", "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/json", "APIGroupList", "application/json"],
    ["/apis", AGGREGATED.accept, "APIGroupDiscoveryList", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"],
    [
      "/api",
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
      "APIGroupDiscoveryList",
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
    ],
    ["/api", "application/json", "APIVersions", "application/json"],
    ["/api/v1", AGGREGATED.accept, "APIResourceList", "application/json"],
  ])("%s for %s is %s", async (path, accept, kind, contentType) => {
    const s = await testServer();
    const answer = await s.call("GET", path, undefined, { accept });
    expect([answer.body.kind, answer.headers["content-type"]]).toEqual([kind, contentType]);
  });

  it("subresources with bodies of their own name them", async () => {
    const s = await testServer();
    const { resources } = (await s.call("GET", "/api/v1")).body;
    const find = (name: string) => resources.find((r: { name: string }) => r.name === name);
    expect(find("pods/eviction")).toEqual({
      name: "pods/eviction",
      singularName: "",
      namespaced: true,
      group: "policy",
      version: "v1",
      kind: "Eviction",
      verbs: ["create"],
    });
    expect(find("serviceaccounts/token")).toBeUndefined(); // nobody signs tokens here
  });
});
