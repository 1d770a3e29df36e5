// Values that patches see: the Cluster's variables by who defines them, overrides, and what every patch is told (`builtin`). Pure.
// Not here: patches (patches.ts), defaults and validation of values (admission). Source: spec/controllers/topology.md sections 7.2 and 7.3.
import type { MachineDeploymentTopology } from "../../api/cluster-topology.ts";
import type { ClusterClass } from "../../api/clusterclass.ts";
import type { Json } from "../../api/meta/object.ts";
import { conversionDataAnnotation, lastAppliedConfigAnnotation } from "../../api/names.ts";
import type { ClusterVariable, TemplateMeta } from "../../api/shared.ts";
import { isMap } from "../../schema/json-values.ts";
import { TemplateFault } from "../../schema/go-template/tokens.ts";
import { someOf, type StringMap } from "./fields.ts";
import type { TopologyView } from "./view.ts";

export type Variables = Readonly<Record<string, Json>>;

/** Who defines the variables that a patch sees: `inline`, or the patch itself. */
export type Definer = string;

/** Variables of the list that `definer` defines. */
export function definedBy(
  clusterClass: ClusterClass,
  definer: Definer,
  values: readonly ClusterVariable[] | undefined,
): readonly ClusterVariable[] {
  const names = new Set(
    (clusterClass.status?.variables ?? []).filter((v) => v.definitions.some((d) => d.from === definer)).map((v) => v.name),
  );
  return (values ?? []).filter((v) => names.has(v.name));
}

export const withoutNoise = (annotations: StringMap | undefined): StringMap | undefined => {
  const { [lastAppliedConfigAnnotation]: _applied, [conversionDataAnnotation]: _conversion, ...rest } = annotations ?? {};
  return Object.keys(rest).length > 0 ? rest : undefined;
};

const metadataOf = (metadata: TemplateMeta | undefined): object | undefined =>
  someOf({ labels: filled(metadata?.labels), annotations: withoutNoise(metadata?.annotations) });
const filled = (map: StringMap | undefined): StringMap | undefined => (map && Object.keys(map).length > 0 ? map : undefined);

/** Told to all templates. */
export function clusterBuiltin({ cluster, topology }: Pick<TopologyView, "cluster" | "topology">): object {
  const { name, namespace, uid, labels, annotations } = cluster.metadata;
  const classNamespace = topology.classRef.namespace ?? namespace;
  const network = cluster.spec.clusterNetwork;
  return {
    cluster: {
      name,
      namespace,
      uid,
      ...someOf({ metadata: metadataOf({ labels, annotations }) }),
      topology: {
        version: topology.version,
        classRef: { name: topology.classRef.name, namespace: classNamespace },
        class: topology.classRef.name,
        classNamespace,
      },
      ...someOf({
        network: someOf({
          serviceDomain: network?.serviceDomain,
          services: network?.services?.cidrBlocks,
          pods: network?.pods?.cidrBlocks,
        }),
      }),
    },
  };
}

export interface ControlPlaneNames {
  readonly name: string;
  readonly version: string;
  readonly machineTemplate?: string;
}

/** Told to the templates of the control plane. */
export function controlPlaneBuiltin({ topology }: Pick<TopologyView, "topology">, names: ControlPlaneNames): object {
  return {
    controlPlane: {
      name: names.name,
      version: names.version,
      ...someOf({
        replicas: topology.controlPlane?.replicas,
        metadata: metadataOf(topology.controlPlane?.metadata),
        machineTemplate: names.machineTemplate === undefined ? undefined : { infrastructureRef: { name: names.machineTemplate } },
      }),
    },
  };
}

export interface WorkersNames {
  readonly name: string;
  readonly version: string;
  readonly bootstrap: string;
  readonly infrastructure: string;
}

/** Told to the templates of a MachineDeployment. */
export function workersBuiltin(topology: MachineDeploymentTopology, names: WorkersNames): object {
  return {
    machineDeployment: {
      class: topology.class,
      name: names.name,
      topologyName: topology.name,
      version: names.version,
      ...someOf({ replicas: topology.replicas, metadata: metadataOf(topology.metadata) }),
      bootstrap: { configRef: { name: names.bootstrap } },
      infrastructureRef: { name: names.infrastructure },
    },
  };
}

/** Item variables win over those of the Cluster; `builtin` is merged deep. */
export function mergedVariables(cluster: readonly ClusterVariable[], item: readonly ClusterVariable[]): Variables {
  const merged: Record<string, Json> = {};
  for (const { name, value } of cluster) merged[name] = value;
  for (const { name, value } of item) {
    const known = merged[name];
    merged[name] = name === "builtin" && isMap(known) && isMap(value) ? ({ ...known, ...value } as Json) : value;
  }
  return merged;
}

/** The value at a path such as `a.b[0].c`. @throws TemplateFault when there is none */
export function variableAt(variables: Variables, path: string): Json {
  let value: unknown = variables;
  for (const part of path.match(/[^.[\]]+|\[\d+\]/g) ?? []) {
    if (part.startsWith("[")) value = Array.isArray(value) ? value[Number(part.slice(1, -1))] : undefined;
    else value = isMap(value) && Object.hasOwn(value, part) ? value[part] : undefined;
    if (value === undefined) throw new TemplateFault(`variable ${path} has no value`);
  }
  return value as Json;
}
