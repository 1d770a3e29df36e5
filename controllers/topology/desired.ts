// What a topology shall consist of: templates of the class, patched, with names, labels and what the Cluster says. Here: items for patches, then objects.
// Pure but for chance in names. Not here: which versions (versions.ts), writing (apply.ts). Source: spec/controllers/topology.md section 7.
import { clusterResource, type Cluster } from "../../api/cluster.ts";
import type { MachineDeploymentTopology } from "../../api/cluster-topology.ts";
import type { MachineDeployment } from "../../api/machinedeployment.ts";
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import type { MachineHealthCheck } from "../../api/machinehealthcheck.ts";
import { apiVersionOf } from "../../api/meta/resource.ts";
import type { OwnerReference } from "../../api/meta/object.ts";
import {
  clusterNameLabel,
  clusterTopologyMachineDeploymentNameLabel,
  clusterTopologyOwnedLabel,
  templateClonedFromGroupKindAnnotation,
  templateClonedFromNameAnnotation,
} from "../../api/names.ts";
import { type Random, uuid } from "../../runtime/base/random.ts";
import { at, type ContractRef, type Unstructured } from "../contract/contract.ts";
import { nameFromTemplate, withRandomSuffix } from "../naming/names.ts";
import { referenceTo } from "../ownership/owners.ts";
import { controlPlaneSettings, templateMetadata } from "./control-plane.ts";
import { infrastructureRefPath, mapAt, propagated, specOf, type StringMap, withField, withFields } from "./fields.ts";
import { controlPlaneHealthCheck, workersHealthCheck } from "./healthcheck.ts";
import type { PatchItem } from "./patches.ts";
import { controlPlaneBuiltin, workersBuiltin } from "./variables.ts";
import type { PoolDecision, VersionDecision } from "./versions.ts";
import { type ClassTemplate, deploymentsOf, type Stored, TopologyFault, type TopologyView, type WorkersBlueprint } from "./view.ts";
import { workersSpec } from "./workers.ts";

/** A template of this Cluster: the object, and how another version of it would be named. */
export interface DesiredTemplate {
  readonly template: ClassTemplate;
  readonly object: Unstructured;
  readonly current?: Stored;
  readonly namePrefix: string;
}

export interface DesiredWorkers {
  readonly topology: MachineDeploymentTopology;
  readonly decision: PoolDecision;
  readonly object: MachineDeployment;
  readonly bootstrap: DesiredTemplate;
  readonly infrastructure: DesiredTemplate;
  readonly healthCheck?: MachineHealthCheck;
}

export interface Desired {
  readonly infrastructure: Unstructured;
  readonly controlPlane: Unstructured;
  readonly controlPlaneMachines?: DesiredTemplate;
  readonly controlPlaneHealthCheck?: MachineHealthCheck;
  readonly workers: readonly DesiredWorkers[];
}

/** Names are fixed before patches run, since patches are told them. */
interface Names {
  readonly infrastructure: string;
  readonly controlPlane: string;
  readonly controlPlaneMachines: string;
  readonly workers: ReadonlyMap<string, { readonly name: string; readonly bootstrap: string; readonly infrastructure: string }>;
}

export interface Draft {
  readonly items: readonly PatchItem[];
  /** After the patches. @param shim owner of the two objects until the Cluster is */
  readonly finish: (shim: OwnerReference | undefined) => Desired;
}

const nameOf = (stored: Stored | undefined): string | undefined => stored?.object.metadata.name;

export const classOf = (
  { blueprint }: Pick<TopologyView, "blueprint">,
  { name, class: wanted }: MachineDeploymentTopology,
): WorkersBlueprint => {
  const found = blueprint.workers.get(wanted);
  if (!found) throw new TopologyFault(`MachineDeployment ${name} is of class ${wanted}, which the ClusterClass does not have`);
  return found;
};

