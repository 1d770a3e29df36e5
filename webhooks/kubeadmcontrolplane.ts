// KubeadmControlPlane and its template: defaults and validation. Not here: which fields may change (controlplane-paths.ts).
// Source: spec/api/kubeadmcontrolplane.md sections 4, 8.
import { kubeadmControlPlaneKind } from "../api/kubeadmcontrolplane.ts";
import { kubeadmControlPlaneTemplateKind } from "../api/kubeadmcontrolplanetemplate.ts";
import { clusterGroup } from "../api/groups.ts";
import { skipCoreDNSAnnotation } from "../api/names.ts";
import { sameValue } from "../schema/equal.ts";
import { type FieldError, forbidden, invalid, required } from "../schema/field.ts";
import { metadataErrors, namingErrors, taintErrors } from "./checks.ts";
import { forbiddenChanges } from "./controlplane-paths.ts";
import { CORE_DNS_VERSIONS } from "./coredns-versions.ts";
import { annotation, at, isZero, plain, textAt, withAt } from "./draft.ts";
import { healthCheckTimeoutErrors, kubeadmConfigSpecErrors, withOldDefaults } from "./kubeadmconfig.ts";
import { type Draft, Refusal, type RuleSet, type WebhookContext } from "./rule-set.ts";
import { compareCore, tolerantVersion, versionErrors } from "./versions.ts";

const CA_VALIDITY_DAYS = 3650;
const IMAGE_TAG = /^[A-Za-z0-9_.-]*$/;
const STRATEGY = ["spec", "rollout", "strategy"];

function defaults(object: Draft): Draft {
  let next = at(object, "spec", "replicas") == null ? withAt(object, ["spec", "replicas"], 1) : object;
  const version = textAt(next, "spec", "version") ?? "";
  if (!version.startsWith("v")) next = withAt(next, ["spec", "version"], `v${version}`);
  next = withAt(next, [...STRATEGY, "type"], "RollingUpdate");
  const surge = [...STRATEGY, "rollingUpdate", "maxSurge"];
  return at(next, ...surge) == null ? withAt(next, surge, 1) : next;
}

const isExternalEtcd = (spec: unknown): boolean => !isZero(at(spec, "kubeadmConfigSpec", "clusterConfiguration", "etcd", "external"));

function replicaErrors(spec: unknown): readonly FieldError[] {
  const replicas = at(spec, "replicas");
  if (typeof replicas !== "number") return [required("spec.replicas")];
  const even = replicas % 2 === 0 && !isExternalEtcd(spec);
  return [
    ...(replicas <= 0 ? [forbidden("spec.replicas", "must be 1 or more")] : []),
    ...(even
      ? [forbidden("spec.replicas", "must be odd with etcd on the machines: an even number of members tolerates no more failures")]
      : []),
  ];
}

/** Integer, or text that parses as one, else 0. */
const surgeOf = (value: unknown): number =>
  typeof value === "number" ? value : typeof value === "string" && /^[+-]?\d+$/.test(value) ? Number(value) : 0;

/** V8 to V12; nothing when there is no strategy. @param prefix `spec` or `spec.template.spec` */
function rolloutErrors(spec: unknown, prefix: string): readonly FieldError[] {
  const strategy = at(spec, "rollout", "strategy");
  if (isZero(strategy)) return [];
  const surge = surgeOf(at(strategy, "rollingUpdate", "maxSurge"));
  const replicas = at(spec, "replicas");
  const cluster = at(spec, "kubeadmConfigSpec", "clusterConfiguration");
  const [validity, caValidity] = [at(cluster, "certificateValidityPeriodDays"), at(cluster, "caCertificateValidityPeriodDays")];
  const expiry = at(spec, "rollout", "before", "certificatesExpiryDays");
  const limit = typeof caValidity === "number" && caValidity !== 0 ? caValidity : CA_VALIDITY_DAYS;
  return [
    ...(textAt(strategy, "type") === "RollingUpdate" ? [] : [required(`${prefix}.rollout.strategy.type`, "must be RollingUpdate")]),
    ...(surge === 0 && typeof replicas === "number" && replicas < 3
      ? [
          required(
            `${prefix}.rollout.strategy.rollingUpdate`,
            "with maxSurge 0 the replica count needs to be at least 3: raise replicas, or set maxSurge to 1",
          ),
        ]
      : []),
    ...(surge === 0 || surge === 1 ? [] : [required(`${prefix}.rollout.strategy.rollingUpdate.maxSurge`, "must be 0 or 1")]),
    ...(typeof validity === "number" && validity > limit
      ? [
          invalid(
            `${prefix}.kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays`,
            validity,
            `must not outlive the CA (${limit} days)`,
          ),
        ]
      : []),
    ...(typeof validity === "number" && validity !== 0 && typeof expiry === "number" && expiry >= validity
      ? [
          invalid(
            `${prefix}.rollout.before.certificatesExpiryDays`,
            expiry,
            `must be less than certificateValidityPeriodDays (${validity})`,
          ),
        ]
      : []),
  ];
}

