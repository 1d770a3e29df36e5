// What a topology sets on a control plane over its template, whatever patches did there. Pure. Here: fields by contract version.
// Source: spec/controllers/topology.md sections 7.1 and 7.2.
import type { ContractRef } from "../contract/contract.ts";
import { infrastructureRefPath, mapAt, propagated, someOf, type StringMap } from "./fields.ts";
import type { TopologyView } from "./view.ts";

/** Labels and annotations of the control plane and its machines: the Cluster's over the class's. */
export function templateMetadata({ topology, blueprint }: Pick<TopologyView, "topology" | "blueprint">): {
  readonly labels: StringMap;
  readonly annotations: StringMap;
} {
  const [own, ofClass] = [topology.controlPlane?.metadata, blueprint.clusterClass.spec.controlPlane.metadata];
  return { labels: { ...ofClass?.labels, ...own?.labels }, annotations: { ...ofClass?.annotations, ...own?.annotations } };
}

/** Values by path; those that are undefined are left to the template. */
export function controlPlaneSettings(
  view: TopologyView,
  version: string,
  labels: StringMap,
  machines: ContractRef | undefined,
): Readonly<Record<string, unknown>> {
  const { topology, blueprint } = view;
  const ofClass = blueprint.clusterClass.spec.controlPlane;
  const own = topology.controlPlane;
  const v1beta1 = blueprint.controlPlane.contract === "v1beta1";
  return {
    "spec.version": version,
    "spec.replicas": own?.replicas,
    [v1beta1 ? "spec.rolloutAfter" : "spec.rollout.after"]: own?.rollout?.after,
    ...(machines
      ? {
          "spec.machineTemplate.metadata": machineMetadata(view, labels),
          [infrastructureRefPath(blueprint.controlPlane.contract)]: v1beta1 ? olderRef(view, machines) : machines,
          ...(v1beta1
            ? { "spec.machineTemplate.readinessGates": own?.readinessGates ?? ofClass.readinessGates }
            : {
                "spec.machineTemplate.spec.readinessGates": own?.readinessGates ?? ofClass.readinessGates,
                "spec.machineTemplate.spec.taints": own?.taints ?? ofClass.taints,
              }),
          ...timeouts(view, v1beta1),
        }
      : {}),
  };
}

function machineMetadata(view: TopologyView, labels: StringMap): object {
  const template = view.blueprint.controlPlane.object;
  const base = "spec.template.spec.machineTemplate.metadata";
  const metadata = templateMetadata(view);
  const annotations = propagated({ ...mapAt(template, `${base}.annotations`), ...metadata.annotations });
  return {
    labels: { ...mapAt(template, `${base}.labels`), ...metadata.labels, ...labels },
    ...someOf({ annotations: Object.keys(annotations).length > 0 ? annotations : undefined }),
  };
}

const TIMEOUTS = [
  ["nodeDrainTimeoutSeconds", "nodeDrainTimeout"],
  ["nodeVolumeDetachTimeoutSeconds", "nodeVolumeDetachTimeout"],
  ["nodeDeletionTimeoutSeconds", "nodeDeletionTimeout"],
] as const;

/** Seconds, or durations for the older contract. */
function timeouts({ topology, blueprint }: TopologyView, v1beta1: boolean): Readonly<Record<string, unknown>> {
  const [own, ofClass] = [topology.controlPlane?.deletion, blueprint.clusterClass.spec.controlPlane.deletion];
  return Object.fromEntries(
    TIMEOUTS.map(([name, older]) => {
      const seconds = own?.[name] ?? ofClass?.[name];
      return v1beta1
        ? [`spec.machineTemplate.${older}`, seconds === undefined ? undefined : `${seconds}s`]
        : [`spec.machineTemplate.spec.deletion.${name}`, seconds];
    }),
  );
}

const olderRef = (view: TopologyView, { kind, name }: ContractRef): object => ({
  apiVersion: view.blueprint.controlPlaneMachines?.apiVersion,
  kind,
  name,
  namespace: view.cluster.metadata.namespace,
});