function namesOf({ cluster, topology, blueprint, current }: TopologyView, random: Random): Names {
  const { spec } = blueprint.clusterClass;
  const clusterName = cluster.metadata.name ?? "";
  const fromClass = (template: string | undefined): string =>
    nameFromTemplate(template ?? "{{ .cluster.name }}-{{ .random }}", { "cluster.name": clusterName }, random);
  const workers = deploymentsOf(topology).map((t) => {
    const known = current.workers.get(t.name);
    const { definition } = classOf({ blueprint }, t);
    const template = definition.naming?.template ?? "{{ .cluster.name }}-{{ .machineDeployment.topologyName }}-{{ .random }}";
    const values = { "cluster.name": clusterName, "machineDeployment.topologyName": t.name };
    const prefix = `${clusterName}-${t.name}`;
    return [
      t.name,
      {
        name: known?.object.metadata.name ?? nameFromTemplate(template, values, random),
        bootstrap: nameOf(known?.bootstrap) ?? withRandomSuffix(prefix, random),
        infrastructure: nameOf(known?.infrastructure) ?? withRandomSuffix(prefix, random),
      },
    ] as const;
  });
  return {
    infrastructure: nameOf(current.infrastructure) ?? fromClass(spec.infrastructure.naming?.template),
    controlPlane: nameOf(current.controlPlane) ?? fromClass(spec.controlPlane.naming?.template),
    controlPlaneMachines: nameOf(current.controlPlaneMachines) ?? withRandomSuffix(clusterName, random),
    workers: new Map(workers),
  };
}

/** @throws TopologyFault */
export function draftOf(view: TopologyView, versions: VersionDecision, random: Random): Draft {
  const names = namesOf(view, random);
  const { cluster, topology, blueprint } = view;
  const clusterHolder = {
    apiVersion: apiVersionOf(clusterResource),
    kind: "Cluster",
    namespace: cluster.metadata.namespace ?? "",
    name: cluster.metadata.name ?? "",
  };
  const item = (template: ClassTemplate, rest: Omit<PatchItem, "uid" | "template">): PatchItem => ({
    uid: uuid(random),
    ...rest,
    template: { ...template.object, apiVersion: template.apiVersion, kind: template.ref.kind },
  });
  const controlPlane = {
    belongsTo: "controlPlane" as const,
    overrides: topology.controlPlane?.variables?.overrides,
    builtin: controlPlaneBuiltin(view, {
      name: names.controlPlane,
      version: versions.controlPlane.version,
      ...(blueprint.controlPlaneMachines ? { machineTemplate: names.controlPlaneMachines } : {}),
    }),
  };
  const infrastructureItem = item(blueprint.infrastructure, {
    holder: { ...clusterHolder, fieldPath: "spec.infrastructureRef" },
    belongsTo: "infrastructureCluster",
  });
  const controlPlaneItem = item(blueprint.controlPlane, {
    ...controlPlane,
    holder: { ...clusterHolder, fieldPath: "spec.controlPlaneRef" },
  });
  const { objects, contract } = blueprint.controlPlane;
  const machinesItem =
    blueprint.controlPlaneMachines &&
    item(blueprint.controlPlaneMachines, {
      ...controlPlane,
      holder: {
        apiVersion: apiVersionOf(objects),
        kind: objects.kind,
        namespace: clusterHolder.namespace,
        name: names.controlPlane,
        fieldPath: infrastructureRefPath(contract),
      },
    });
  const workers = deploymentsOf(topology).map((t) => workersItems(view, t, versions, names, item));
  return {
    items: [
      infrastructureItem,
      controlPlaneItem,
      ...(machinesItem ? [machinesItem] : []),
      ...workers.flatMap((w) => [w.bootstrap, w.infrastructure]),
    ],
    finish: (shim) => ({
      infrastructure: infrastructureOf(view, names, infrastructureItem, shim),
      controlPlane: controlPlaneOf(view, names, versions, controlPlaneItem, shim),
      ...(machinesItem && blueprint.controlPlaneMachines
        ? {
            controlPlaneMachines: {
              template: blueprint.controlPlaneMachines,
              object: ownTemplate(
                cluster,
                blueprint.controlPlaneMachines,
                machinesItem.template,
                names.controlPlaneMachines,
                view.current.controlPlaneMachines,
              ),
              current: view.current.controlPlaneMachines,
              namePrefix: clusterHolder.name,
            },
          }
        : {}),
      controlPlaneHealthCheck: controlPlaneHealthCheck(view, names.controlPlane),
      workers: workers.map((w) => workersOf(view, w, versions)),
    }),
  };
}

interface WorkersItems {
  readonly topology: MachineDeploymentTopology;
  readonly names: { readonly name: string; readonly bootstrap: string; readonly infrastructure: string };
  readonly bootstrap: PatchItem;
  readonly infrastructure: PatchItem;
}

