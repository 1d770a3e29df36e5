// When a Cluster's version may change: one step at a time, and only when the last change has arrived everywhere.
// Here: rules U3 to U9. Not here: other rules of topologies (cluster-topology.ts). Source: spec/api/cluster.md section 5.
import { kindOf } from "../api/index.ts";
import type { KubeObject } from "../api/meta/object.ts";
import { machineResource } from "../api/machine.ts";
import { machineDeploymentResource } from "../api/machinedeployment.ts";
import {
  clusterNameLabel,
  clusterTopologyOwnedLabel,
  clusterTopologyUnsafeUpdateVersionAnnotation,
  pendingHooksAnnotation,
} from "../api/names.ts";
import { type FieldError, invalid } from "../schema/field.ts";
import { selectorMatches } from "./checks.ts";
import { annotation, at, isZero, listAt, textAt } from "./draft.ts";
import type { Draft, Findings, ListRead, ObjectRead, Read } from "./rule-set.ts";
import { compareCore, compareWithBuild, tolerantVersion, type Version } from "./versions.ts";

const PATH = "spec.topology.version";
const HOOK = "AfterClusterUpgrade";
const ZERO: Version = { major: 0, minor: 0, patch: 0, text: "0.0.0", build: [] };

export const topologyVersion = (cluster: unknown): string => textAt(cluster, "spec", "topology", "version") ?? "";

/** undefined for kinds that this product does not know: what they are about cannot be said. */
function controlPlaneRead(cluster: Draft): ObjectRead | undefined {
  const ref = at(cluster, "spec", "controlPlaneRef");
  const kind = kindOf(textAt(ref, "kind") ?? "");
  if (!kind || kind.resource.group !== textAt(ref, "apiGroup")) return undefined;
  return { resource: kind.resource, key: { namespace: cluster.metadata.namespace ?? "", name: textAt(ref, "name") ?? "" } };
}

function machinesRead(cluster: Draft): ListRead {
  const labels = { [clusterNameLabel]: cluster.metadata.name ?? "" };
  return { resource: machineResource, namespace: cluster.metadata.namespace ?? "", labels };
}

function deploymentsRead(cluster: Draft): ListRead {
  const labels = { [clusterNameLabel]: cluster.metadata.name ?? "", [clusterTopologyOwnedLabel]: "" };
  return { resource: machineDeploymentResource, namespace: cluster.metadata.namespace ?? "", labels };
}

/** Nothing when the version stays. */
export function versionReads(object: Draft, old: Draft | undefined): readonly Read[] {
  if (!old || topologyVersion(object) === topologyVersion(old)) return [];
  const controlPlane = controlPlaneRead(old);
  return [...(controlPlane ? [controlPlane] : []), deploymentsRead(old), machinesRead(old)];
}

/** Why the control plane is not at a version yet; undefined when it is. */
function controlPlaneProblem(cluster: Draft, version: Version, findings: Findings): string | undefined {
  const read = controlPlaneRead(cluster);
  if (!read) return isZero(at(cluster, "spec", "controlPlaneRef")) ? "the Cluster has no control plane yet" : undefined;
  const controlPlane = findings.found(read);
  if (!controlPlane) return `control plane ${read.key.name} does not exist`;
  const text = textAt(controlPlane, "spec", "version");
  const spec = text === undefined ? undefined : tolerantVersion(text);
  if (!spec) return `control plane ${read.key.name} has no version that can be read`;
  if (spec.text !== version.text) return `control plane ${read.key.name} is still to get ${version.text}: it has ${spec.text}`;
  const reported = reportedVersions(controlPlane);
  if (reported.length === 0) return `control plane ${read.key.name} is being created`;
  const behind = reported.some((one) => {
    const at_ = tolerantVersion(one);
    const order = at_ ? compareWithBuild(spec, at_) : 1;
    return order === "differs" || order > 0;
  });
  return behind ? `control plane ${read.key.name} has machines of an older version` : undefined;
}

function reportedVersions(controlPlane: KubeObject): readonly string[] {
  const list = listAt(controlPlane, "status", "versions").map((v) => textAt(v, "version") ?? "");
  const versions = list.length > 0 ? list : [textAt(controlPlane, "status", "version") ?? ""];
  return versions.filter((v) => v !== "");
}

function isBehind(deployment: KubeObject, machines: readonly KubeObject[], version: Version): boolean {
  const text = textAt(deployment, "spec", "template", "spec", "version") ?? "";
  if (tolerantVersion(text)?.text !== version.text) return true;
  const own = machines.filter(({ metadata }) => selectorMatches(at(deployment, "spec", "selector"), metadata.labels ?? {}));
  return own.some((machine) => {
    const kubelet = textAt(machine, "status", "nodeInfo", "kubeletVersion") ?? "";
    return textAt(machine, "spec", "version") !== text || (kubelet !== "" && kubelet !== text);
  });
}

function workersProblem(cluster: Draft, version: Version, findings: Findings): string | undefined {
  const machines = findings.listed(machinesRead(cluster));
  const behind = findings.listed(deploymentsRead(cluster)).filter((one) => isBehind(one, machines, version));
  return behind.length === 0
    ? undefined
    : `MachineDeployments ${behind.map((one) => one.metadata.name).join(", ")} are still at another version`;
}

/** U6 to U9: the first that does not hold. @param limitsStep whether no minor version may be left out */
function stepProblem(object: Draft, old: Draft, to: Version, from: Version, limitsStep: boolean, findings: Findings): string | undefined {
  if (to.text === from.text) return undefined;
  const areKnown = to !== ZERO && from !== ZERO;
  if (areKnown && compareCore(to, from) < 0) return `cannot go down from v${from.text}`;
  if (limitsStep && compareCore(to, { ...ZERO, major: from.major, minor: from.minor + 2 }) >= 0)
    return `leaves out a minor version after v${from.text}: go one minor at a time`;
  const hooks = (annotation(object, pendingHooksAnnotation) ?? "").split(",").map((hook) => hook.trim());
  if (hooks.includes(HOOK)) return `cannot change while the hook ${HOOK} of the last change is not answered`;
  const problems = [controlPlaneProblem(old, from, findings), workersProblem(old, from, findings)].filter((p) => p !== undefined);
  return problems.length === 0 ? undefined : `cannot change before v${from.text} has arrived everywhere: ${problems.join("; ")}`;
}

export const skipsVersionCheck = (object: Draft): boolean => annotation(object, clusterTopologyUnsafeUpdateVersionAnnotation) !== undefined;

/** @param clusterClass of the new Cluster */
export function versionChangeErrors(object: Draft, old: Draft, clusterClass: unknown, findings: Findings): readonly FieldError[] {
  const [after, before] = [topologyVersion(object), topologyVersion(old)];
  const [to, from] = [tolerantVersion(after), tolerantVersion(before)];
  const unreadable = [...(to ? [] : [after]), ...(from ? [] : [before])].map((text) =>
    invalid(PATH, text, "must be a semantic version such as v1.35.0"),
  );
  if (skipsVersionCheck(object)) return unreadable;
  const planned = (textAt(clusterClass, "spec", "upgrade", "external", "generateUpgradePlanExtension") ?? "") !== "";
  const limitsStep = listAt(clusterClass, "spec", "kubernetesVersions").length === 0 && !planned;
  const problem = stepProblem(object, old, to ?? ZERO, from ?? ZERO, limitsStep, findings);
  return problem === undefined ? unreadable : [...unreadable, invalid(PATH, after, problem)];
}
