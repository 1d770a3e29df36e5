// All controllers of Cluster API that theseus has, put together. Here: what each is given, the hook client between them.
// Not here: which of them run (cmd/), simulated infrastructure (simulator/).
import { createHookClient } from "../hooks/client.ts";
import { createInPlaceHooks } from "../hooks/inplace.ts";
import { hookMetrics } from "../hooks/metrics.ts";
import { createRegistry } from "../hooks/registry.ts";
import type { HookTransport } from "../hooks/transport.ts";
import type { Clock } from "../runtime/base/clock.ts";
import type { Logger } from "../runtime/base/log.ts";
import type { Pki } from "../runtime/base/pki.ts";
import type { Cache } from "../runtime/cache.ts";
import type { Client } from "../runtime/client.ts";
import type { AnyController } from "../runtime/controller.ts";
import type { FeatureGates } from "../runtime/feature-gates.ts";
import type { MetricsRegistry } from "../runtime/metrics.ts";
import { clusterController } from "./cluster/controller.ts";
import { extensionConfigController, namespaceLabels } from "./extensionconfig/controller.ts";
import { kubeadmConfigController } from "./kubeadmconfig/controller.ts";
import { kubeadmControlPlaneController } from "./kubeadmcontrolplane/controller.ts";
import { machineController } from "./machine/controller.ts";
import { machineDeploymentController } from "./machinedeployment/controller.ts";
import { machineHealthCheckController } from "./machinehealthcheck/controller.ts";
import { machineSetController } from "./machineset/controller.ts";
import { topologyMachineDeploymentController, topologyMachineSetController } from "./topology/cleanup.ts";
import { clusterClassController } from "./topology/class-controller.ts";
import { topologyController } from "./topology/controller.ts";
import type { DefaultVariables } from "./topology/view.ts";
import type { WorkloadClustersControl } from "./workload/clusters.ts";

export interface ControllersParts {
  /** Live, for warm-up of the extension registry. */
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pki: Pki;
  readonly gates: FeatureGates;
  readonly workloadClusters: WorkloadClustersControl;
  readonly hookTransport: HookTransport;
  readonly metrics: MetricsRegistry;
  /** `reader` when another manager discovers extensions (the extensionconfig controller is switched off here); it must run all the same.
   *  Default `writer`. */
  readonly extensionConfigRole?: "writer" | "reader";
  /** Defaults and checks of a Cluster's variables, as admission does them. */
  readonly defaultVariables: DefaultVariables;
  /** The manager's, which exists only after its controllers. */
  readonly cache: () => Cache;
}

export function createControllers(parts: ControllersParts): readonly AnyController[] {
  const { client, clock, log, pki, gates, workloadClusters } = parts;
  const registry = createRegistry();
  const calls = { transport: parts.hookTransport, clock, log, metrics: hookMetrics(parts.metrics) };
  const hookClient = createHookClient({ ...calls, registry, namespaceLabels: namespaceLabels(parts.cache) });
  const hooks = createInPlaceHooks(hookClient, clock);
  return [
    clusterController({ workloadClusters, pki }),
    kubeadmConfigController({ workloadClusters, pki }),
    kubeadmControlPlaneController({ workloadClusters, pki, canUpdate: hooks.canUpdateMachine }),
    machineDeploymentController({ canUpdate: hooks.canUpdateMachineSet }),
    machineHealthCheckController({ workloadClusters }),
    machineSetController(),
    machineController({ workloadClusters, updateMachine: hooks.updateMachine, nowMs: () => clock.nowMs() }),
    ...(gates.enabled("ClusterTopology")
      ? [
          clusterClassController({ hooks: hookClient }),
          topologyController({ hooks: hookClient, clock, defaultVariables: parts.defaultVariables }),
          topologyMachineDeploymentController(),
          topologyMachineSetController(),
        ]
      : []),
    ...(gates.enabled("RuntimeSDK") ? [extensionConfigController({ registry, calls, client, role: parts.extensionConfigRole })] : []),
  ];
}