const decisionOf = (versions: VersionDecision, topology: MachineDeploymentTopology): PoolDecision => {
  const decision = versions.pools.get(topology.name);
  if (!decision) throw new TopologyFault(`MachineDeployment ${topology.name} got no version`);
  return decision;
};

function workersItems(
  view: TopologyView,
  topology: MachineDeploymentTopology,
  versions: VersionDecision,
  names: Names,
  item: (template: ClassTemplate, rest: Omit<PatchItem, "uid" | "template">) => PatchItem,
): WorkersItems {
  const blueprint = classOf(view, topology);
  const own = names.workers.get(topology.name) ?? { name: "", bootstrap: "", infrastructure: "" };
  const { version } = decisionOf(versions, topology);
  const holder = {
    apiVersion: apiVersionOf(machineDeploymentResource),
    kind: machineDeploymentResource.kind,
    namespace: view.cluster.metadata.namespace ?? "",
    name: own.name,
  };
  const shared = {
    belongsTo: "machineDeployment" as const,
    workersClass: topology.class,
    overrides: topology.variables?.overrides,
    builtin: workersBuiltin(topology, { ...own, version }),
  };
  return {
    topology,
    names: own,
    bootstrap: item(blueprint.bootstrap, { ...shared, holder: { ...holder, fieldPath: "spec.template.spec.bootstrap.configRef" } }),
    infrastructure: item(blueprint.infrastructure, { ...shared, holder: { ...holder, fieldPath: "spec.template.spec.infrastructureRef" } }),
  };
}

// --- objects -------------------------------------------------------------------------------------------------------------------------

const topologyLabels = (cluster: Cluster): StringMap => ({
  [clusterNameLabel]: cluster.metadata.name ?? "",
  [clusterTopologyOwnedLabel]: "",
});
const clonedFrom = ({ ref }: ClassTemplate): StringMap => ({
  [templateClonedFromNameAnnotation]: ref.name,
  [templateClonedFromGroupKindAnnotation]: `${ref.kind}.${ref.apiGroup}`,
});
interface ObjectParts {
  readonly view: TopologyView;
  readonly name: string;
  readonly template: ClassTemplate & { readonly objects: { readonly kind: string } };
  readonly patched: Unstructured;
  readonly current?: Stored;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly shim: OwnerReference | undefined;
}

function objectOf({ view, name, template, patched, current, labels, annotations, shim }: ObjectParts): Unstructured {
  return {
    apiVersion: template.apiVersion,
    kind: template.objects.kind,
    metadata: {
      name,
      namespace: view.cluster.metadata.namespace,
      ...(current?.object.metadata.uid ? { uid: current.object.metadata.uid } : {}),
      labels: { ...mapAt(patched, "spec.template.metadata.labels"), ...labels, ...topologyLabels(view.cluster) },
      annotations: propagated({ ...mapAt(patched, "spec.template.metadata.annotations"), ...annotations, ...clonedFrom(template) }),
      ...(shim ? { ownerReferences: [shim] } : {}),
    },
    spec: withoutEmptyEndpoint(specOf({ ...patched, spec: (at(patched, "spec.template.spec") ?? {}) as object } as Unstructured)),
  };
}

/** An endpoint that the template leaves open is the provider's to fill. */
function withoutEmptyEndpoint(spec: ReturnType<typeof specOf>): ReturnType<typeof specOf> {
  const host = at(spec, "controlPlaneEndpoint.host") || undefined;
  const port = at(spec, "controlPlaneEndpoint.port") || undefined;
  return host === undefined && port === undefined ? withField(spec, "controlPlaneEndpoint", undefined) : spec;
}

function infrastructureOf(view: TopologyView, names: Names, item: PatchItem, shim: OwnerReference | undefined): Unstructured {
  const { infrastructure } = view.blueprint;
  return objectOf({
    view,
    name: names.infrastructure,
    template: infrastructure,
    patched: item.template,
    current: view.current.infrastructure,
    shim,
  });
}

