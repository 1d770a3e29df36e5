// Objects that every server has from the start. Here: the system namespaces, and creating what is missing.
// Not here: RBAC's roles (auth/), the objects of users.
import type { ServerContext } from "./context.ts";
import type { ApiObject } from "./object.ts";

const SYSTEM_NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];

export const systemNamespaces = (): readonly ApiObject[] =>
  SYSTEM_NAMESPACES.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));

/** Creates those objects that do not exist, in order; kinds that are not served are left out. */
export async function ensureObjects(server: ServerContext, objects: readonly ApiObject[]): Promise<void> {
  for (const object of objects) {
    const slash = object.apiVersion.indexOf("/");
    const [group, version] = slash < 0 ? ["", object.apiVersion] : [object.apiVersion.slice(0, slash), object.apiVersion.slice(slash + 1)];
    const type = server.registry.byKind(group, version, object.kind);
    if (!type) continue;
    const { namespace = "", name = "" } = object.metadata;
    if (!server.objects.get(type, namespace, name)) await server.objects.create(type, object);
  }
}
