// Pods: what a create sets, which fields may change later, grace, binding. Not here: eviction (../eviction.ts), columns (../../table).
import type { StatusCause } from "../../../api/meta/status.ts";
import { timestamp } from "../../../runtime/base/clock.ts";
import { conflict, fieldForbidden, fieldInvalid, forbidden, notFound } from "../../errors.ts";
import { type ApiObject, sameJson } from "../../object.ts";
import type { Strategy, StrategyContext, SubresourceHandler } from "../../registry.ts";
import { asFields, asList, asNumber, asText, at, type Fields, specOf, statusOf } from "./fields.ts";

const PODS = { group: "", plural: "pods" } as const;
const SYSTEM_PRIORITY: Readonly<Record<string, number>> = {
  "system-cluster-critical": 2_000_000_000,
  "system-node-critical": 2_000_001_000,
};
/** How long a pod stays on a node that is not ready or not reachable, unless it says otherwise. */
const TOLERATION_SECONDS = 300;

/** Guaranteed, Burstable or BestEffort, from requests and limits of cpu and memory. */
function qosClassOf(spec: Fields): string {
  const containers = [...asList(spec.containers), ...asList(spec.initContainers)];
  const computed = (resources: unknown): readonly [string, unknown][] =>
    Object.entries(asFields(resources)).filter(([name]) => name === "cpu" || name === "memory");
  let any = false;
  let all = true;
  for (const container of containers) {
    const resources = asFields(container.resources);
    const requests = Object.fromEntries(computed(resources.requests));
    const limits = Object.fromEntries(computed(resources.limits));
    if (Object.keys(requests).length + Object.keys(limits).length > 0) any = true;
    const full =
      "cpu" in limits && "memory" in limits && Object.keys(limits).every((name) => (requests[name] ?? limits[name]) === limits[name]);
    if (!full) all = false;
  }
  return !any ? "BestEffort" : all ? "Guaranteed" : "Burstable";
}

function tolerations(spec: Fields): readonly Fields[] {
  const given = asList(spec.tolerations);
  const missing = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].filter(
    (key) =>
      !given.some((t) => (asText(t.key) === key || asText(t.key) === "") && (asText(t.effect) === "NoExecute" || asText(t.effect) === "")),
  );
  return [...given, ...missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: TOLERATION_SECONDS }))];
}

function priority(spec: Fields, object: ApiObject, { server }: StrategyContext): Fields {
  const name = asText(spec.priorityClassName);
  if (name === "") return { priority: 0, preemptionPolicy: spec.preemptionPolicy ?? "PreemptLowerPriority" };
  const type = server.registry.byKind("scheduling.k8s.io", "v1", "PriorityClass");
  const found = type && server.objects.get(type, "", name);
  const value = found === undefined ? SYSTEM_PRIORITY[name] : asNumber(found.value);
  if (value === undefined) throw forbidden(PODS, object.metadata.name ?? "", `no PriorityClass with name ${name} was found`);
  return { priority: value, preemptionPolicy: spec.preemptionPolicy ?? found?.preemptionPolicy ?? "PreemptLowerPriority" };
}

function validatePod(object: ApiObject): readonly StatusCause[] {
  const spec = specOf(object);
  const names = [...asList(spec.containers), ...asList(spec.initContainers)].map((c) => asText(c.name));
  const twice = names.filter((name, i) => name !== "" && names.indexOf(name) !== i);
  const volumes = new Set(asList(spec.volumes).map((v) => asText(v.name)));
  const unknown = asList(spec.containers).flatMap((c, i) =>
    asList(c.volumeMounts).flatMap((m, j) =>
      volumes.has(asText(m.name))
        ? []
        : [
            {
              reason: "FieldValueNotFound",
              message: `Not found: "${asText(m.name)}"`,
              field: `spec.containers[${i}].volumeMounts[${j}].name`,
            },
          ],
    ),
  );
  return [...twice.map((name) => fieldInvalid("spec.containers", name, "container names must be unique")), ...unknown];
}

const MUTABLE = ["activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "schedulingGates"] as const;
const MUTABLE_TEXT =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** The new spec with everything that may change put back. */
function masked(spec: Fields, old: Fields): Fields {
  const images = (list: unknown, before: unknown): unknown =>
    Array.isArray(list) ? asList(list).map((c, i) => ({ ...c, image: asList(before)[i]?.image })) : list;
  const next: Record<string, unknown> = { ...spec };
  for (const list of ["containers", "initContainers"]) next[list] = images(spec[list], old[list]);
  for (const field of MUTABLE) next[field] = old[field];
  if (asList(old.schedulingGates).length > 0) for (const field of ["nodeSelector", "affinity"]) next[field] = old[field];
  return next;
}

function validatePodUpdate(object: ApiObject, old: ApiObject): readonly StatusCause[] {
  const [spec, before] = [specOf(object), specOf(old)];
  for (const list of ["containers", "initContainers"]) {
    if (asList(spec[list]).length !== asList(before[list]).length) {
      return [fieldForbidden(`spec.${list}`, "pod updates may not add or remove containers")];
    }
  }
  const kept = asList(before.tolerations).every((t) => asList(spec.tolerations).some((n) => n.key === t.key && n.effect === t.effect));
  const causes: StatusCause[] = [];
  if (!kept) causes.push(fieldForbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"));
  if (!sameJson(masked(spec, before), before)) causes.push(fieldForbidden("spec", MUTABLE_TEXT));
  return causes;
}

export const podStrategy: Strategy = {
  prepareForCreate: (object, context) => {
    const spec = specOf(object);
    return {
      ...object,
      spec: { ...spec, ...priority(spec, object, context), tolerations: tolerations(spec) },
      status: { phase: "Pending", qosClass: qosClassOf(spec) },
    };
  },
  validate: validatePod,
  validateUpdate: (object, old, { subresource }) => (subresource === "" ? validatePodUpdate(object, old) : []),
  generation: "spec",
  returnDeletedObject: true,
  // A pod that runs nowhere, or no more, has nothing to wind down.
  graceSeconds: (object) => {
    const phase = asText(statusOf(object).phase);
    if (asText(specOf(object).nodeName) === "" || phase === "Succeeded" || phase === "Failed") return 0;
    return asNumber(specOf(object).terminationGracePeriodSeconds, 30);
  },
};

const BOUND = "PodScheduled";

/** Puts a pod on a node. Throws Conflict when it is on one already. */
export const bindingHandler: SubresourceHandler = {
  verbs: ["create"],
  kind: { group: "", version: "v1", kind: "Binding" },
  handle: async ({ type, namespace, name, object, dryRun, user, server }) => {
    const node = asText(at(object, "target.name"));
    const bound = await server.objects.update(
      type,
      namespace,
      name,
      (old) => {
        const current = asText(specOf(old).nodeName);
        if (current !== "")
          throw conflict({ group: "", plural: "pods/binding", kind: "Pod" }, name, `pod ${name} is already assigned to node "${current}"`);
        const others = asList(statusOf(old).conditions).filter((c) => c.type !== BOUND);
        const scheduled = { type: BOUND, status: "True", lastProbeTime: null, lastTransitionTime: timestamp(server.clock.nowMs()) };
        return { ...old, spec: { ...specOf(old), nodeName: node }, status: { ...statusOf(old), conditions: [...others, scheduled] } };
      },
      { subresource: "binding", dryRun, user },
    );
    if (!bound) throw notFound({ group: "", plural: "pods", kind: "Pod" }, name);
    return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
  },
};
