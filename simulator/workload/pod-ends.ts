// Pods that somebody asked to end: there is no kubelet, so somebody must let them go, or a drain would never be over.
// Here: a background controller of a workload cluster's API. Not here: which Pods should be (addons.ts).
import type { ServerContext } from "../../apiserver/context.ts";
import type { ApiObject } from "../../apiserver/object.ts";

/** How long the containers of a simulated Pod take to stop, milliseconds; less when the grace period is shorter. */
const STOP_MS = 1_000;

/** @returns stop */
export function endPods(server: ServerContext): () => void {
  const type = server.registry.byKind("", "v1", "Pod");
  if (!type) return () => {};
  const ending = new Map<string, () => void>();
  const end = async ({ metadata }: ApiObject): Promise<void> => {
    const { namespace = "", name = "", uid = "" } = metadata;
    ending.delete(uid);
    try {
      await server.objects.delete(type, namespace, name, { uid, gracePeriodSeconds: 0 });
    } catch (error) {
      server.log.debug("a Pod ended before its time", { pod: `${namespace}/${name}`, error: String(error) });
    }
  };
  const look = (pod: ApiObject): void => {
    const { uid = "", deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
    if (deletionTimestamp === undefined || ending.has(uid)) return;
    const delayMs = Math.min(STOP_MS, deletionGracePeriodSeconds * 1_000);
    ending.set(
      uid,
      server.clock.after(delayMs, () => void end(pod)),
    );
  };
  const stopWatching = server.objects.watch(type, (change) => {
    if (change.type !== "DELETED") look(change.object);
  });
  for (const pod of server.objects.list(type)) look(pod);
  return () => {
    stopWatching();
    for (const cancel of ending.values()) cancel();
    ending.clear();
  };
}
