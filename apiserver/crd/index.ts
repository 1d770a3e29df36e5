// CustomResourceDefinitions: the folder's public surface.
import type { ServerContext } from "../context.ts";
import { type ApiObject, sameJson } from "../object.ts";
import { crdControllerOf, startCrdController } from "./controller.ts";
import { CRD } from "./definition.ts";

export { crdStrategy } from "./strategy.ts";

/** For the list of background controllers; belongs to every server, also to one without other controllers. */
export const crdController = (server: ServerContext): (() => void) => startCrdController(server).stop;

/**
 * Creates those CRDs, or brings existing ones to these specs. They are served when this settles, provided that the server has started.
 * Throws what the server says of a CRD that it refuses.
 */
export async function ensureCrds(server: ServerContext, crds: readonly ApiObject[]): Promise<void> {
  const type = server.registry.byKind(CRD.group, CRD.version, CRD.kind);
  if (!type) return;
  for (const crd of crds) {
    const name = crd.metadata.name ?? "";
    const change = (old: ApiObject): ApiObject => (sameJson(old.spec, crd.spec) ? old : { ...old, spec: crd.spec });
    const updated = await server.objects.update(type, "", name, change);
    if (!updated) await server.objects.create(type, crd);
  }
  await crdControllerOf(server)?.settled();
}
