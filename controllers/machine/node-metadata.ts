// What a Machine writes on its Node: annotations, labels, taints, and the bookkeeping of what came from it. One pure function.
// Not here: finding the Node, sending the patch (steps.ts). Source: spec/controllers/machine.md section 5.2.
import type { CoreTaint, Node } from "../../api/core/index.ts";
import type { Machine } from "../../api/machine.ts";
import {
  annotationsFromMachineAnnotation,
  clusterNameAnnotation,
  clusterNamespaceAnnotation,
  interruptibleLabel,
  labelsFromMachineAnnotation,
  machineAnnotation,
  managedNodeAnnotationDomain,
  managedNodeLabelDomain,
  nodeOutdatedRevisionTaint,
  nodeRestrictionLabelDomain,
  nodeRoleLabelPrefix,
  nodeUninitializedTaint,
  ownerKindAnnotation,
  ownerNameAnnotation,
  taintsFromMachineAnnotation,
} from "../../api/names.ts";
import { sameJson } from "../../runtime/patch.ts";

export interface NodeMetadataInput {
  readonly machine: Machine;
  readonly node: Node;
  readonly interruptible: boolean;
  /** The Machine's set is older than its MachineDeployment's current revision. */
  readonly outdated: boolean;
  /** Gate MachineTaintPropagation. */
  readonly propagateTaints: boolean;
  readonly labelPatterns: readonly RegExp[];
  readonly annotationPatterns: readonly RegExp[];
}

type Texts = Readonly<Record<string, string>>;

const domainOf = (key: string): string => key.split("/")[0] ?? "";
const inDomain = (key: string, domain: string): boolean => domainOf(key) === domain || domainOf(key).endsWith(`.${domain}`);

export const isNodeLabel = (key: string, patterns: readonly RegExp[]): boolean =>
  domainOf(key) === nodeRoleLabelPrefix ||
  inDomain(key, nodeRestrictionLabelDomain) ||
  inDomain(key, managedNodeLabelDomain) ||
  patterns.some((p) => p.test(key));

const isNodeAnnotation = (key: string, patterns: readonly RegExp[]): boolean =>
  inDomain(key, managedNodeAnnotationDomain) || patterns.some((p) => p.test(key));

const pick = (texts: Texts | undefined, wanted: (key: string) => boolean): Record<string, string> =>
  Object.fromEntries(Object.entries(texts ?? {}).filter(([key]) => wanted(key)));
const keysText = (texts: Texts): string => Object.keys(texts).sort().join(",");
const listed = (text: string | undefined): readonly string[] => (text ?? "").split(",").filter((item) => item !== "");

/** Merge patch, bound to the Node's version; undefined when the Node says all of it already. */
export function nodeMetadataPatch(input: NodeMetadataInput): object | undefined {
  const { node } = input;
  const annotations = plannedAnnotations(input);
  const labels = plannedLabels(input);
  const { taints, tracked } = plannedTaints(input);
  if (tracked !== undefined) annotations[taintsFromMachineAnnotation] = tracked;
  const patch = {
    ...section("annotations", changes(node.metadata.annotations, annotations)),
    ...section("labels", changes(node.metadata.labels, labels)),
  };
  const taintsDiffer = !sameJson(taints, node.spec?.taints ?? []);
  if (Object.keys(patch).length === 0 && !taintsDiffer) return undefined;
  return {
    metadata: { resourceVersion: node.metadata.resourceVersion, ...patch },
    ...(taintsDiffer ? { spec: { taints: taints.length === 0 ? null : taints } } : {}),
  };
}

const section = (name: string, content: Readonly<Record<string, string | null>>): object =>
  Object.keys(content).length === 0 ? {} : { [name]: content };

/** Keys to set, and null for keys to remove, leaving out what is so already. */
function changes(current: Texts | undefined, wanted: Readonly<Record<string, string | null>>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => (value === null ? current?.[key] !== undefined : current?.[key] !== value)),
  );
}

