// Asking the update extension about an old set of a MachineDeployment. Here: both sides of the question, failures told in the view.
// Not here: when to ask (plan.ts), verdict and memory of answers (hooks/). Source: spec/controllers/inplace-workers.md section 4.
import type { MachineSet } from "../../api/machineset.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import type { ContractRef, Unstructured } from "../contract/contract.ts";
import type { AskMemory, CanUpdateMachineSet, SetWithTemplates } from "../inplace/ask.ts";
import { fnv32a } from "../naming/names.ts";
import type { Choice } from "../rollout/compare.ts";
import { isTemplateKind } from "../templates/clone.ts";
import { readReference } from "../templates/read.ts";
import { desiredSet, identityOf, type SetIdentity, storedRevision } from "./desired.ts";
import type { Coverage } from "./plan-view.ts";
import { type Candidate, type DeploymentView, nameOf, revisionOfNew } from "./view.ts";

export interface AskDeps {
  readonly canUpdate: CanUpdateMachineSet;
  readonly asked: AskMemory;
}

/** The first list of some template's kind is under way; the key runs again by itself. */
export class NotYet extends Error {
  readonly code = "NotYet";
}

/** @param tell called with the view that says why nothing can be decided, before this throws */
export async function ask(
  view: DeploymentView,
  context: ReconcileContext,
  deps: AskDeps,
  old: MachineSet,
  choice: Choice<Candidate>,
  identity: SetIdentity,
  newReplicas: number,
  tell: () => void,
): Promise<Coverage> {
  const { deployment, limits } = view;
  const { generation, annotations, uid } = deployment.metadata;
  const key = `${uid}/${nameOf(old)}/${generation}/${fnv32a(JSON.stringify(annotations ?? {}))}`;
  const intent = (set: MachineSet | undefined, id: SetIdentity, replicas: number): MachineSet =>
    desiredSet({
      deployment,
      identity: id,
      existing: set,
      plan: { name: id.name, replicas },
      revision: set && set === old ? storedRevision(set) : revisionOfNew(choice),
      maxSurge: limits.maxSurge,
      old: set === old,
    });
  try {
    const current = await withTemplates(view, context, intent(old, identityOf(old), old.spec.replicas ?? 0));
    const desired = await withTemplates(view, context, intent(choice.newSet?.set, identity, newReplicas));
    return await deps.asked.call(key, view.nowMs, () => deps.canUpdate({ current, desired }));
  } catch (e) {
    if ((e as { code?: unknown }).code === "NotYet") throw e;
    view.outcome.undecided = `MachineSet ${nameOf(old)}: ${e instanceof Error ? e.message : String(e)}`;
    tell();
    throw new Error(
      `cannot decide whether machines of MachineSet ${nameOf(old)} can be updated in place: ${e instanceof Error ? e.message : String(e)}`,
      {
        cause: e,
      },
    );
  }
}

/** @throws Error also for a template that does not exist: without it nobody can tell what would change */
async function withTemplates(view: DeploymentView, context: ReconcileContext, machineSet: MachineSet): Promise<SetWithTemplates> {
  const { infrastructureRef, bootstrap } = machineSet.spec.template.spec;
  const read = async (ref: ContractRef): Promise<Unstructured> => {
    const found = await readReference(context, view.deployment.metadata.namespace ?? "", ref);
    if (found.state === "later") throw new NotYet(`${ref.kind} is being listed`);
    if (found.state === "missing") throw new Error(`${ref.kind} ${ref.name} of MachineSet ${nameOf(machineSet)} does not exist`);
    return found.object;
  };
  const infrastructureMachineTemplate = await read(infrastructureRef);
  const { configRef } = bootstrap;
  if (!configRef?.name || !isTemplateKind(configRef.kind)) return { machineSet, infrastructureMachineTemplate };
  return { machineSet, infrastructureMachineTemplate, bootstrapConfigTemplate: await read(configRef) };
}
