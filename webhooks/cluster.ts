// Cluster: defaults and validation. Not here: validation of the topology (cluster-topology.ts), values of variables (cluster-variables.ts).
// Source: spec/api/cluster.md sections 4, 5.
import { clusterKind } from "../api/cluster.ts";
import { type FieldError, forbidden, invalid, required } from "../schema/field.ts";
import { labelValue } from "../schema/names.ts";
import { isDefined } from "./checks.ts";
import {
  classNameOf,
  classRead,
  classText,
  hasTopology,
  isReconciled,
  oldClassRead,
  topologyErrors,
  topologyWarnings,
} from "./cluster-topology.ts";
import { defaultVariables, isVariableErrors } from "./cluster-variables.ts";
import { topologyVersion, versionReads } from "./cluster-version.ts";
import { at, listAt, withAt } from "./draft.ts";
import { type Draft, type Phase, type Read, type RuleSet, Undefaultable, type WebhookContext, type WebhookRequest } from "./rule-set.ts";

function reads({ object, old }: WebhookRequest, phase: Phase): readonly Read[] {
  if (classNameOf(object) === "") return [];
  const ofClass = [classRead(object)];
  if (phase === "defaults" || !old) return ofClass;
  const isRebased = classNameOf(old) !== "" && classText(old) !== classText(object);
  return [...ofClass, ...(isRebased ? [oldClassRead(old)] : []), ...versionReads(object, old)];
}

function defaults(object: Draft, context: WebhookContext): Draft {
  if (!hasTopology(object)) return object;
  const version = topologyVersion(object);
  const next = version.startsWith("v") ? object : withAt(object, ["spec", "topology", "version"], `v${version}`);
  if (classNameOf(next) === "") throw new Undefaultable([required("spec.topology.classRef.name", "name a ClusterClass")]);
  const clusterClass = context.found(classRead(next));
  if (!isReconciled(clusterClass)) return next;
  const result = defaultVariables(next, context.old, clusterClass);
  if (isVariableErrors(result)) throw new Undefaultable(result);
  return result;
}

const CIDR4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/;

export function isCidr(text: string): boolean {
  const four = CIDR4.exec(text);
  if (four) return four.slice(1, 5).every((n) => Number(n) <= 255 && String(Number(n)) === n) && Number(four[5]) <= 32;
  const [address = "", length = "", ...rest] = text.split("/");
  if (rest.length > 0 || !/^\d{1,3}$/.test(length) || Number(length) > 128 || !address.includes(":")) return false;
  const halves = address.split("::");
  const groups = address.split(":").filter((g) => g !== "");
  const valid = groups.every((g) => /^[0-9a-fA-F]{1,4}$/.test(g));
  return valid && halves.length <= 2 && (halves.length === 2 ? groups.length < 8 : groups.length === 8);
}

const cidrErrors = (object: Draft): readonly FieldError[] =>
  ["pods", "services"].flatMap((network) =>
    listAt(object, "spec", "clusterNetwork", network, "cidrBlocks").flatMap((block, i) =>
      isCidr(String(block))
        ? []
        : [invalid(`spec.clusterNetwork.${network}.cidrBlocks[${i}]`, block, "must be an address range such as 192.168.0.0/16")],
    ),
  );

function lostReference(object: Draft, old: Draft | undefined, field: string): readonly FieldError[] {
  const lost = isDefined(at(old, "spec", field)) && !isDefined(at(object, "spec", field));
  return lost ? [forbidden(`spec.${field}`, "cannot be removed")] : [];
}

function validate(object: Draft, context: WebhookContext): readonly FieldError[] {
  const name = object.metadata.name ?? "";
  const { old } = context;
  const nothing =
    !isDefined(at(object, "spec", "controlPlaneRef")) && !isDefined(at(object, "spec", "infrastructureRef")) && !hasTopology(object);
  return [
    ...labelValue(name).map((problem) => invalid("metadata.name", name, `becomes a label value, and ${problem}`)),
    ...lostReference(object, old, "infrastructureRef"),
    ...(nothing ? [forbidden("spec", "give infrastructureRef and controlPlaneRef, or topology")] : []),
    ...lostReference(object, old, "controlPlaneRef"),
    ...cidrErrors(object),
    ...topologyErrors(object, context),
    ...(hasTopology(old) && !hasTopology(object) ? [forbidden("spec.topology", "cannot be removed")] : []),
  ];
}

export const clusterRules: RuleSet = {
  kind: clusterKind,
  operations: ["create", "update"],
  reads,
  defaults,
  validate,
  warnings: topologyWarnings,
};
