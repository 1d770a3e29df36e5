// Cluster.spec.topology against its ClusterClass: validation. Not here: values of variables (cluster-variables.ts), steps of the version
// (cluster-version.ts), the rest of a Cluster (cluster.ts). Source: spec/api/cluster.md section 5, T1 to U11.
import { clusterClassResource } from "../api/clusterclass.ts";
import type { KubeObject } from "../api/meta/object.ts";
import {
  autoscalerMaxSizeAnnotation,
  autoscalerMinSizeAnnotation,
  clusterTopologyUnsafeUpdateClassNameAnnotation,
  clusterTopologyUnsafeUpdateVersionAnnotation,
  clusterTopologyUpgradeConcurrencyAnnotation,
} from "../api/names.ts";
import { type FieldError, forbidden, indexed, invalid, keyed, required } from "../schema/field.ts";
import { healthCheckErrors, isHealthCheckDefined, metadataErrors, rollingUpdateErrors, taintErrors } from "./checks.ts";
import { compatibilityErrors, isTemplateRefDefined } from "./class-compatibility.ts";
import { skipsVersionCheck, topologyVersion, versionChangeErrors } from "./cluster-version.ts";
import { annotation, at, isZero, listAt, mapAt, textAt } from "./draft.ts";
import { type Draft, type ObjectRead, Unreadable, type WebhookContext } from "./rule-set.ts";
import { versionErrors } from "./versions.ts";

const T = "spec.topology";
/** As upstream: the name of the field in an older version. */
const CLASS = `${T}.class`;

export const topologyOf = (object: unknown): unknown => at(object, "spec", "topology");
export const hasTopology = (object: unknown): boolean => !isZero(topologyOf(object));

export const classNameOf = (object: unknown): string => textAt(topologyOf(object), "classRef", "name") ?? "";
const classNamespaceOf = (object: Draft): string =>
  textAt(topologyOf(object), "classRef", "namespace") || (object.metadata.namespace ?? "");
/** `namespace/name`. */
export const classText = (object: Draft): string => `${classNamespaceOf(object)}/${classNameOf(object)}`;

/** The controller has seen this very class, and its variables are known. */
export function isReconciled(clusterClass: KubeObject | undefined): clusterClass is KubeObject {
  if (!clusterClass || at(clusterClass, "status", "observedGeneration") !== clusterClass.metadata.generation) return false;
  const ready = listAt(clusterClass, "status", "conditions").find((c) => textAt(c, "type") === "VariablesReady");
  return ready !== undefined && textAt(ready, "status") !== "False";
}

export const classRead = (object: Draft): ObjectRead => ({
  resource: clusterClassResource,
  key: { namespace: classNamespaceOf(object), name: classNameOf(object) },
  suffices: isReconciled,
});

/** A class that is left need not be in good order. */
export const oldClassRead = (old: Draft): ObjectRead => ({ ...classRead(old), suffices: () => true });

/** Of a topology: its MachineDeployments or MachinePools. */
interface Pool {
  readonly field: "machineDeployments" | "machinePools";
  readonly pool: unknown;
  readonly path: string;
}

const poolsOf = (object: Draft): readonly Pool[] =>
  (["machineDeployments", "machinePools"] as const).flatMap((field) =>
    listAt(topologyOf(object), "workers", field).map((pool) => ({
      field,
      pool,
      path: keyed(`${T}.workers.${field}`, textAt(pool, "name") ?? ""),
    })),
  );

const deploymentsOf = (object: Draft): readonly Pool[] => poolsOf(object).filter(({ field }) => field === "machineDeployments");

function concurrencyErrors(object: Draft): readonly FieldError[] {
  const text = annotation(object, clusterTopologyUpgradeConcurrencyAnnotation);
  if (text === undefined || (/^\+?\d{1,18}$/.test(text) && Number(text) >= 1)) return [];
  return [invalid(`metadata.annotations.${clusterTopologyUpgradeConcurrencyAnnotation}`, text, "must be a whole number of 1 or more")];
}