/** What came from the Machine before and comes no more goes away. */
const withRemovals = (wanted: Texts, tracked: readonly string[]): Record<string, string | null> => ({
  ...Object.fromEntries(tracked.filter((key) => !(key in wanted)).map((key) => [key, null])),
  ...wanted,
});

function plannedAnnotations(input: NodeMetadataInput): Record<string, string | null> {
  const { machine, node, annotationPatterns } = input;
  const own = pick(machine.metadata.annotations, (key) => isNodeAnnotation(key, annotationPatterns));
  const controller = (machine.metadata.ownerReferences ?? []).find((o) => o.controller === true);
  const identity: Record<string, string | null> = {
    [clusterNameAnnotation]: machine.spec.clusterName,
    [clusterNamespaceAnnotation]: machine.metadata.namespace ?? "",
    [machineAnnotation]: machine.metadata.name ?? "",
    [ownerKindAnnotation]: controller?.kind ?? null,
    [ownerNameAnnotation]: controller?.name ?? null,
  };
  return {
    ...withRemovals(own, listed(node.metadata.annotations?.[annotationsFromMachineAnnotation])),
    ...identity,
    [annotationsFromMachineAnnotation]: keysText(own),
    [labelsFromMachineAnnotation]: keysText(wantedLabels(input)),
  };
}

function wantedLabels({ machine, interruptible, labelPatterns }: NodeMetadataInput): Record<string, string> {
  const own = pick(machine.metadata.labels, (key) => isNodeLabel(key, labelPatterns));
  return interruptible ? { ...own, [interruptibleLabel]: "" } : own;
}

const plannedLabels = (input: NodeMetadataInput): Record<string, string | null> =>
  withRemovals(wantedLabels(input), listed(input.node.metadata.annotations?.[labelsFromMachineAnnotation]));

interface TaintKey {
  readonly key: string;
  readonly effect: string;
}
const isTaint = (taint: TaintKey, other: TaintKey): boolean => taint.key === other.key && taint.effect === other.effect;
const taintText = (t: TaintKey): string => `${t.key}:${t.effect}`;

function plannedTaints(input: NodeMetadataInput): { readonly taints: readonly CoreTaint[]; readonly tracked?: string } {
  let taints = (input.node.spec?.taints ?? []).filter((t) => !isTaint(t, nodeUninitializedTaint));
  taints = input.outdated
    ? withTaint(taints, { ...nodeOutdatedRevisionTaint })
    : taints.filter((t) => !isTaint(t, nodeOutdatedRevisionTaint));
  if (!input.propagateTaints) return { taints };
  return machineTaints(input, taints);
}

/** Adds the taint or corrects its value; key and effect tell taints apart. */
function withTaint(taints: readonly CoreTaint[], wanted: CoreTaint): CoreTaint[] {
  const found = taints.find((t) => isTaint(t, wanted));
  if (!found) return [...taints, wanted];
  if ((found.value ?? "") === (wanted.value ?? "")) return [...taints];
  return taints.map((t) => (t === found ? wanted : t));
}

function machineTaints(
  { machine, node }: NodeMetadataInput,
  current: readonly CoreTaint[],
): { readonly taints: readonly CoreTaint[]; readonly tracked: string } {
  const wanted = machine.spec.taints ?? [];
  const always = wanted.filter((t) => t.propagation === "Always");
  const once = wanted.filter((t) => t.propagation === "OnInitialization");
  const before = node.metadata.annotations?.[taintsFromMachineAnnotation];
  const stale = listed(before).filter((text) => !wanted.some((t) => taintText(t) === text));
  let taints = current.filter((t) => !stale.includes(taintText(t)));
  for (const t of before === undefined ? [...always, ...once] : always) {
    taints = withTaint(taints, { key: t.key, ...(t.value === undefined ? {} : { value: t.value }), effect: t.effect });
  }
  return { taints, tracked: always.map(taintText).sort().join(",") };
}
