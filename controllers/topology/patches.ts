// Patches of a class: which templates a patch changes, and how. Here: items, inline patches as pure functions, the order of all patches.
// Not here: calls of extensions (external.ts), what becomes of the templates (desired.ts). Source: spec/controllers/topology.md section 7.2.
import { parse } from "yaml";
import type { HolderReference } from "../../api/hooks/topology.ts";
import type { ClassJsonPatch, ClusterClassPatch, PatchDefinition } from "../../api/clusterclass-patches.ts";
import type { Json } from "../../api/meta/object.ts";
import type { ClusterVariable } from "../../api/shared.ts";
import { renderTemplate } from "../../schema/go-template/run.ts";
import { jsonPatch } from "../../schema/patch/index.ts";
import type { Unstructured } from "../contract/contract.ts";
import { clusterBuiltin, definedBy, mergedVariables, type Variables, variableAt } from "./variables.ts";
import { TopologyFault, type TopologyView } from "./view.ts";

/** A template on its way through the patches. */
export interface PatchItem {
  readonly uid: string;
  readonly holder: HolderReference;
  /** Which selectors mean it. */
  readonly belongsTo: "infrastructureCluster" | "controlPlane" | "machineDeployment";
  /** Class of the MachineDeployment. */
  readonly workersClass?: string;
  readonly overrides?: readonly ClusterVariable[];
  readonly builtin?: object;
  template: Unstructured;
}

export interface ItemVariables {
  readonly cluster: readonly ClusterVariable[];
  readonly item: (item: PatchItem) => readonly ClusterVariable[];
}

const builtin = (value: object): ClusterVariable => ({ name: "builtin", value: value as unknown as Json });

/** @param definer `inline`, or the name of an external patch: each sees only its own variables */
export function variablesFor(view: TopologyView, definer: string): ItemVariables {
  const { clusterClass } = view.blueprint;
  return {
    cluster: [...definedBy(clusterClass, definer, view.topology.variables), builtin(clusterBuiltin(view))],
    item: (item) => [...definedBy(clusterClass, definer, item.overrides), ...(item.builtin ? [builtin(item.builtin)] : [])],
  };
}

/** A patch by an extension: made before, as it needs a call. @returns nothing; changes the items */
export type ExternalPatch = (patch: ClusterClassPatch, items: readonly PatchItem[]) => Promise<void>;

/** All patches of the class, in order; each sees what the ones before it did. @throws TopologyFault naming the patch */
export async function applyPatches(view: TopologyView, items: readonly PatchItem[], external: ExternalPatch): Promise<void> {
  const inline = variablesFor(view, "inline");
  for (const patch of view.blueprint.clusterClass.spec.patches ?? []) {
    try {
      if (patch.external) await external(patch, items);
      else for (const item of items) applyInline(patch, item, mergedVariables(inline.cluster, inline.item(item)));
    } catch (e) {
      throw new TopologyFault(`patch ${patch.name} of the ClusterClass failed: ${e instanceof Error ? e.message : String(e)}`);
    }
  }
}

/** One inline patch on one template. */
export function applyInline(patch: ClusterClassPatch, item: PatchItem, variables: Variables): void {
  const definitions = (patch.definitions ?? []).filter((d) => selects(d, item));
  if (definitions.length === 0 || !isEnabled(patch, variables)) return;
  for (const { jsonPatches } of definitions) {
    const operations = jsonPatches.map((p) => operationOf(p, variables));
    item.template = jsonPatch(item.template, operations) as Unstructured;
  }
}

const isEnabled = ({ enabledIf }: ClusterClassPatch, variables: Variables): boolean =>
  enabledIf === undefined || renderTemplate(enabledIf, variables).trim() === "true";

function operationOf({ op, path, value, valueFrom }: ClassJsonPatch, variables: Variables): object {
  if (op === "remove") return { op, path };
  if (valueFrom?.variable !== undefined) return { op, path, value: variableAt(variables, valueFrom.variable) };
  if (valueFrom?.template !== undefined) return { op, path, value: parse(renderTemplate(valueFrom.template, variables)) as Json };
  return { op, path, value: value ?? null };
}

/** Whether a definition means this template: kind and version first, then the object that will hold it. */
export function selects({ selector }: PatchDefinition, item: PatchItem): boolean {
  const { apiVersion, kind, matchResources } = selector;
  if (item.template.apiVersion !== apiVersion || item.template.kind !== kind) return false;
  switch (item.belongsTo) {
    case "infrastructureCluster":
      return matchResources.infrastructureCluster === true;
    case "controlPlane":
      return matchResources.controlPlane === true;
    case "machineDeployment":
      return (matchResources.machineDeploymentClass?.names ?? []).some((name) => matchesName(name, item.workersClass ?? ""));
  }
}

/** One `*` at the start or the end stands for anything. */
function matchesName(pattern: string, name: string): boolean {
  if (pattern === "*") return true;
  if (pattern.startsWith("*")) return name.endsWith(pattern.slice(1));
  if (pattern.endsWith("*")) return name.startsWith(pattern.slice(0, -1));
  return pattern === name;
}