/** T3 to T7: what needs no class. */
function ownErrors(object: Draft, context: WebhookContext): readonly FieldError[] {
  const controlPlane = at(topologyOf(object), "controlPlane");
  return [
    ...versionErrors(topologyVersion(object), `${T}.version`),
    ...metadataErrors(at(controlPlane, "metadata"), `${T}.controlPlane.metadata`),
    ...taintErrors(at(controlPlane, "taints"), `${T}.controlPlane.taints`, context),
    ...poolsOf(object).flatMap(({ field, pool, path }) => [
      ...metadataErrors(at(pool, "metadata"), `${path}.metadata`),
      ...taintErrors(at(pool, "taints"), `${path}.taints`, context),
      ...(field === "machineDeployments" ? rollingUpdateErrors(at(pool, "rollout", "strategy"), `${path}.rollout.strategy`) : []),
    ]),
    ...concurrencyErrors(object),
  ];
}

// ---- What the class says

const classesOf = (clusterClass: unknown, field: Pool["field"]): readonly unknown[] => listAt(clusterClass, "spec", "workers", field);

const classOf = (clusterClass: unknown, { field, pool }: Pool): unknown =>
  classesOf(clusterClass, field).find((one) => textAt(one, "class") === textAt(pool, "class"));

function poolErrors(object: Draft, clusterClass: unknown, field: Pool["field"]): readonly FieldError[] {
  const pools = poolsOf(object).filter((p) => p.field === field);
  const known = classesOf(clusterClass, field).map((one) => textAt(one, "class") ?? "");
  return pools.flatMap((one, i) => {
    const [name, path] = [textAt(one.pool, "name") ?? "", indexed(`${T}.workers.${field}`, i)];
    const isRepeated = pools.findIndex((p) => (textAt(p.pool, "name") ?? "") === name) < i;
    return [
      ...(classOf(clusterClass, one) === undefined
        ? [invalid(`${path}.class`, textAt(one.pool, "class"), `is not in the ClusterClass; it has ${known.join(", ") || "none"}`)]
        : []),
      ...(name === "" ? [required(`${path}.name`)] : isRepeated ? [invalid(`${path}.name`, name, "is used twice")] : []),
    ];
  });
}

function healthErrors(healthCheck: unknown, fallback: unknown, path: string): readonly FieldError[] {
  const isDefined = isHealthCheckDefined(healthCheck);
  return [
    ...(isDefined ? healthCheckErrors(healthCheck, path) : []),
    ...(at(healthCheck, "enabled") === true && fallback !== undefined && !isDefined && !isHealthCheckDefined(at(fallback, "healthCheck"))
      ? [forbidden(`${path}.enable`, "cannot be true, since neither the Cluster nor its class says how: give checks or remediation")]
      : []),
  ];
}

/** T9 to T14. */
function classErrors(object: Draft, clusterClass: unknown): readonly FieldError[] {
  const version = topologyVersion(object);
  const versions = listAt(clusterClass, "spec", "kubernetesVersions");
  const healthCheck = at(topologyOf(object), "controlPlane", "healthCheck");
  const path = `${T}.controlPlane.healthCheck`;
  const hasMachines = isTemplateRefDefined(at(clusterClass, "spec", "controlPlane", "machineInfrastructure", "templateRef"));
  return [
    ...(versions.length === 0 || versions.includes(version)
      ? []
      : [invalid(`${T}.version`, version, `is not one of the class's: ${versions.join(", ")}`)]),
    ...poolErrors(object, clusterClass, "machineDeployments"),
    ...poolErrors(object, clusterClass, "machinePools"),
    ...(isHealthCheckDefined(healthCheck) && !hasMachines
      ? [forbidden(path, "needs spec.controlPlane.machineInfrastructure in the ClusterClass")]
      : []),
    ...healthErrors(healthCheck, at(clusterClass, "spec", "controlPlane"), path),
    ...deploymentsOf(object).flatMap((one) =>
      healthErrors(at(one.pool, "healthCheck"), classOf(clusterClass, one), `${one.path}.healthCheck`),
    ),
  ];
}

const isAutoscaled = (owner: unknown): boolean =>
  [autoscalerMinSizeAnnotation, autoscalerMaxSizeAnnotation].some((key) => key in mapAt(owner, "metadata", "annotations"));

