// What runs beside requests, on the clock: garbage collection, emptying of namespaces, default service accounts, expiry of events.
// Here: the list, in the order they start. Not here: CRD conditions (crd/), controllers of workloads (there are none).
import type { BackgroundController } from "../server.ts";
import { eventExpiry } from "./events.ts";
import { followAll } from "./follow.ts";
import { garbageCollector } from "./garbage-collector.ts";
import { namespaceController } from "./namespaces.ts";
import { serviceAccountController } from "./service-accounts.ts";

/** Those that look at objects of every kind share their subscriptions. */
const objectControllers: BackgroundController = (server) => {
  const watchers = [namespaceController(server), garbageCollector(server)];
  const stopFollowing = followAll(server, watchers);
  return () => {
    stopFollowing();
    for (const watcher of watchers) watcher.stop();
  };
};

/** All of them; a server without is as kube-apiserver alone (`--background-controllers=false`). */
export const backgroundControllers: readonly BackgroundController[] = [serviceAccountController, objectControllers, eventExpiry];
