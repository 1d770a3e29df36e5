// ClusterClass: validation; nothing is defaulted. Not here: variables (clusterclass-variables.ts), patches (clusterclass-patches.ts),
// what Clusters that use a class keep from changing (clusterclass-use.ts). Source: spec/api/clusterclass.md section 5.
import { clusterClassKind } from "../api/clusterclass.ts";
import { child, type FieldError, forbidden, indexed, invalid, keyed, required } from "../schema/field.ts";
import { healthCheckErrors, isHealthCheckDefined, metadataErrors, namingErrors, rollingUpdateErrors, taintErrors } from "./checks.ts";
import { compatibilityErrors, isTemplateRefDefined } from "./class-compatibility.ts";
import { patchErrors } from "./clusterclass-patches.ts";
import { clustersOf, clustersRead, useErrors } from "./clusterclass-use.ts";
import { variableErrors } from "./clusterclass-variables.ts";
import { at, listAt, textAt } from "./draft.ts";
import { type Draft, Refusal, type RuleSet, type WebhookContext } from "./rule-set.ts";
import { compareWithBuild, tolerantVersion, type Version } from "./versions.ts";

const FIELDS = ["machineDeployments", "machinePools"] as const;
const SUFFIX = "Template";

interface Worker {
  readonly field: (typeof FIELDS)[number];
  readonly index: number;
  readonly worker: unknown;
  /** By class, as most rules name it. */
  readonly path: string;
}

const workersOf = (object: unknown): readonly Worker[] =>
  FIELDS.flatMap((field) =>
    listAt(object, "spec", "workers", field).map((worker, index) => ({
      field,
      index,
      worker,
      path: keyed(`spec.workers.${field}`, textAt(worker, "class") ?? ""),
    })),
  );

/** Rule 1. `template` and `ref` in paths are names of an older version. */
function refErrors(holder: unknown, path: string): readonly FieldError[] {
  const ref = at(holder, "templateRef");
  const [name, kind, apiVersion] = [textAt(ref, "name") ?? "", textAt(ref, "kind") ?? "", textAt(ref, "apiVersion") ?? ""];
  const isTemplate = kind.length > SUFFIX.length && kind.endsWith(SUFFIX);
  return [
    ...(name === "" ? [required(`${path}.ref.name`, "name the template")] : []),
    ...(isTemplate ? [] : [invalid(`${path}.ref.kind`, kind, "must be the kind of a template, such as DevMachineTemplate")]),
    ...(apiVersion === "" || apiVersion === "/" ? [required(`${path}.ref.apiVersion`, "give group and version of the template")] : []),
    ...(apiVersion.split("/").length > 2 ? [invalid(`${path}.ref.apiVersion`, apiVersion, "must be group/version")] : []),
  ];
}

function templateErrors(object: Draft): readonly FieldError[] {
  const machines = at(object, "spec", "controlPlane", "machineInfrastructure");
  return [
    ...refErrors(at(object, "spec", "infrastructure"), "spec.infrastructure"),
    ...refErrors(at(object, "spec", "controlPlane"), "spec.controlPlane"),
    ...(isTemplateRefDefined(at(machines, "templateRef")) ? refErrors(machines, "spec.controlPlane.machineInfrastructure") : []),
    ...workersOf(object).flatMap(({ field, index, worker }) =>
      ["bootstrap", "infrastructure"].flatMap((part) =>
        refErrors(at(worker, part), `${indexed(`spec.workers.${field}`, index)}.template.${part}`),
      ),
    ),
  ];
}

function repeatedClasses(object: Draft): readonly FieldError[] {
  const workers = workersOf(object);
  const classOf = ({ worker }: Worker): string => textAt(worker, "class") ?? "";
  return workers.flatMap((one) => {
    const first = workers.find((w) => w.field === one.field && classOf(w) === classOf(one));
    const path = `${indexed(`spec.workers.${one.field}`, one.index)}.class`;
    return first === one ? [] : [invalid(path, classOf(one), "is used twice: classes must be unique")];
  });
}

