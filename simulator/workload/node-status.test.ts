import { expect, it } from "@jest/globals";
import type { ApiRequest, Transport } from "../../api/meta/transport.ts";
import { nodeStatusWithObject } from "./node-status.ts";

const patch = { status: { nodeInfo: { kubeletVersion: "v1.35.0" } }, metadata: { labels: { a: "b" } } };
const request = (change: Partial<ApiRequest> = {}): ApiRequest => ({
  method: "PATCH",
  path: "/api/v1/nodes/n",
  query: "fieldManager=x",
  headers: { "content-type": "application/merge-patch+json" },
  body: patch,
  ...change,
});
const rows: readonly (readonly [string, Partial<ApiRequest>, readonly string[]])[] = [
  ["a merge patch of a Node", {}, ["/api/v1/nodes/n", "/api/v1/nodes/n/status"]],
  ["as bytes", { body: new TextEncoder().encode(JSON.stringify(patch)) }, ["/api/v1/nodes/n", "/api/v1/nodes/n/status"]],
  ["without status", { body: { metadata: {} } }, ["/api/v1/nodes/n"]],
  ["of the status itself", { path: "/api/v1/nodes/n/status" }, ["/api/v1/nodes/n/status"]],
  ["of a Pod", { path: "/api/v1/namespaces/d/pods/n" }, ["/api/v1/namespaces/d/pods/n"]],
  ["an update", { method: "PUT", headers: { "content-type": "application/json" } }, ["/api/v1/nodes/n"]],
];

it.each(rows)("%s", async (_what, change, paths) => {
  const seen: ApiRequest[] = [];
  const handle: Transport = async (r) => {
    seen.push(r);
    return { kind: "object", status: 200, headers: {}, object: {} };
  };
  await nodeStatusWithObject(handle)(request(change));
  expect(seen.map((r) => r.path)).toEqual(paths);
  if (paths.length === 2) expect(seen[1]).toMatchObject({ query: "fieldManager=x", body: { status: patch.status } });
});

it("leaves a refusal as it is", async () => {
  const paths: string[] = [];
  const handle: Transport = async (r) => {
    paths.push(r.path);
    return { kind: "object", status: 404, headers: {}, object: {} };
  };
  expect((await nodeStatusWithObject(handle)(request())).status).toBe(404);
  expect(paths).toEqual(["/api/v1/nodes/n"]);
});
