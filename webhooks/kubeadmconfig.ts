// KubeadmConfig and KubeadmConfigTemplate: validation; the same rules hold inside KubeadmControlPlane.
// Here: rules at a base path. Source: spec/api/kubeadmconfig.md section 4.
import { kubeadmConfigKind } from "../api/kubeadmconfig.ts";
import { kubeadmConfigTemplateKind } from "../api/kubeadmconfig.ts";
import { topologyDryRunAnnotation } from "../api/names.ts";
import { type FieldError, forbidden, invalid, required } from "../schema/field.ts";
import { metadataErrors } from "./checks.ts";
import { annotation, at, listAt, plain, textAt, withAt } from "./draft.ts";
import type { Draft, RuleSet, WebhookContext } from "./rule-set.ts";

const secretErrors = (source: unknown, path: string): readonly FieldError[] =>
  plain(source)
    ? ["name", "key"].flatMap((field) => ((textAt(source, "secret", field) ?? "") === "" ? [required(`${path}.secret.${field}`)] : []))
    : [];

function fileErrors(files: readonly unknown[], base: string): readonly FieldError[] {
  const seen = new Set<string>();
  return files.flatMap((file, i) => {
    const path = textAt(file, "path") ?? "";
    const repeated = seen.has(path);
    seen.add(path);
    return [
      ...((textAt(file, "content") ?? "") !== "" && plain(at(file, "contentFrom"))
        ? [invalid(`${base}.files[${i}]`, path, "give content or contentFrom, not both")]
        : []),
      ...secretErrors(at(file, "contentFrom"), `${base}.files[${i}].contentFrom`),
      ...(repeated ? [invalid(`${base}.files[${i}].path`, path, "is given twice: keep one entry")] : []),
    ];
  });
}

const userErrors = (users: readonly unknown[], base: string): readonly FieldError[] =>
  users.flatMap((user, i) => [
    ...((textAt(user, "passwd") ?? "") !== "" && plain(at(user, "passwdFrom"))
      ? [invalid(`${base}.users[${i}]`, textAt(user, "name"), "give passwd or passwdFrom, not both")]
      : []),
    ...secretErrors(at(user, "passwdFrom"), `${base}.users[${i}].passwdFrom`),
  ]);

/** What Ignition cannot do. */
function ignitionLimits(spec: unknown, base: string): readonly FieldError[] {
  return [
    ...listAt(spec, "users").flatMap((u, i) =>
      at(u, "inactive") === true ? [forbidden(`${base}.users[${i}].inactive`, "is not supported with format ignition")] : [],
    ),
    ...listAt(spec, "files").flatMap((f, i) =>
      ["gzip", "gzip+base64"].includes(textAt(f, "encoding") ?? "")
        ? [forbidden(`${base}.files[${i}].encoding`, "compressed files are not supported with format ignition")]
        : [],
    ),
    ...(listAt(spec, "bootCommands").length > 0 ? [forbidden(`${base}.bootCommands`, "are not supported with format ignition")] : []),
    ...listAt(spec, "diskSetup", "partitions").flatMap((p, i) => {
      const type = textAt(p, "tableType");
      return type && type !== "gpt"
        ? [invalid(`${base}.diskSetup.partitions[${i}].tableType`, type, "only gpt is supported with format ignition")]
        : [];
    }),
    ...listAt(spec, "diskSetup", "filesystems").flatMap((f, i) =>
      ["replaceFS", "partition"].flatMap((field) =>
        (textAt(f, field) ?? "") === ""
          ? []
          : [forbidden(`${base}.diskSetup.filesystems[${i}].${field}`, "is not supported with format ignition")],
      ),
    ),
  ];
}

function formatErrors(spec: unknown, base: string, context: WebhookContext): readonly FieldError[] {
  const [format, ignition] = [textAt(spec, "format") ?? "", plain(at(spec, "ignition"))];
  if (!context.gate("KubeadmBootstrapFormatIgnition")) {
    const why = "needs the feature gate KubeadmBootstrapFormatIgnition";
    return [
      ...(format === "ignition" ? [forbidden(`${base}.format`, why)] : []),
      ...(ignition ? [forbidden(`${base}.ignition`, why)] : []),
    ];
  }
  if (format !== "ignition") return ignition ? [invalid(`${base}.format`, format, "must be ignition when ignition is given")] : [];
  return ignitionLimits(spec, base);
}

