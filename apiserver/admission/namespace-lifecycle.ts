// Writes need their namespace: nothing is created in one that is absent or being deleted, and some may not be deleted.
// Here: the plugin. Not here: emptying a namespace under deletion (background/).
// Source: Kubernetes' NamespaceLifecycle admission plugin.
import type { AdmissionAttributes, AdmissionPlugin } from "../admission-seam.ts";
import type { ServerContext } from "../context.ts";
import { ApiError, forbidden, notFound } from "../errors.ts";

const IMMORTAL: ReadonlySet<string> = new Set(["default", "kube-public", "kube-system"]);
const NAMESPACE = { group: "", plural: "namespaces", kind: "Namespace" };

export function namespaceLifecycle(server: ServerContext): AdmissionPlugin {
  const check = (attributes: AdmissionAttributes): void => {
    const { type, operation, namespace, name, subresource } = attributes;
    if (type.group === "" && type.plural === "namespaces") {
      if (operation === "DELETE" && subresource === "" && IMMORTAL.has(name)) {
        throw forbidden(NAMESPACE, name, "this namespace may not be deleted");
      }
      return;
    }
    if (!type.namespaced || namespace === "" || operation === "DELETE" || type.virtual !== undefined) return;
    checkNamespace(server, attributes);
  };
  return {
    name: "NamespaceLifecycle",
    mutate(attributes) {
      check(attributes);
      return undefined;
    },
  };
}

function checkNamespace(server: ServerContext, { type, operation, namespace, name }: AdmissionAttributes): void {
  const namespaces = server.registry.byKind("", "v1", "Namespace");
  if (namespaces === undefined) return;
  const found = server.objects.get(namespaces, "", namespace);
  if (found === undefined) throw notFound(NAMESPACE, namespace);
  if (operation !== "CREATE" || found.metadata.deletionTimestamp === undefined) return;
  throw terminating(
    forbidden(type, name, `unable to create new content in namespace ${namespace} because it is being terminated`),
    namespace,
  );
}

/** The cause lets clients tell this refusal from one of authorization. */
const terminating = ({ status }: ApiError, namespace: string): ApiError =>
  new ApiError({
    ...status,
    details: {
      ...status.details,
      causes: [{ reason: "NamespaceTerminating", message: `namespace ${namespace} is being terminated`, field: "metadata.namespace" }],
    },
  });
