// The service account `default` of each namespace. Absent: the config map kube-root-ca.crt, which nothing here mounts.
import type { ServerContext } from "../context.ts";
import type { ApiObject } from "../object.ts";
import { createWork } from "./work.ts";

const NAME = "default";
const MANAGER = "kube-controller-manager";

/** Makes `default` in new namespaces, and again when somebody deletes it. @returns stop */
export function serviceAccountController(server: ServerContext): () => void {
  const namespaces = server.registry.byKind("", "v1", "Namespace");
  const accounts = server.registry.byKind("", "v1", "ServiceAccount");
  if (!namespaces || !accounts) return () => {};
  const work = createWork(server, "service account controller", async (name) => {
    const namespace = server.objects.get(namespaces, "", name);
    if (!namespace || namespace.metadata.deletionTimestamp !== undefined || server.objects.get(accounts, name, NAME)) return;
    await server.objects.create(accounts, { metadata: { name: NAME, namespace: name } }, { manager: MANAGER });
  });
  const look = (namespace: ApiObject): void => work.add(namespace.metadata.name ?? "");
  const stops = [
    server.objects.watch(namespaces, ({ type, object }) => {
      if (type === "ADDED") look(object);
    }),
    server.objects.watch(accounts, ({ type, object }) => {
      if (type === "DELETED" && object.metadata.name === NAME) work.add(object.metadata.namespace ?? "");
    }),
  ];
  for (const namespace of server.objects.list(namespaces)) look(namespace);
  return () => {
    for (const stop of stops) stop();
    work.stop();
  };
}