function controlPlaneOf(
  view: TopologyView,
  names: Names,
  versions: VersionDecision,
  item: PatchItem,
  shim: OwnerReference | undefined,
): Unstructured {
  const { controlPlane, controlPlaneMachines } = view.blueprint;
  const { labels, annotations } = templateMetadata(view);
  const object = objectOf({
    view,
    name: names.controlPlane,
    template: controlPlane,
    patched: item.template,
    current: view.current.controlPlane,
    labels,
    annotations: propagated(annotations),
    shim,
  });
  const machinesRef: ContractRef | undefined = controlPlaneMachines && {
    apiGroup: controlPlaneMachines.ref.apiGroup,
    kind: controlPlaneMachines.ref.kind,
    name: names.controlPlaneMachines,
  };
  const settings = controlPlaneSettings(view, versions.controlPlane.version, topologyLabels(view.cluster), machinesRef);
  return withFields(object, settings);
}

function ownTemplate(
  cluster: Cluster,
  template: ClassTemplate,
  patched: Unstructured,
  name: string,
  current: Stored | undefined,
  labels: StringMap = {},
): Unstructured {
  return {
    apiVersion: template.apiVersion,
    kind: template.ref.kind,
    metadata: {
      name,
      namespace: cluster.metadata.namespace,
      ...(current?.object.metadata.uid ? { uid: current.object.metadata.uid } : {}),
      labels: { ...patched.metadata.labels, ...topologyLabels(cluster), ...labels },
      annotations: { ...propagated(patched.metadata.annotations ?? {}), ...clonedFrom(template) },
      ownerReferences: [referenceTo(clusterResource, cluster)],
    },
    ...(patched.spec ? { spec: patched.spec } : {}),
  };
}

function workersOf(
  view: TopologyView,
  { topology, names, bootstrap, infrastructure }: WorkersItems,
  versions: VersionDecision,
): DesiredWorkers {
  const { cluster } = view;
  const blueprint = classOf(view, topology);
  const current = view.current.workers.get(topology.name);
  const decision = decisionOf(versions, topology);
  const poolLabel = { [clusterTopologyMachineDeploymentNameLabel]: topology.name };
  const template = (of: ClassTemplate, item: PatchItem, name: string, stored: Stored | undefined): DesiredTemplate => ({
    template: of,
    object: ownTemplate(cluster, of, item.template, name, stored, poolLabel),
    current: stored,
    namePrefix: `${cluster.metadata.name}-${topology.name}`,
  });
  const labels = { ...topologyLabels(cluster), ...poolLabel };
  const metadata = {
    labels: { ...blueprint.definition.metadata?.labels, ...topology.metadata?.labels, ...labels },
    annotations: propagated({ ...blueprint.definition.metadata?.annotations, ...topology.metadata?.annotations }),
  };
  const given = Object.keys(metadata.annotations).length > 0 ? metadata : { labels: metadata.labels };
  const refs = {
    bootstrap: { apiGroup: blueprint.bootstrap.ref.apiGroup, kind: blueprint.bootstrap.ref.kind, name: names.bootstrap },
    infrastructure: {
      apiGroup: blueprint.infrastructure.ref.apiGroup,
      kind: blueprint.infrastructure.ref.kind,
      name: names.infrastructure,
    },
  };
  return {
    topology,
    decision,
    object: {
      apiVersion: apiVersionOf(machineDeploymentResource),
      kind: machineDeploymentResource.kind,
      metadata: {
        name: names.name,
        namespace: cluster.metadata.namespace,
        ...(current?.object.metadata.uid ? { uid: current.object.metadata.uid } : {}),
        ...given,
      },
      spec: workersSpec({
        cluster,
        topology,
        definition: blueprint.definition,
        version: decision.version,
        metadata: given,
        selector: labels,
        refs,
      }),
    },
    bootstrap: template(blueprint.bootstrap, bootstrap, names.bootstrap, current?.bootstrap),
    infrastructure: template(blueprint.infrastructure, infrastructure, names.infrastructure, current?.infrastructure),
    healthCheck: workersHealthCheck(view, topology, blueprint.definition, names.name, labels),
  };
}

/** Another name for what a template's owner refers to. */
export const withBootstrapName = (object: MachineDeployment, name: string): MachineDeployment =>
  withField(object, "spec.template.spec.bootstrap.configRef.name", name);
export const withInfrastructureName = (object: MachineDeployment, name: string): MachineDeployment =>
  withField(object, "spec.template.spec.infrastructureRef.name", name);
