// Facts about versions, taken from objects: what is provisioning, upgrading, held back. Here: pure functions over a view.
// Not here: what follows (versions.ts). Source: spec/controllers/topology.md sections 4.2, 8 and 8.3.
import type { Machine } from "../../api/machine.ts";
import {
  beforeClusterUpgradeHookAnnotationPrefix,
  clusterTopologyDeferUpgradeAnnotation,
  clusterTopologyHoldUpgradeSequenceAnnotation,
  clusterTopologyUpgradeConcurrencyAnnotation,
  pendingHooksAnnotation,
  updateInProgressAnnotation,
} from "../../api/names.ts";
import { listAt, textAt } from "../contract/contract.ts";
import { compareVersions } from "../rollout/versions.ts";
import { versionOf } from "./load.ts";
import { lowestVersion, type PlanQuestion, type UpgradePlan } from "./upgrade-plan.ts";
import type { PoolFacts, VersionFacts } from "./versions.ts";
import { type CurrentWorkers, deploymentsOf, type TopologyView } from "./view.ts";

export const pendingHooksOf = ({ cluster }: Pick<TopologyView, "cluster">): readonly string[] =>
  (cluster.metadata.annotations?.[pendingHooksAnnotation] ?? "")
    .split(",")
    .map((h) => h.trim())
    .filter((h) => h !== "");

/** While an upgrade of the cluster is under way, updates in place are part of it, and it goes on only when they are done. */
const isChanging = (machine: Machine, version: string, duringUpgrade: boolean): boolean => {
  const kubelet = machine.status?.nodeInfo?.kubeletVersion;
  if (machine.spec.version !== version || (kubelet !== undefined && kubelet !== version)) return true;
  const { annotations } = machine.metadata;
  return duringUpgrade && (annotations?.[updateInProgressAnnotation] !== undefined || annotations?.[pendingHooksAnnotation] !== undefined);
};

function controlPlaneFacts(view: TopologyView): VersionFacts["controlPlane"] {
  const { controlPlane, controlPlaneNodes } = view.current;
  if (!controlPlane) return undefined;
  const version = versionOf(controlPlane.object);
  const versions = listAt(controlPlane.object, "status.versions").map((v) => textAt(v, "version") ?? "");
  const single = textAt(controlPlane.object, "status.version");
  const reported = versions.length > 0 ? versions : single === undefined ? [] : [single];
  const duringUpgrade = pendingHooksOf(view).includes("AfterClusterUpgrade");
  const changing = duringUpgrade && controlPlaneNodes.some((m) => isChanging(m, version, true));
  return {
    version,
    provisioning: reported.length === 0,
    upgrading: reported.some((v) => compareVersions(v, version) < 0) || changing,
  };
}

function poolFacts(view: TopologyView): readonly PoolFacts[] {
  const duringUpgrade = pendingHooksOf(view).includes("AfterClusterUpgrade");
  return deploymentsOf(view.topology).map((topology) => {
    const current = view.current.workers.get(topology.name);
    const annotations = topology.metadata?.annotations;
    return {
      name: topology.name,
      version: current?.object.spec.template.spec.version,
      upgrading: current !== undefined && isUpgrading(current, duringUpgrade),
      defers: annotations?.[clusterTopologyDeferUpgradeAnnotation] !== undefined,
      holds: annotations?.[clusterTopologyHoldUpgradeSequenceAnnotation] !== undefined,
    };
  });
}

const isUpgrading = ({ object, machines }: CurrentWorkers, duringUpgrade: boolean): boolean =>
  machines.some((m) => isChanging(m, object.spec.template.spec.version ?? "", duringUpgrade));

export function planQuestion(view: TopologyView): PlanQuestion {
  const { controlPlane, workers } = view.current;
  const version = controlPlane && versionOf(controlPlane.object);
  const names = deploymentsOf(view.topology).map((t) => t.name);
  const versions = names.flatMap((name) => workers.get(name)?.object.spec.template.spec.version ?? []);
  return {
    target: view.topology.version,
    controlPlane: version,
    workers: lowestVersion(versions, version),
    kubernetesVersions: view.blueprint.clusterClass.spec.kubernetesVersions,
  };
}

export function versionFacts(view: TopologyView, plan: UpgradePlan, asksHooks: boolean): VersionFacts {
  const annotations = view.cluster.metadata.annotations ?? {};
  const concurrency = Number(annotations[clusterTopologyUpgradeConcurrencyAnnotation] ?? 1);
  return {
    target: view.topology.version,
    controlPlane: controlPlaneFacts(view),
    pools: poolFacts(view),
    plan,
    pendingHooks: pendingHooksOf(view),
    gateAnnotations: Object.keys(annotations).filter((key) => key.startsWith(beforeClusterUpgradeHookAnnotationPrefix)),
    asksHooks,
    concurrency: Number.isInteger(concurrency) && concurrency >= 1 ? concurrency : 1,
  };
}
