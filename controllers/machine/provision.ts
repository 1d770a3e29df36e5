// What a Machine takes from its bootstrap and infrastructure objects, as a pure function. Here: contract fields, adoption of those objects.
// Not here: reading and writing (view.ts, steps.ts). Source: spec/controllers/machine.md sections 3 and 4.
import type { Machine, MachineSpec, MachineStatus } from "../../api/machine.ts";
import { machineResource } from "../../api/machine.ts";
import type { OwnerReference } from "../../api/meta/object.ts";
import { clusterNameLabel } from "../../api/names.ts";
import { ownerReference } from "../../runtime/controller.ts";
import { type Fields, isTrueAt, listAt, textAt, type Unstructured } from "../contract/contract.ts";
import type { Referenced } from "../contract/read.ts";
import type { MachineView } from "./view.ts";

const MISSING_RETRY_MS = 30_000;
const PROVIDER_ID_RETRY_MS = 5_000;

export interface Provisioned {
  /** Merge patch of spec; absent = nothing to write. */
  readonly spec?: {
    readonly bootstrap?: { readonly dataSecretName: string };
    readonly providerID?: string;
    readonly failureDomain?: string;
  };
  readonly status: Partial<MachineStatus>;
  readonly requeueAfterMs?: number;
  readonly failure?: string;
}

const nothing: Provisioned = { status: {} };
const nameOf = (referenced: Referenced): string => `${referenced.ref.kind} ${referenced.ref.name}`;
const deleting = (object: Unstructured | Machine): boolean => object.metadata.deletionTimestamp !== undefined;

export function planBootstrap({ machine, bootstrap }: MachineView): Provisioned {
  const created: Partial<MachineStatus> = { initialization: { ...machine.status?.initialization, bootstrapDataSecretCreated: true } };
  if (!bootstrap) return machine.spec.bootstrap.dataSecretName === undefined ? nothing : { status: created };
  if (bootstrap.error) return { ...nothing, failure: `${nameOf(bootstrap)} could not be read: ${bootstrap.error.message}` };
  if (!bootstrap.object) return deleting(machine) ? nothing : { ...nothing, requeueAfterMs: MISSING_RETRY_MS };
  if (machine.spec.bootstrap.dataSecretName) return { status: created };
  const { object, kind } = bootstrap;
  const ready = isTrueAt(object, kind?.contract === "v1beta1" ? "status.ready" : "status.initialization.dataSecretCreated");
  if (deleting(object) || !ready) return nothing;
  const dataSecretName = textAt(object, "status.dataSecretName");
  if (!dataSecretName)
    return { ...nothing, failure: `${nameOf(bootstrap)} says that its data is there but names no Secret in status.dataSecretName` };
  return { spec: { bootstrap: { dataSecretName } }, status: created };
}

export function planInfrastructure({ machine, infrastructure }: MachineView): Provisioned {
  if (!infrastructure) return nothing;
  const wasProvisioned = machine.status?.initialization?.infrastructureProvisioned === true;
  if (infrastructure.error) return { ...nothing, failure: `${nameOf(infrastructure)} could not be read: ${infrastructure.error.message}` };
  const { object, kind } = infrastructure;
  if (!object) {
    if (deleting(machine)) return nothing;
    if (wasProvisioned) return { ...nothing, failure: `${nameOf(infrastructure)} has been deleted after being provisioned` };
    return { ...nothing, requeueAfterMs: MISSING_RETRY_MS };
  }
  const ready = isTrueAt(object, kind?.contract === "v1beta1" ? "status.ready" : "status.initialization.provisioned");
  if (deleting(object) || (!ready && !wasProvisioned)) return nothing;
  const providerID = textAt(object, "spec.providerID");
  if (!providerID) return { ...nothing, requeueAfterMs: PROVIDER_ID_RETRY_MS };
  return {
    spec: changedSpec(machine.spec, providerID, textAt(object, "spec.failureDomain")),
    status: {
      initialization: { ...machine.status?.initialization, infrastructureProvisioned: true },
      addresses: addressesOf(listAt(object, "status.addresses")),
      failureDomain: textAt(object, "status.failureDomain"),
    },
  };
}

function changedSpec(spec: MachineSpec, providerID: string, failureDomain: string | undefined): Provisioned["spec"] {
  const changes = {
    ...(spec.providerID === providerID ? {} : { providerID }),
    ...(failureDomain === undefined || spec.failureDomain === failureDomain ? {} : { failureDomain }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

function addressesOf(addresses: readonly Fields[]): MachineStatus["addresses"] {
  return addresses.length === 0 ? undefined : (addresses as unknown as MachineStatus["addresses"]);
}

/** Both plans in one: one write of spec, one set of status fields, the earliest wait. */
export function mergeProvisioned(a: Provisioned, b: Provisioned): Provisioned {
  const waits = [a.requeueAfterMs, b.requeueAfterMs].filter((ms) => ms !== undefined);
  return {
    spec: a.spec || b.spec ? { ...a.spec, ...b.spec } : undefined,
    status: { ...a.status, ...b.status, ...mergedInitialization(a, b) },
    requeueAfterMs: waits.length === 0 ? undefined : Math.min(...waits),
    failure: [a.failure, b.failure].filter((text) => text !== undefined).join("; ") || undefined,
  };
}

/** The key is left out when neither says something: what is stored stays. */
function mergedInitialization(a: Provisioned, b: Provisioned): Partial<MachineStatus> {
  const initialization = { ...a.status.initialization, ...b.status.initialization };
  return Object.keys(initialization).length === 0 ? {} : { initialization };
}

/** Merge patch that makes the Machine the controller of one of its objects; nothing when it is already.
 *  @param formerKinds owners of these kinds step back: they only held the object until the Machine existed
 *  @throws when another object controls it */
export function adoptionPatch(machine: Machine, object: Unstructured, formerKinds: readonly string[]): object | undefined {
  const wanted = ownerReference(machine, machineResource);
  const owners = object.metadata.ownerReferences ?? [];
  const others = owners.filter((o) => !formerKinds.includes(o.kind) && o.uid !== wanted.uid);
  const rival = others.find((o) => o.controller === true);
  if (rival)
    throw new Error(
      `${object.kind} ${object.metadata.name} is controlled by ${rival.kind} ${rival.name}, so that this Machine cannot use it`,
    );
  const isOwner = owners.some((o) => isSameOwner(o, wanted));
  const labelled = object.metadata.labels?.[clusterNameLabel] === machine.spec.clusterName;
  if (isOwner && others.length === owners.length - 1 && labelled) return undefined;
  return {
    metadata: {
      resourceVersion: object.metadata.resourceVersion,
      labels: { [clusterNameLabel]: machine.spec.clusterName },
      ownerReferences: [...others, wanted],
    },
  };
}

const isSameOwner = (a: OwnerReference, b: OwnerReference): boolean =>
  a.apiVersion === b.apiVersion && a.kind === b.kind && a.name === b.name && a.uid === b.uid && a.controller === true;