function healthErrors(object: Draft): readonly FieldError[] {
  const controlPlane = at(object, "spec", "controlPlane");
  const path = "spec.controlPlane.healthCheck";
  const hasMachines = isTemplateRefDefined(at(controlPlane, "machineInfrastructure", "templateRef"));
  const of = (healthCheck: unknown, at_: string) => (isHealthCheckDefined(healthCheck) ? healthCheckErrors(healthCheck, at_) : []);
  return [
    ...of(at(controlPlane, "healthCheck"), path),
    ...(isHealthCheckDefined(at(controlPlane, "healthCheck")) && !hasMachines
      ? [forbidden(path, "needs spec.controlPlane.machineInfrastructure, since it is about machines")]
      : []),
    ...workersOf(object).flatMap(({ worker, path: p }) => of(at(worker, "healthCheck"), `${p}.healthCheck`)),
  ];
}

const TOPOLOGY_NAME = { machineDeployments: "machineDeployment.topologyName", machinePools: "machinePool.topologyName" } as const;

function nameErrors(object: Draft): readonly FieldError[] {
  const of = (holder: unknown, path: string, data: Readonly<Record<string, string>> = {}): readonly FieldError[] =>
    namingErrors(textAt(holder, "naming", "template") || undefined, `${path}.naming.template`, data, false);
  return [
    ...of(at(object, "spec", "infrastructure"), "spec.infrastructure"),
    ...of(at(object, "spec", "controlPlane"), "spec.controlPlane"),
    ...workersOf(object).flatMap(({ field, worker, path }) => of(worker, path, { [TOPOLOGY_NAME[field]]: "workers" })),
  ];
}

/** Rule 11. As upstream, the path says kubernetesVersion. */
function versionListErrors(object: Draft): readonly FieldError[] {
  const errors: FieldError[] = [];
  let last: Version | undefined;
  for (const [i, text] of listAt(object, "spec", "kubernetesVersions").map(String).entries()) {
    const path = indexed("spec.kubernetesVersion", i);
    const version = tolerantVersion(text);
    if (!version) {
      errors.push(invalid(path, text, "must be a semantic version such as v1.35.0"));
      continue;
    }
    const order = last ? compareWithBuild(version, last) : 1;
    if (order !== "differs" && order <= 0)
      errors.push(invalid(path, text, `must be greater than v${last?.text}: list versions oldest first`));
    if (last && version.minor !== last.minor && version.minor !== last.minor + 1)
      errors.push(invalid(path, text, `must have minor version ${last.minor} or ${last.minor + 1}, since none may be left out`));
    last = version;
  }
  return errors;
}

const metadataOf = (object: Draft): readonly FieldError[] => [
  ...metadataErrors(at(object, "spec", "controlPlane", "metadata"), "spec.controlPlane.metadata"),
  ...workersOf(object).flatMap(({ worker, path }) => metadataErrors(at(worker, "metadata"), `${path}.template.metadata`)),
];

const taintsOf = (object: Draft, context: WebhookContext): readonly FieldError[] => [
  ...taintErrors(at(object, "spec", "controlPlane", "taints"), "spec.controlPlane.taints", context),
  ...workersOf(object).flatMap(({ worker, path }) => taintErrors(at(worker, "taints"), child(path, "taints"), context)),
];

function refuseDeletion(object: Draft, context: WebhookContext): void {
  const users = clustersOf(object, context).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  if (users.length === 0) return;
  const shown = users.length > 3 ? `${users.slice(0, 3).join(", ")} and ${users.length - 3} more` : users.join(", ");
  throw new Refusal(
    403,
    `ClusterClass ${object.metadata.name} is used by Clusters ${shown}: delete them first, or give them another class`,
  );
}

function validate(object: Draft, context: WebhookContext): readonly FieldError[] {
  if (context.verb === "delete") {
    refuseDeletion(object, context);
    return [];
  }
  if (!context.gate("ClusterTopology")) throw new Refusal(403, "spec: Forbidden: ClusterClasses need the feature gate ClusterTopology");
  return [
    ...templateErrors(object),
    ...repeatedClasses(object),
    ...workersOf(object).flatMap(({ worker, path }) => rollingUpdateErrors(at(worker, "rollout", "strategy"), `${path}.rollout.strategy`)),
    ...healthErrors(object),
    ...nameErrors(object),
    ...taintsOf(object, context),
    ...variableErrors(object),
    ...patchErrors(object, context),
    ...metadataOf(object),
    ...versionListErrors(object),
    ...(context.old ? [...compatibilityErrors(context.old, object), ...useErrors(context.old, object, context)] : []),
  ];
}

export const clusterClassRules: RuleSet = {
  kind: clusterClassKind,
  operations: ["create", "update", "delete"],
  reads: ({ verb }) => (verb === "create" ? [] : [clustersRead]),
  validate,
};
