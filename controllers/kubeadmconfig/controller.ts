// KubeadmConfig: bootstrap data of one machine, made once. Here: watches, cases in order, status.
// Source: spec/controllers/kubeadmconfig.md.
import { type Cluster, clusterResource } from "../../api/cluster.ts";
import { customResourceDefinitionResource } from "../../api/core/index.ts";
import { bootstrapGroup } from "../../api/groups.ts";
import { type KubeadmConfig, type KubeadmConfigStatus, kubeadmConfigResource } from "../../api/kubeadmconfig.ts";
import { type Machine, machineResource } from "../../api/machine.ts";
import { keyOf, type ObjectKey } from "../../api/meta/resource.ts";
import { fieldManagers } from "../../api/names.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import type { Pki } from "../../runtime/base/pki.ts";
import type { Cache, Change } from "../../runtime/cache.ts";
import { hasStatus, isTrue, setConditions } from "../../runtime/conditions.ts";
import { type Controller, controller, mapped, type ReconcileContext, type Source, type StepOutcome } from "../../runtime/controller.ts";
import { sameJson } from "../../runtime/patch.ts";
import { isPaused, pausedFinding } from "../lifecycle/paused.ts";
import { writeStatus } from "../lifecycle/status.ts";
import { summary } from "../summary/summary.ts";
import type { WorkloadClusters } from "../workload/seam.ts";
import { adoptSecret, markCreated, notAvailable } from "./data.ts";
import { beforeControlPlane } from "./init.ts";
import { join, keepToken } from "./join.ts";
import { TOKEN_TTL_MS } from "./tokens.ts";
import { caseOf, type ConfigView, loadConfig } from "./view.ts";

export interface KubeadmConfigControllerOptions {
  readonly workloadClusters: WorkloadClusters;
  readonly pki: Pki;
  /** Life of bootstrap tokens, default 15 min. */
  readonly tokenTtlMs?: number;
}

export function kubeadmConfigController(options: KubeadmConfigControllerOptions): Controller<KubeadmConfig> {
  const { workloadClusters, pki } = options;
  const tools = { workloadClusters, tokenTtlMs: options.tokenTtlMs ?? TOKEN_TTL_MS };

  const bootstrap = async (view: ConfigView, context: ReconcileContext): Promise<StepOutcome> => {
    switch (caseOf(view)) {
      case "waitForInfrastructure":
        view.findings = [notAvailable("Waiting for Cluster status.initialization.infrastructureProvisioned to be true")];
        return undefined;
      case "restore":
        return markCreated(view, view.machine.spec.bootstrap.dataSecretName ?? "");
      case "done":
        view.findings = [isTrue("DataSecretAvailable", "Available"), isTrue("CertificatesAvailable", "Available")];
        return keepToken(view, tools);
      case "beforeControlPlane":
        return beforeControlPlane(view, pki, context);
      case "joinControlPlane":
      case "joinWorker":
        return join(view, tools, context);
    }
  };
  return controller<KubeadmConfig, ConfigView>(kubeadmConfigResource, {
    fieldManager: fieldManagers.default,
    eventSource: "kubeadmconfig-controller",
    watches: [
      mapped(machineResource, configOfMachine, matters),
      mapped(clusterResource, (c, { cache }) => configsOfCluster(cache, keyOf(c)), opens),
    ],
    sources: [workloadSource(workloadClusters)],
    reads: [customResourceDefinitionResource],
    load: async (config, context) => {
      const view = loadConfig(config, context);
      return view && (await goesOn(view, context)) ? view : undefined;
    },
    whenLive: [adoptStep, failing(bootstrap)],
    finally: (view, context) => (view.config.metadata.deletionTimestamp ? undefined : writeConfigStatus(view, context)),
  });
}

/** The data Secret belongs to the config; asked only while that can still be missing. */
const adoptStep = async ({ config }: ConfigView, context: ReconcileContext): Promise<void> => {
  if (config.status?.initialization?.dataSecretCreated !== true) await adoptSecret(config, context);
};

/** Remembers a failure for the status, and lets it through. */
const failing =
  (step: (view: ConfigView, context: ReconcileContext) => Promise<StepOutcome>) =>
  async (view: ConfigView, context: ReconcileContext): Promise<StepOutcome> => {
    try {
      return await step(view, context);
    } catch (e) {
      view.failed = true;
      throw e;
    }
  };

/** Tells whether the config is paused. @returns false when it is, or is being deleted */
async function goesOn({ config, cluster }: ConfigView, { client, clock }: ReconcileContext): Promise<boolean> {
  if (config.metadata.deletionTimestamp) return false;
  const paused = isPaused(cluster, config);
  if (paused) {
    await writeStatus(client, kubeadmConfigResource, config, (newest) => ({
      ...newest.status,
      conditions: setConditions(
        newest.status?.conditions,
        [pausedFinding(cluster, newest)],
        timestamp(clock.nowMs()),
        newest.metadata.generation,
      ),
    }));
  }
  return !paused;
}

const readyParts = [{ type: "DataSecretAvailable" }, { type: "CertificatesAvailable", optional: true }];

export function configStatus(view: ConfigView, newest: KubeadmConfig): KubeadmConfigStatus {
  const now = timestamp(view.nowMs);
  const { generation } = view.config.metadata;
  const first = setConditions(newest.status?.conditions, [pausedFinding(view.cluster, newest), ...view.findings], now, generation);
  const ready = summary("Ready", readyParts, first, { good: "Ready", bad: "NotReady", unknown: "ReadyUnknown" });
  return {
    ...newest.status,
    ...view.status,
    conditions: setConditions(first, [ready], now, generation),
    ...(view.failed || generation === undefined ? {} : { observedGeneration: generation }),
  };
}

async function writeConfigStatus(view: ConfigView, { client }: ReconcileContext): Promise<void> {
  await writeStatus(client, kubeadmConfigResource, view.config, (newest) => configStatus(view, newest));
}

const configOfMachine = ({ metadata, spec }: Machine): readonly ObjectKey[] => {
  const ref = spec.bootstrap.configRef;
  if (!ref || ref.apiGroup !== bootstrapGroup || ref.kind !== kubeadmConfigResource.kind) return [];
  return [{ namespace: metadata.namespace ?? "", name: ref.name }];
};

/** Of a Machine only its spec, its labels and its first Node matter here. */
const matters = (change: Change<Machine>): boolean =>
  change.type !== "updated" ||
  !sameJson(change.object.spec, change.old.spec) ||
  !sameJson(change.object.metadata.labels, change.old.metadata.labels) ||
  (change.object.status?.nodeRef === undefined) !== (change.old.status?.nodeRef === undefined);

/** The Cluster was paused or goes on, its infrastructure is there, or its control plane answers. */
const opens = (change: Change<Cluster>): boolean => {
  if (change.type !== "updated") return change.type === "added";
  const state = (c: Cluster): readonly unknown[] => [
    c.spec.paused === true,
    c.status?.initialization?.infrastructureProvisioned === true,
    hasStatus(c.status?.conditions, "ControlPlaneInitialized", "True"),
  ];
  return !sameJson(state(change.object), state(change.old));
};

const configsOfCluster = (cache: Cache, cluster: ObjectKey): readonly ObjectKey[] =>
  cache.ofCluster(machineResource, cluster).flatMap(configOfMachine);

const workloadSource =
  (workloadClusters: WorkloadClusters): Source =>
  (enqueue, { cache }) =>
    workloadClusters.onEvent((event) => {
      if (event.type === "connected") configsOfCluster(cache, event.cluster).forEach(enqueue);
    });