function imageErrors(config: unknown, path: string): readonly FieldError[] {
  const cluster = at(config, "clusterConfiguration");
  const dns = textAt(cluster, "dns", "imageTag") ?? "";
  const [local, external] = [at(cluster, "etcd", "local"), at(cluster, "etcd", "external")];
  const etcd = textAt(local, "imageTag") ?? "";
  const p = `${path}.clusterConfiguration`;
  const tag = "may have letters, digits, -, _ and . only";
  return [
    ...(IMAGE_TAG.test(dns) ? [] : [forbidden(`${p}.dns.imageTag`, tag)]),
    ...(dns !== "" && !tolerantVersion(dns.replace("_", "+")) ? [invalid("dns.imageTag", dns, "must be a version such as v1.12.1")] : []),
    ...(!isZero(local) && !IMAGE_TAG.test(etcd) ? [forbidden(`${p}.etcd.local.imageTag`, tag)] : []),
    ...(!isZero(local) && !isZero(external) ? [forbidden(`${p}.etcd.local`, "give local or external, not both")] : []),
  ];
}

const machineTemplateErrors = (spec: unknown, prefix: string, context: WebhookContext): readonly FieldError[] => [
  ...taintErrors(at(spec, "machineTemplate", "spec", "taints"), `${prefix}.machineTemplate.spec.taints`, context),
  ...metadataErrors(at(spec, "machineTemplate", "metadata"), `${prefix}.machineTemplate.metadata`),
  ...namingErrors(textAt(spec, "machineNaming", "template"), `${prefix}.machineNaming.template`, {
    "kubeadmControlPlane.name": "control-plane",
  }),
];

const configErrors = (spec: unknown, prefix: string, context: WebhookContext): readonly FieldError[] => {
  const [config, path] = [at(spec, "kubeadmConfigSpec"), `${prefix}.kubeadmConfigSpec`];
  return [...imageErrors(config, path), ...kubeadmConfigSpecErrors(config, path, context), ...healthCheckTimeoutErrors(config, path)];
};

function versionStepErrors(before: string, after: string): readonly FieldError[] {
  const [old, next] = [tolerantVersion(before), tolerantVersion(after)];
  const path = "spec.version";
  if (!old || !next)
    return [
      { reason: "InternalError", field: path, message: `Internal error: version ${JSON.stringify(old ? after : before)} cannot be read` },
    ];
  return next.major === old.major && next.minor < old.minor + 2
    ? []
    : [forbidden(path, `${before} to ${after} skips a minor version: go one minor at a time`)];
}

function coreDnsErrors(before: unknown, after: Draft): readonly FieldError[] {
  const tag = (o: unknown): string => textAt(o, "spec", "kubeadmConfigSpec", "clusterConfiguration", "dns", "imageTag") ?? "";
  const path = "spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag";
  const [from, to] = [tag(before), tag(after)];
  if (from === "" || to === "") return [];
  const [old, next] = [tolerantVersion(from.replace("_", "+")), tolerantVersion(to.replace("_", "+"))];
  if (!old || !next) return [invalid(path, to, "must be a version such as v1.12.1")];
  if (compareCore(old, next) === 0 || annotation(after, skipCoreDNSAnnotation) !== undefined) return [];
  const known = (v: typeof old): boolean => CORE_DNS_VERSIONS.has(`${v.major}.${v.minor}.${v.patch}`);
  const possible = known(old) && known(next) && compareCore(old, next) < 0;
  return possible
    ? []
    : [forbidden(path, `CoreDNS cannot be migrated from ${from} to ${to}: annotate ${skipCoreDNSAnnotation} to do it by hand`)];
}

function changeErrors(before: Draft, after: Draft): readonly FieldError[] {
  const external = isExternalEtcd(before.spec) === isExternalEtcd(after.spec);
  return [
    ...forbiddenChanges(before, after).map((path) => forbidden(path, "cannot be changed")),
    ...versionStepErrors(textAt(before, "spec", "version") ?? "", textAt(after, "spec", "version") ?? ""),
    ...(external
      ? []
      : [
          forbidden(
            "spec.kubeadmConfigSpec.clusterConfiguration.etcd.external",
            "cannot change between etcd on the machines and external etcd",
          ),
        ]),
    ...coreDnsErrors(before, after),
  ];
}

