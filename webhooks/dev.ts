// DevCluster, DevMachine and their templates: defaults and validation. Source: spec/api/devcluster.md, devmachine.md section 4 and 8.
import { devClusterKind, devClusterTemplateKind } from "../api/devcluster.ts";
import { devMachineKind, devMachineTemplateKind } from "../api/devmachine.ts";
import { topologyDryRunAnnotation } from "../api/names.ts";
import { sameValue } from "../schema/equal.ts";
import { type FieldError, forbidden, invalid } from "../schema/field.ts";
import { metadataErrors } from "./checks.ts";
import { annotation, at, listAt, plain, textAt, withAt } from "./draft.ts";
import { type Draft, Refusal, type RuleSet, type WebhookContext } from "./rule-set.ts";

const OPERATIONS: RuleSet["operations"] = ["create", "update"];
const DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/;
const TEMPLATE_SPEC = ["spec", "template", "spec"];

/** @param base of the machine's or cluster's spec */
function withBackend(object: Draft, base: readonly string[], docker: object): Draft {
  const backend = at(object, ...base, "backend");
  return plain(at(backend, "inMemory")) || plain(at(backend, "docker")) ? object : withAt(object, [...base, "backend", "docker"], docker);
}

function checkDurations(object: Draft, base: readonly string[]): void {
  const parts = ["vm", "node", "apiServer", "etcd"].map((p) => ["backend", "inMemory", p, "provisioning", "startupDuration"]);
  for (const path of [...parts, ["backend", "docker", "bootstrapTimeout"]]) {
    const value = textAt(object, ...base, ...path);
    if (value !== undefined && !DURATION.test(value))
      throw new Refusal(400, `${[...base, ...path].join(".")} is ${JSON.stringify(value)}: write a duration such as 30s or 1m30s`);
  }
}

function clusterDefaults(base: readonly string[]): (object: Draft) => Draft {
  return (object) => {
    let next = withBackend(object, base, { loadBalancer: {} });
    if (!plain(at(next, ...base, "backend", "docker"))) return next;
    const balancer = [...base, "backend", "docker", "loadBalancer"];
    if (!plain(at(next, ...balancer))) next = withAt(next, balancer, {});
    const port = [...base, "controlPlaneEndpoint", "port"];
    if (!at(next, ...port)) next = withAt(next, port, 6443);
    const domains = [...base, "backend", "docker", "failureDomains"];
    if (Array.isArray(at(next, ...domains))) {
      next = withAt(
        next,
        domains,
        listAt(next, ...domains).map((d) => (at(d, "controlPlane") === undefined ? withAt(d, ["controlPlane"], false) : d)),
      );
    }
    return next;
  };
}

// As upstream: the path is the DevCluster's in the template too.
function domainErrors(object: Draft, base: readonly string[]): readonly FieldError[] {
  const names = listAt(object, ...base, "backend", "docker", "failureDomains").map((d) => textAt(d, "name") ?? "");
  const sorted = names.every((name, i) => i === 0 || (names[i - 1] as string) <= name);
  return sorted ? [] : [invalid("spec.backend.docker.failureDomains", names, "must be sorted by name")];
}

export const devClusterRules: RuleSet = {
  kind: devClusterKind,
  operations: OPERATIONS,
  defaults: clusterDefaults(["spec"]),
  validate: (o) => domainErrors(o, ["spec"]),
};

function immutable(object: Draft, { old, dryRun }: WebhookContext, skipsDryRun: boolean): readonly FieldError[] {
  if (!old || (skipsDryRun && dryRun && annotation(object, topologyDryRunAnnotation) !== undefined)) return [];
  return sameValue(at(old, ...TEMPLATE_SPEC), at(object, ...TEMPLATE_SPEC))
    ? []
    : [invalid(TEMPLATE_SPEC.join("."), "changed", "is immutable: create another template and refer to that one")];
}

const templateMetadata = (object: Draft): readonly FieldError[] =>
  metadataErrors(at(object, "spec", "template", "metadata"), "spec.template.metadata");

export const devClusterTemplateRules: RuleSet = {
  kind: devClusterTemplateKind,
  operations: OPERATIONS,
  defaults: clusterDefaults(TEMPLATE_SPEC),
  validate: (object, context) => {
    if (context.old) return immutable(object, { ...context, old: clusterDefaults(TEMPLATE_SPEC)(context.old) }, false);
    if (!context.gate("ClusterTopology"))
      throw new Refusal(403, "spec: Forbidden: DevClusterTemplates need the feature gate ClusterTopology");
    return [...domainErrors(object, TEMPLATE_SPEC), ...templateMetadata(object)];
  },
};

const machineDefaults =
  (base: readonly string[]) =>
  (object: Draft): Draft => {
    checkDurations(object, base);
    return withBackend(object, base, {});
  };

export const devMachineRules: RuleSet = {
  kind: devMachineKind,
  operations: OPERATIONS,
  defaults: machineDefaults(["spec"]),
  validate: (object, { old }) => {
    const docker = (o: Draft | undefined): unknown => at(o, "spec", "backend", "docker");
    const changed =
      plain(docker(old)) && plain(docker(object)) && textAt(docker(old), "customImage") !== textAt(docker(object), "customImage");
    return changed ? [forbidden("spec.backend.docker.customImage", "cannot be changed")] : [];
  },
};

export const devMachineTemplateRules: RuleSet = {
  kind: devMachineTemplateKind,
  operations: OPERATIONS,
  defaults: machineDefaults(TEMPLATE_SPEC),
  validate: (object, context) => [...immutable(object, context, true), ...templateMetadata(object)],
};
