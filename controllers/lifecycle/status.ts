// Writing status. Here: a status computed for the newest version of an object, so that conditions of other writers survive.
// Not here: what a kind's status says (its conditions.ts). Source: spec/controllers/machinedeployment.md section 0.3.
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf, type Resource } from "../../api/meta/resource.ts";
import { isConflict, isNotFound } from "../../api/meta/status.ts";
import type { Client } from "../../runtime/client.ts";
import { patchStatus } from "../../runtime/patch.ts";

/** Writers that meet again and again are a fault; the next run tries anew. */
const CONFLICTS_MAX = 5;

/** Writes the difference between the status of `object` and what `next` makes of it. Somebody else's write in between is read and kept:
 *  `next` is asked again with the newest object. Only status is written, never metadata or spec.
 *  @returns the object as stored; an object that is gone is returned as it was */
export async function writeStatus<K extends KubeObject>(
  client: Client,
  resource: Resource<K>,
  object: K,
  next: (newest: K) => object,
): Promise<K> {
  let newest = object;
  for (let attempt = 1; ; attempt++) {
    try {
      return await patchStatus(client, resource, newest, next(newest), { onlyIfUnchanged: true });
    } catch (e) {
      if (isNotFound(e)) return newest;
      if (!isConflict(e) || attempt === CONFLICTS_MAX) throw e;
    }
    try {
      newest = await client.get(resource, keyOf(object));
    } catch (e) {
      if (isNotFound(e)) return newest;
      throw e;
    }
  }
}
