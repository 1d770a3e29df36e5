// Templates of a topology: whether applying one would change it, and another one in its place when its spec would change.
// Here: dry runs compared, rotation. Not here: the owners that refer to templates (apply.ts). Source: spec/controllers/topology.md sections 9 and 10.
import type { JsonObject, KubeObject } from "../../api/meta/object.ts";
import { keyOf } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import { conversionDataAnnotation, fieldManagers, topologyDryRunAnnotation } from "../../api/names.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { sameJson } from "../../runtime/patch.ts";
import { type AppliedMemory, applyIntent, intentOf } from "../apply/apply.ts";
import type { Unstructured } from "../contract/contract.ts";
import { withRandomSuffix } from "../naming/names.ts";
import type { DesiredTemplate } from "./desired.ts";
import type { Stored } from "./view.ts";

export type TemplateChange = "none" | "metadata" | "spec";

/** What was made in this run, to be taken back when its owner cannot be written. */
export interface TemplateOutcome {
  /** The name that the owner shall refer to. */
  readonly name: string;
  readonly made?: Stored;
  /** The template that `made` replaces. */
  readonly replaced?: Stored;
}

/** Brings a template to its desired state; a changed spec makes a new template, since machines were made from the old one. */
export async function reconcileTemplate(
  desired: DesiredTemplate,
  context: ReconcileContext,
  applied: AppliedMemory,
): Promise<TemplateOutcome> {
  const { object, current, template, namePrefix } = desired;
  const { resource } = template;
  if (!current) return made(desired, await applyIntent(context, resource, object, fieldManagers.topology));
  const change = await templateChange(desired, current, context, applied);
  if (change === "spec") {
    const { uid: _old, ...metadata } = object.metadata;
    const named = { ...object, metadata: { ...metadata, name: withRandomSuffix(namePrefix, context.random) } };
    return { ...made(desired, await applyIntent(context, resource, named, fieldManagers.topology)), replaced: current };
  }
  if (change === "metadata")
    applied.note(await applyIntent(context, resource, object, fieldManagers.topology), fieldManagers.topology, JSON.stringify(object));
  return { name: object.metadata.name ?? "" };
}

const made = ({ template }: DesiredTemplate, object: Unstructured): TemplateOutcome => ({
  name: object.metadata.name ?? "",
  made: { resource: template.resource, object },
});

async function templateChange(
  { object, template }: DesiredTemplate,
  current: Stored,
  context: ReconcileContext,
  applied: AppliedMemory,
): Promise<TemplateChange> {
  if (current.object.kind !== object.kind || current.resource.group !== template.resource.group) return "spec";
  const token = JSON.stringify(object);
  if (applied.isApplied(current.object, fieldManagers.topology, token, () => object)) return "none";
  const after = await dryRun(object, current, context);
  if (!sameJson(after.spec, current.object.spec)) {
    // Defaults may be others than when the template was written: what it would be today counts.
    const today = await dryRun({ ...current.object, metadata: object.metadata }, current, context);
    if (!sameJson(after.spec, today.spec)) return "spec";
  }
  if (sameJson(visible(after), visible(current.object)) && sameJson(ownFields(after), ownFields(current.object))) {
    applied.note(current.object, fieldManagers.topology, token);
    return "none";
  }
  return "metadata";
}

/** The annotation tells admission of providers that an immutable spec is only looked at. */
function dryRun(object: Unstructured, { resource }: Stored, { client }: ReconcileContext): Promise<Unstructured> {
  const annotations = { ...object.metadata.annotations, [topologyDryRunAnnotation]: "" };
  const intent = intentOf({ ...object, metadata: { ...object.metadata, annotations } });
  return client.apply(resource, intent, { fieldManager: fieldManagers.topology, force: true, dryRun: true });
}

function visible({ metadata }: KubeObject): object {
  const { [topologyDryRunAnnotation]: _dry, [conversionDataAnnotation]: _conversion, ...annotations } = metadata.annotations ?? {};
  return { labels: metadata.labels ?? {}, annotations, ownerReferences: metadata.ownerReferences ?? [] };
}

/** What the topology owns, without what the dry run added. */
function ownFields({ metadata }: KubeObject): JsonObject {
  const entry = (metadata.managedFields ?? []).find((e) => e.manager === fieldManagers.topology && e.operation === "Apply");
  const fields = entry?.fieldsV1 ?? {};
  const inMetadata = (fields["f:metadata"] ?? {}) as JsonObject;
  const {
    [`f:${topologyDryRunAnnotation}`]: _dry,
    [`f:${conversionDataAnnotation}`]: _conversion,
    ...annotations
  } = (inMetadata["f:annotations"] ?? {}) as JsonObject;
  return { ...fields, "f:metadata": { ...inMetadata, "f:annotations": annotations } };
}

/** Best effort: what stays goes with the Cluster. */
export async function takeBack(outcomes: readonly (TemplateOutcome | undefined)[], context: ReconcileContext): Promise<void> {
  for (const outcome of outcomes) if (outcome?.made) await deleteTemplate(outcome.made, context);
}

export async function deleteTemplate({ resource, object }: Stored, { client, log }: ReconcileContext): Promise<void> {
  try {
    await client.delete(resource, keyOf(object), { preconditions: { uid: object.metadata.uid } });
  } catch (e) {
    if (isNotFound(e)) return;
    log.warn("a template that nobody uses could not be deleted", {
      name: object.metadata.name,
      error: e instanceof Error ? e.message : String(e),
    });
  }
}
