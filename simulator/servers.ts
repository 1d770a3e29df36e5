// API servers of a simulation and of `theseus dev`, in process. Here: the management server and one per workload cluster over one store.
// Not here: sockets (real/, apiserver/real), what runs against them (world.ts).
import type { ObjectKey } from "../api/meta/resource.ts";
import type { AdmissionPlugin } from "../apiserver/admission-seam.ts";
import type { ServerContext } from "../apiserver/context.ts";
import { standardServer } from "../apiserver/standard.ts";
import type { ApiServer } from "../apiserver/server.ts";
import type { Store } from "../apiserver/store/store.ts";
import type { Clock } from "../runtime/base/clock.ts";
import type { Logger } from "../runtime/base/log.ts";
import type { Random } from "../runtime/base/random.ts";
import type { WorkloadApi } from "./workload/clusters.ts";
import { nodeStatusWithObject } from "./workload/node-status.ts";

export interface ServersParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly store: Store;
  readonly admission?: (server: ServerContext) => readonly AdmissionPlugin[];
}

export const managementServer = (parts: ServersParts): ApiServer => standardServer(parts);

/** Objects of a workload cluster lie in the same store, under a prefix that no management object has. */
export const workloadPrefix = ({ namespace, name }: ObjectKey): string => `workload|${namespace}/${name}|`;

export function openWorkloadApi(parts: Omit<ServersParts, "admission">): (cluster: ObjectKey) => WorkloadApi {
  return (cluster) => {
    const server = standardServer({ ...parts, keyPrefix: workloadPrefix(cluster) });
    void server.start();
    return { handle: nodeStatusWithObject(server.handle), stop: () => server.stop() };
  };
}