/** T15. @param clusterClass undefined: only what the Cluster itself says */
export const autoscalerErrors = (object: Draft, clusterClass: unknown): readonly FieldError[] =>
  deploymentsOf(object).flatMap((one) => {
    const replicas = at(one.pool, "replicas");
    if (replicas === undefined || replicas === null) return [];
    const why = "cannot be set together with the annotations of an autoscaler: leave it out";
    return [one.pool, ...classesOf(clusterClass, one.field).filter((c) => textAt(c, "class") === textAt(one.pool, "class"))]
      .filter(isAutoscaled)
      .map(() => invalid(`${one.path}.replicas`, replicas, why));
  });

// ---- Changes

/** U1 to U11. */
function changeErrors(object: Draft, old: Draft, clusterClass: KubeObject | undefined, context: WebhookContext): readonly FieldError[] {
  if (!clusterClass)
    return [
      {
        reason: "InternalError",
        field: CLASS,
        message: `Internal error: ClusterClass ${classText(object)} does not exist: create it first`,
      },
    ];
  if (!hasTopology(old) || classNameOf(old) === "") {
    if (annotation(object, clusterTopologyUnsafeUpdateClassNameAnnotation) !== undefined) return [];
    return [forbidden(CLASS, "cannot be set on a Cluster that was made without: create the Cluster anew")];
  }
  return [...versionChangeErrors(object, old, clusterClass, context), ...rebaseErrors(object, old, clusterClass, context)];
}

function rebaseErrors(object: Draft, old: Draft, clusterClass: KubeObject, context: WebhookContext): readonly FieldError[] {
  if (classText(object) === classText(old)) return [];
  const before = readable(() => context.found(oldClassRead(old)));
  if (!before || "fault" in before)
    return [forbidden(CLASS, `cannot change while the present ClusterClass ${classText(old)} cannot be read, since they must be compared`)];
  return compatibilityErrors(before, clusterClass);
}

interface Fault {
  readonly fault: string;
}

function readable(read: () => KubeObject | undefined): KubeObject | undefined | Fault {
  try {
    return read();
  } catch (error) {
    if (error instanceof Unreadable) return { fault: error.message };
    throw error;
  }
}

/** Nothing without a topology. */
export function topologyErrors(object: Draft, context: WebhookContext): readonly FieldError[] {
  if (!hasTopology(object)) return [];
  if (!context.gate("ClusterTopology")) return [forbidden(T, "needs the feature gate ClusterTopology")];
  if (classNameOf(object) === "") return [required(CLASS, "name a ClusterClass")];
  const own = ownErrors(object, context);
  const clusterClass = readable(() => context.found(classRead(object)));
  if (clusterClass && "fault" in clusterClass)
    return [...own, { reason: "InternalError", field: CLASS, message: `Internal error: ${clusterClass.fault}` }];
  return [
    ...own,
    ...(clusterClass ? classErrors(object, clusterClass) : []),
    ...autoscalerErrors(object, clusterClass),
    ...(context.old ? changeErrors(object, context.old, clusterClass, context) : []),
  ];
}

/** T8, U4. */
export function topologyWarnings(object: Draft, context: WebhookContext): readonly string[] {
  if (!hasTopology(object) || !context.gate("ClusterTopology") || classNameOf(object) === "") return [];
  const clusterClass = readable(() => context.found(classRead(object)));
  const text = `ClusterClass ${classText(object)}`;
  const incomplete = "the topology could not be checked completely";
  const ofClass =
    clusterClass === undefined
      ? [`${text} does not exist: ${incomplete}; create it, or nothing is made of the Cluster`]
      : "fault" in clusterClass
        ? [`${text} could not be read: ${incomplete}: ${clusterClass.fault}`]
        : isReconciled(clusterClass)
          ? []
          : [`${text} is not reconciled yet: ${incomplete}; look at its status`];
  const skipped = context.old && skipsVersionCheck(object);
  return [
    ...ofClass,
    ...(skipped ? [`the version is not checked, because of the annotation ${clusterTopologyUnsafeUpdateVersionAnnotation}`] : []),
  ];
}