function validate(object: Draft, context: WebhookContext): readonly FieldError[] {
  const spec = object.spec;
  return [
    ...replicaErrors(spec),
    ...["apiGroup", "kind", "name"].flatMap((field) =>
      (textAt(spec, "machineTemplate", "spec", "infrastructureRef", field) ?? "") === ""
        ? [invalid(`spec.machineTemplate.infrastructure.${field}`, "", "must not be empty")]
        : [],
    ),
    ...machineTemplateErrors(spec, "spec", context),
    ...versionErrors(textAt(spec, "version") ?? "", "spec.version"),
    ...rolloutErrors(spec, "spec"),
    ...configErrors(spec, "spec", context),
    ...(context.old ? changeErrors(context.old, object) : []),
  ];
}

export const kubeadmControlPlaneRules: RuleSet = {
  kind: kubeadmControlPlaneKind,
  operations: ["create", "update"],
  errorGroup: clusterGroup,
  defaults,
  validate,
};

/** Upstream looks at replicas only. */
export const kubeadmControlPlaneScaleRules: RuleSet = {
  kind: kubeadmControlPlaneKind,
  subresource: "scale",
  operations: ["update"],
  reads: ({ object }) => [
    { resource: kubeadmControlPlaneKind.resource, key: { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" } },
  ],
  validate: (scale, { found }) => {
    const key = { namespace: scale.metadata.namespace ?? "", name: scale.metadata.name ?? "" };
    const stored = found({ resource: kubeadmControlPlaneKind.resource, key }) as Draft | undefined;
    if (!stored) throw new Refusal(500, `KubeadmControlPlane ${key.namespace}/${key.name} cannot be read`);
    const replicas = Number(at(scale, "spec", "replicas") ?? 0);
    if (replicas <= 0) throw new Refusal(403, "replicas must be 1 or more");
    if (replicas % 2 === 0 && !isExternalEtcd(stored.spec)) throw new Refusal(403, "replicas must be odd with etcd on the machines");
    return [];
  },
};

const TEMPLATE_SPEC = ["spec", "template", "spec"];

function comparable(object: Draft, other: Draft): unknown {
  let spec = at(object, ...TEMPLATE_SPEC);
  if (plain(at(spec, "kubeadmConfigSpec"))) spec = withAt(spec, ["kubeadmConfigSpec"], withOldDefaults(at(spec, "kubeadmConfigSpec")));
  const [mine, theirs] = [at(spec, "rollout", "strategy"), at(other, ...TEMPLATE_SPEC, "rollout", "strategy")];
  // A strategy that an earlier version defaulted is not a change.
  const wasDefault = textAt(theirs, "type") === "RollingUpdate" && at(theirs, "rollingUpdate", "maxSurge") === 1;
  return mine === undefined && wasDefault ? withAt(spec, ["rollout", "strategy"], theirs) : spec;
}

function validateTemplate(object: Draft, context: WebhookContext): readonly FieldError[] {
  const base = "spec.template.spec";
  if (context.old) {
    const [before, after] = [withOldSpec(context.old), comparable(object, context.old)];
    return sameValue(before, after) ? [] : [invalid(base, "changed", "is immutable: create another template and refer to that one")];
  }
  if (!context.gate("ClusterTopology"))
    throw new Refusal(403, "spec: Forbidden: KubeadmControlPlaneTemplates need the feature gate ClusterTopology");
  const spec = at(object, ...TEMPLATE_SPEC);
  return [
    ...rolloutErrors(spec, base),
    ...machineTemplateErrors(spec, base, context),
    ...configErrors(spec, base, context),
    ...metadataErrors(at(object, "spec", "template", "metadata"), "spec.template.metadata"),
  ];
}

const withOldSpec = (object: Draft): unknown => {
  const spec = at(object, ...TEMPLATE_SPEC);
  return plain(at(spec, "kubeadmConfigSpec")) ? withAt(spec, ["kubeadmConfigSpec"], withOldDefaults(at(spec, "kubeadmConfigSpec"))) : spec;
};

export const kubeadmControlPlaneTemplateRules: RuleSet = {
  kind: kubeadmControlPlaneTemplateKind,
  operations: ["create", "update"],
  errorGroup: clusterGroup,
  validate: validateTemplate,
};