const diskErrors = (spec: unknown, base: string): readonly FieldError[] =>
  listAt(spec, "diskSetup", "partitions").flatMap((partition, i) => {
    const sum = listAt(partition, "diskLayout").reduce<number>((total, part) => total + Number(at(part, "percentage") ?? 0), 0);
    return sum > 100 ? [invalid(`${base}.diskSetup.partitions[${i}].diskLayout`, sum, "percentages add up to more than 100")] : [];
  });

function discoveryErrors(spec: unknown, base: string): readonly FieldError[] {
  const user = at(spec, "joinConfiguration", "discovery", "file", "kubeConfig", "user");
  return plain(at(user, "exec")) && plain(at(user, "authProvider"))
    ? [invalid(`${base}.joinConfiguration.discovery.file.kubeconfig.user`, "exec and authProvider", "give one of them")]
    : [];
}

/** @param base `spec`, `spec.template.spec`, `spec.kubeadmConfigSpec` ... */
export function kubeadmConfigSpecErrors(spec: unknown, base: string, context: WebhookContext): readonly FieldError[] {
  return [
    ...fileErrors(listAt(spec, "files"), base),
    ...userErrors(listAt(spec, "users"), base),
    ...formatErrors(spec, base, context),
    ...diskErrors(spec, base),
    ...discoveryErrors(spec, base),
  ];
}

/** Rule 11: control planes only. */
export function healthCheckTimeoutErrors(spec: unknown, base: string): readonly FieldError[] {
  const of = (part: string): unknown => at(spec, part, "timeouts", "controlPlaneComponentHealthCheckSeconds");
  const [init, join] = [of("initConfiguration"), of("joinConfiguration")];
  if (init === join) return [];
  return ["initConfiguration", "joinConfiguration"].map((part) =>
    invalid(
      `${base}.${part}.timeouts.controlPlaneComponentHealthCheckSeconds`,
      of(part),
      "must be the same in initConfiguration and joinConfiguration",
    ),
  );
}

/** Defaults that earlier API versions wrote: added for comparisons only. */
export function withOldDefaults<T>(spec: T): T {
  let next = spec;
  if (!textAt(next, "format")) next = withAt(next, ["format"], "cloud-config");
  for (const part of ["initConfiguration", "joinConfiguration"]) {
    if (!textAt(next, part, "nodeRegistration", "imagePullPolicy"))
      next = withAt(next, [part, "nodeRegistration", "imagePullPolicy"], "IfNotPresent");
  }
  const exec = ["joinConfiguration", "discovery", "file", "kubeConfig", "user", "exec"];
  if (plain(at(next, ...exec)) && !textAt(next, ...exec, "apiVersion"))
    next = withAt(next, [...exec, "apiVersion"], "client.authentication.k8s.io/v1");
  return next;
}

export const kubeadmConfigRules: RuleSet = {
  kind: kubeadmConfigKind,
  operations: ["create", "update"],
  validate: (object, context) => kubeadmConfigSpecErrors(at(object, "spec"), "spec", context),
};

const TEMPLATE_SPEC = ["spec", "template", "spec"];

function templateDefaults(object: Draft, { dryRun }: WebhookContext): Draft {
  const topology = dryRun && annotation(object, topologyDryRunAnnotation) !== undefined;
  return topology && plain(at(object, ...TEMPLATE_SPEC))
    ? withAt(object, TEMPLATE_SPEC, withOldDefaults(at(object, ...TEMPLATE_SPEC)))
    : object;
}

export const kubeadmConfigTemplateRules: RuleSet = {
  kind: kubeadmConfigTemplateKind,
  operations: ["create", "update"],
  defaults: templateDefaults,
  validate: (object, context) => [
    ...kubeadmConfigSpecErrors(at(object, ...TEMPLATE_SPEC), "spec.template.spec", context),
    ...metadataErrors(at(object, "spec", "template", "metadata"), "spec.template.metadata"),
  ],
};
