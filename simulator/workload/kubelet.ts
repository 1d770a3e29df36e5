// What kubelets do about Pods that are to go: let them end, and take them out of the API. Without them an evicted Pod would stay for ever.
// Here: one watch for all kubelets of a cluster. Not here: Nodes and static Pods (cluster.ts).
import type { KubeObject } from "../../api/meta/object.ts";
import { keyOf, keyText, type Resource, resource } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import type { Cancel, Clock } from "../../runtime/base/clock.ts";
import type { Logger } from "../../runtime/base/log.ts";
import type { Client, WatchHandle } from "../../runtime/client.ts";

const PODS: Resource = resource("", "v1", "Pod", "pods");
/** How long a Pod takes to end, milliseconds. */
const TERMINATION_MS = 200;
/** Between the end of a watch and the next one, milliseconds. */
const REOPEN_MS = 100;

export interface KubeletParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** A Pod is gone: its owner may want another. */
  readonly onGone: (pod: KubeObject) => void;
}

/** @returns stop */
export function startKubelets({ client, clock, log, onGone }: KubeletParts): () => void {
  const ending = new Map<string, Cancel>();
  let handle: WatchHandle | undefined;
  let stopped = false;

  const end = (pod: KubeObject): void => {
    const { uid = "", deletionTimestamp } = pod.metadata;
    if (deletionTimestamp === undefined || ending.has(uid)) return;
    ending.set(
      uid,
      clock.after(TERMINATION_MS, () => void remove(pod)),
    );
  };
  const remove = async (pod: KubeObject): Promise<void> => {
    try {
      await client.delete(PODS, keyOf(pod), { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } });
    } catch (e) {
      if (!isNotFound(e)) log.warn("a Pod did not end", { pod: keyText(keyOf(pod)), error: e instanceof Error ? e.message : String(e) });
    }
  };

  const open = async (): Promise<void> => {
    const opened = await client.watch(
      PODS,
      { sendInitialEvents: true, allowWatchBookmarks: true },
      {
        event({ type, object }) {
          if (type === "ADDED" || type === "MODIFIED") end(object);
          if (type === "DELETED") {
            ending.delete(object.metadata.uid ?? "");
            if (!stopped) onGone(object);
          }
        },
        // A server ends every watch after a while.
        end: () => void (stopped || clock.after(REOPEN_MS, reopen)),
      },
    );
    handle = opened;
    if (stopped) opened.close();
  };
  const reopen = (): void => {
    if (stopped) return;
    open().catch((e: unknown) => {
      log.error("the simulated kubelets lost their watch", { error: String(e) });
      clock.after(REOPEN_MS, reopen);
    });
  };
  reopen();

  return () => {
    stopped = true;
    handle?.close();
    for (const cancel of ending.values()) cancel();
  };
}
