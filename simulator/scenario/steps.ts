// Steps of a scenario: what they wait for, what they do. Here: one step at a time. Not here: their order (run.ts), fields (schema.ts).
import { kindOf } from "../../api/index.ts";
import { namespaceResource } from "../../api/core/index.ts";
import { machineResource } from "../../api/machine.ts";
import type { Condition, KubeObject } from "../../api/meta/object.ts";
import type { Resource } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import { hasStatus } from "../../runtime/conditions.ts";
import type { Client } from "../../runtime/client.ts";
import { NO_FAULTS, type FaultSettings } from "../faults/faults.ts";
import { nodeFacts } from "../host/exec.ts";
import { assertKnown, ScenarioError } from "./read.ts";
import type { Running } from "./running.ts";
import type { ScenarioStep } from "./schema.ts";

export async function runStep(running: Running, step: ScenarioStep, index: number): Promise<void> {
  const { virtual, say } = running;
  const title = step.name ?? `step ${index + 1}`;
  if (step.afterSeconds !== undefined) await virtual.pass(step.afterSeconds * 1_000);
  if (step.when) {
    const { when } = step;
    await virtual.until(`what ${title} waits for`, () => holds(running, when), running.leftMs());
  }
  say(title);
  await act(running, step);
}

type Trigger = NonNullable<ScenarioStep["when"]>;

async function holds({ owners, user }: Running, when: Trigger): Promise<boolean> {
  // Asked even when it is not wanted: owners that have come to rest get their narrower bounds.
  const converged = owners.converged();
  if (when.converged && !converged) return false;
  const { created = 0, deleted = 0, updatedInPlace = 0, updating = 0 } = when.machines ?? {};
  const { all } = owners;
  if (all.created < created || all.deleted < deleted || all.updatedInPlace < updatedInPlace) return false;
  if (all.machines().filter((m) => m.updating).length < updating) return false;
  if (!when.condition) return true;
  const { kind, name, namespace = "default", type, status } = when.condition;
  const object = await user.get(resourceOf(kind), { namespace, name }).catch(unlessNotFound);
  return hasStatus((object as { status?: { conditions?: readonly Condition[] } } | undefined)?.status?.conditions, type, status);
}

const unlessNotFound = (e: unknown): undefined => {
  if (!isNotFound(e)) throw e;
};

function resourceOf(kind: string): Resource {
  const found = kindOf(kind);
  if (!found) throw new ScenarioError(`a step names the kind ${kind}, which a simulation does not know`, "use kinds of Cluster API");
  return found.resource;
}

const keyOf = ({ name, namespace = "default" }: { readonly name: string; readonly namespace?: string }) => ({ namespace, name });

async function act(running: Running, step: ScenarioStep): Promise<void> {
  const { user, readFile } = running;
  const objects = [...(step.files ?? []).flatMap((name) => readFile(name)), ...(step.apply ?? [])] as readonly KubeObject[];
  await applyAll(user, objects);
  if (step.patch) await user.patch(resourceOf(step.patch.kind), keyOf(step.patch), { type: "merge", body: step.patch.merge });
  if (step.scale) {
    const { kind, replicas } = step.scale;
    await user.patch(resourceOf(kind), keyOf(step.scale), { type: "merge", body: { spec: { replicas } } });
  }
  if (step.delete) await user.delete(resourceOf(step.delete.kind), keyOf(step.delete));
  if (step.fault) await goWrong(running, step.fault);
}

/** As kubectl does; an object without a namespace goes to default. */
export async function applyAll(user: Client, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    assertKnown(object, "the scenario");
    const resource = kindOf(object.kind)?.resource ?? namespaceResource;
    const named = resource.namespaced ? { ...object, metadata: { namespace: "default", ...object.metadata } } : object;
    await user.apply(resource as Resource, named, { force: true });
  }
}

// --- faults --------------------------------------------------------------------------------------------------------------------------

type FaultStep = NonNullable<ScenarioStep["fault"]>;

async function goWrong(running: Running, fault: FaultStep): Promise<void> {
  const { faults } = running;
  for (const name of Object.keys(NO_FAULTS) as (keyof FaultSettings)[]) {
    const value = fault[name];
    if (value !== undefined) faults.settings[name] = value;
  }
  if (fault.breakWatches) faults.breakWatches();
  if (fault.restart) faults.restartNow();
  if (fault.loseNode) await loseNode(running, fault.loseNode);
}

async function loseNode(
  { user, virtual, lost, say }: Running,
  { machine: wanted, namespace = "default", forSeconds }: NonNullable<FaultStep["loseNode"]>,
): Promise<void> {
  const { world, clock } = virtual;
  const machines = (await user.list(machineResource, { namespace })).items
    .filter((m) => m.metadata.deletionTimestamp === undefined && m.status?.nodeRef !== undefined)
    .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  const machine = machines.find((m) => m.metadata.name === wanted) ?? machines.find((m) => m.metadata.name?.startsWith(wanted));
  if (!machine) throw new ScenarioError(`no Machine ${wanted} has a Node to lose`, "name a Machine, or the beginning of its name");
  const key = { namespace, name: machine.spec.infrastructureRef.name };
  const report = async (ready: boolean): Promise<void> => {
    const host = world.hosts.get(key);
    if (host) await world.clusters.find(host.cluster)?.reportNode(nodeFacts(key, host, ready));
  };
  lost.add(machine.metadata.name ?? "");
  say(`the Node of ${machine.metadata.name} is lost`);
  await report(false);
  if (forSeconds !== undefined) clock.after(forSeconds * 1_000, () => void report(true));
}
