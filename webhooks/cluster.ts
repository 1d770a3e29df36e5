// Cluster: defaults and validation that need no ClusterClass. Source: spec/api/cluster.md sections 4, 5.
import { clusterKind } from "../api/cluster.ts";
import { clusterTopologyUpgradeConcurrencyAnnotation } from "../api/names.ts";
import { type FieldError, forbidden, invalid, required } from "../schema/field.ts";
import { labelValue } from "../schema/names.ts";
import {
  intOrPercentErrors,
  isDefined,
  metadataErrors,
  rollingUpdateErrors,
  startupTimeoutErrors,
  taintErrors,
  versionErrors,
} from "./checks.ts";
import { annotation, at, isZero, listAt, plain, textAt, withAt } from "./draft.ts";
import { type Draft, type RuleSet, Undefaultable, type WebhookContext } from "./rule-set.ts";

const TOPOLOGY = ["spec", "topology"];
const T = "spec.topology";

function defaults(object: Draft): Draft {
  if (isZero(at(object, ...TOPOLOGY))) return object;
  if ((textAt(object, ...TOPOLOGY, "classRef", "name") ?? "") === "")
    throw new Undefaultable([required(`${T}.classRef.name`, "name a ClusterClass")]);
  const version = textAt(object, ...TOPOLOGY, "version") ?? "";
  return version.startsWith("v") ? object : withAt(object, [...TOPOLOGY, "version"], `v${version}`);
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

function healthCheckErrors(healthCheck: unknown, path: string): readonly FieldError[] {
  return [
    ...startupTimeoutErrors(at(healthCheck, "checks"), `${path}.checks`),
    ...intOrPercentErrors(
      at(healthCheck, "remediation", "triggerIf", "unhealthyLessThanOrEqualTo"),
      `${path}.remediation.triggerIf.unhealthyLessThanOrEqualTo`,
    ),
    ...intOrPercentErrors(at(healthCheck, "remediation", "maxInFlight"), `${path}.remediation.maxInFlight`),
  ];
}

function topologyErrors(object: Draft, context: WebhookContext): readonly FieldError[] {
  const topology = at(object, ...TOPOLOGY);
  if (isZero(topology)) return [];
  if (!context.gate("ClusterTopology")) return [forbidden(T, "needs the feature gate ClusterTopology")];
  if ((textAt(topology, "classRef", "name") ?? "") === "") return [required(`${T}.class`, "name a ClusterClass")];
  const concurrency = annotation(object, clusterTopologyUpgradeConcurrencyAnnotation);
  const pools = ["machineDeployments", "machinePools"].flatMap((field) =>
    listAt(topology, "workers", field).map((pool) => ({ pool, field, path: `${T}.workers.${field}[${textAt(pool, "name") ?? ""}]` })),
  );
  return [
    ...versionErrors(textAt(topology, "version"), `${T}.version`),
    ...metadataErrors(at(topology, "controlPlane", "metadata"), `${T}.controlPlane.metadata`),
    ...taintErrors(at(topology, "controlPlane", "taints"), `${T}.controlPlane.taints`, context),
    ...healthCheckErrors(at(topology, "controlPlane", "healthCheck"), `${T}.controlPlane.healthCheck`),
    ...pools.flatMap(({ pool, field, path }) => [
      ...metadataErrors(at(pool, "metadata"), `${path}.metadata`),
      ...taintErrors(at(pool, "taints"), `${path}.taints`, context),
      ...(field === "machineDeployments" ? rollingUpdateErrors(at(pool, "rollout", "strategy"), `${path}.rollout.strategy`) : []),
      ...healthCheckErrors(at(pool, "healthCheck"), `${path}.healthCheck`),
    ]),
    ...(concurrency !== undefined && !/^\+?0*[1-9]\d*$/.test(concurrency)
      ? [invalid(`metadata.annotations.${clusterTopologyUpgradeConcurrencyAnnotation}`, concurrency, "must be a whole number of 1 or more")]
      : []),
  ];
}

function lostReference(object: Draft, old: Draft | undefined, field: string): readonly FieldError[] {
  const lost = isDefined(at(old, "spec", field)) && !isDefined(at(object, "spec", field));
  return lost ? [forbidden(`spec.${field}`, "cannot be removed")] : [];
}

function validate(object: Draft, context: WebhookContext): readonly FieldError[] {
  const name = object.metadata.name ?? "";
  const { old } = context;
  const nothing =
    !isDefined(at(object, "spec", "controlPlaneRef")) &&
    !isDefined(at(object, "spec", "infrastructureRef")) &&
    isZero(at(object, ...TOPOLOGY));
  return [
    ...labelValue(name).map((problem) => invalid("metadata.name", name, `becomes a label value, and ${problem}`)),
    ...lostReference(object, old, "infrastructureRef"),
    ...(nothing ? [forbidden("spec", "give infrastructureRef and controlPlaneRef, or topology")] : []),
    ...lostReference(object, old, "controlPlaneRef"),
    ...cidrErrors(object),
    ...topologyErrors(object, context),
    ...(plain(at(old, ...TOPOLOGY)) && !isZero(at(old, ...TOPOLOGY)) && isZero(at(object, ...TOPOLOGY))
      ? [forbidden(T, "cannot be removed")]
      : []),
  ];
}

export const clusterRules: RuleSet = { kind: clusterKind, operations: ["create", "update"], defaults, validate };
