// Nodes of simulated clusters take status together with the object, as the API servers of upstream's in-memory clusters do: there a test's
// updater writes a new kubelet version with one merge patch of the Node. Not here: the API server, which keeps both apart as Kubernetes does.
import type { ApiRequest, Transport } from "../../api/meta/transport.ts";

const NODE = /^\/api\/v1\/nodes\/[^/]+$/;
const PATCHES: readonly string[] = ["application/merge-patch+json", "application/strategic-merge-patch+json"];

export const nodeStatusWithObject =
  (handle: Transport): Transport =>
  async (request) => {
    const answer = await handle(request);
    const status = answer.status < 300 && isNodePatch(request) ? statusIn(request.body) : undefined;
    return status === undefined ? answer : handle({ ...request, path: `${request.path}/status`, body: { status } });
  };

const isNodePatch = ({ method, path, headers }: ApiRequest): boolean =>
  method === "PATCH" && NODE.test(path) && PATCHES.includes(headers["content-type"]?.split(";")[0] ?? "");

function statusIn(body: ApiRequest["body"]): unknown {
  const patch: unknown = body instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(body)) : body;
  return (patch as { readonly status?: unknown } | undefined)?.status;
}
