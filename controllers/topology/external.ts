// Patches by extensions: GeneratePatches, and ValidateTopology after all patches. Here: requests, answers, each patch with its own variables.
// Not here: inline patches (patches.ts), the hook client (hooks/). Source: spec/runtime/hooks.md sections 6.1 and 6.2.
import type { ClusterClassPatch } from "../../api/clusterclass-patches.ts";
import type { HookRequestOf } from "../../api/hooks/index.ts";
import type { TopologyItem } from "../../api/hooks/topology.ts";
import { decodeBase64 } from "../../hooks/base64.ts";
import type { HookClient } from "../../hooks/client.ts";
import { jsonPatch, mergePatch } from "../../schema/patch/index.ts";
import type { Unstructured } from "../contract/contract.ts";
import { type ExternalPatch, type PatchItem, variablesFor } from "./patches.ts";
import { withoutNoise } from "./variables.ts";
import { TopologyFault, type TopologyView } from "./view.ts";

export function externalPatches(view: TopologyView, hooks: HookClient, enabled: boolean): ExternalPatch {
  return async (patch, items) => {
    const name = patch.external?.generatePatchesExtension;
    if (!name) return;
    if (!enabled) throw new TopologyFault("it is made by an extension, and the feature gate RuntimeSDK is off");
    const answer = await hooks.callOne("GeneratePatches", name, view.cluster, requestOf(view, patch, items));
    for (const { uid, patchType, patch: text } of answer.items ?? []) {
      const item = items.find((i) => i.uid === uid);
      if (!item) throw new TopologyFault(`${name} answered for uid ${uid}, which it was not asked about`);
      const document: unknown = JSON.parse(decodeBase64(text));
      item.template = (
        patchType === "JSONPatch" ? jsonPatch(item.template, document) : mergePatch(item.template, document)
      ) as Unstructured;
    }
  };
}

/** @throws TopologyFault with what a validator objects to */
export async function validateTopology(
  view: TopologyView,
  items: readonly PatchItem[],
  hooks: HookClient,
  enabled: boolean,
): Promise<void> {
  if (!enabled) return;
  for (const patch of view.blueprint.clusterClass.spec.patches ?? []) {
    const name = patch.external?.validateTopologyExtension;
    if (!name) continue;
    const { items: asked, ...request } = requestOf(view, patch, items);
    await hooks.callOne("ValidateTopology", name, view.cluster, { ...request, items: asked.map(({ uid: _uid, ...item }) => item) });
  }
}

type GenerateRequest = Omit<HookRequestOf<"GeneratePatches">, "apiVersion" | "kind">;

function requestOf(view: TopologyView, patch: ClusterClassPatch, items: readonly PatchItem[]): GenerateRequest {
  const variables = variablesFor(view, patch.name);
  return {
    ...(patch.external?.settings ? { settings: patch.external.settings } : {}),
    variables: variables.cluster,
    items: items.map((item) => ({
      uid: item.uid,
      holderReference: item.holder,
      object: bare(item.template),
      variables: variables.item(item),
    })),
  };
}

/** What an extension sees of a template. */
function bare(template: Unstructured): TopologyItem["object"] {
  const { managedFields: _fields, annotations, ...metadata } = template.metadata;
  const kept = withoutNoise(annotations);
  return { ...template, metadata: { ...metadata, ...(kept ? { annotations: kept } : {}) } } as TopologyItem["object"];
}
