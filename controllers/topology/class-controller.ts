// ClusterClass controller: tells which variables a class has, ties its templates to it, and says when references are out of date.
// Here: watches, steps, conditions. Not here: merging definitions (class-variables.ts). Source: spec/controllers/topology.md section 1.
import { type ClusterClass, type ClusterClassSpec, clusterClassResource } from "../../api/clusterclass.ts";
import { customResourceDefinitionResource } from "../../api/core/index.ts";
import { type ExtensionConfig, extensionConfigResource } from "../../api/extensionconfig.ts";
import { apiVersionOf, keyOf, type ObjectKey } from "../../api/meta/resource.ts";
import { fieldManagers } from "../../api/names.ts";
import type { TemplateRef } from "../../api/shared.ts";
import type { HookClient } from "../../hooks/client.ts";
import { timestamp } from "../../runtime/base/clock.ts";
import { type Finding, isFalse, isTrue, isUnknown, setConditions } from "../../runtime/conditions.ts";
import { type Controller, controller, mapped, type ReconcileContext, type WatchEnvironment } from "../../runtime/controller.ts";
import { contractKind } from "../contract/contract.ts";
import { independent, throwFailures } from "../lifecycle/independent.ts";
import { isPaused, pausedFinding } from "../lifecycle/paused.ts";
import { writeStatus } from "../lifecycle/status.ts";
import { groupOf, referenceTo, withOwner } from "../ownership/owners.ts";
import { readReference } from "../templates/read.ts";
import { type Definitions, mergedDefinitions } from "./class-variables.ts";

interface ClassView {
  readonly object: ClusterClass;
  readonly findings: Finding[];
  variables?: ReturnType<typeof mergedDefinitions>;
  readonly failures: unknown[];
}

export function clusterClassController({ hooks }: { readonly hooks: HookClient }): Controller<ClusterClass> {
  return controller<ClusterClass, ClassView>(clusterClassResource, {
    fieldManager: fieldManagers.default,
    watches: [mapped(extensionConfigResource, classesThatAsk)],
    reads: [customResourceDefinitionResource],
    load: (object, context) =>
      isRead(object, context) ? { object, findings: [pausedFinding(undefined, object)], failures: [] } : undefined,
    whenLive: [reconcileReferences, reconcileVariables(hooks)].map((step) => independent(unlessPaused(step))),
    finally: writeClassStatus,
  });
}

type ClassStep = (view: ClassView, context: ReconcileContext) => Promise<void>;

const unlessPaused =
  (step: ClassStep): ClassStep =>
  async (view, context) => {
    if (!isPaused(undefined, view.object)) await step(view, context);
  };

// --- references ----------------------------------------------------------------------------------------------------------------------

function templateRefs({ infrastructure, controlPlane, workers }: ClusterClassSpec): readonly TemplateRef[] {
  const all = [
    infrastructure.templateRef,
    controlPlane.templateRef,
    controlPlane.machineInfrastructure?.templateRef,
    ...(workers?.machineDeployments ?? []).flatMap((w) => [w.bootstrap.templateRef, w.infrastructure.templateRef]),
  ].filter((ref) => ref !== undefined);
  const unique = new Map(all.map((ref) => [`${ref.apiVersion} ${ref.kind} ${ref.name}`, ref]));
  return [...unique.values()];
}

/** False while the first list of a template's kind is under way: the key runs again by itself. */
function isRead({ spec }: ClusterClass, { cache, watchAlso }: ReconcileContext): boolean {
  const answers = templateRefs(spec).map((ref) => {
    try {
      return watchAlso({ resource: contractKind(cache, { apiGroup: groupOf(ref.apiVersion), kind: ref.kind }).resource, keys: () => [] });
    } catch {
      return true;
    }
  });
  return answers.every((read) => read);
}

async function reconcileReferences(view: ClassView, context: ReconcileContext): Promise<void> {
  const outdated: string[] = [];
  try {
    for (const ref of templateRefs(view.object.spec)) {
      const { resource } = contractKind(context.cache, { apiGroup: groupOf(ref.apiVersion), kind: ref.kind });
      if (apiVersionOf(resource) !== ref.apiVersion)
        outdated.push(`* ${ref.kind} ${ref.name}: current: ${ref.apiVersion}, latest: ${apiVersionOf(resource)}`);
      await own(view.object, ref, context);
    }
  } catch (e) {
    view.findings.push(isUnknown("RefVersionsUpToDate", "InternalError", e instanceof Error ? e.message : String(e)));
    throw e;
  }
  view.findings.push(
    outdated.length === 0
      ? isTrue("RefVersionsUpToDate")
      : isFalse(
          "RefVersionsUpToDate",
          "RefVersionsNotUpToDate",
          `Following references do not use the newest API version:\n${outdated.join("\n")}`,
        ),
  );
}

/** Templates of a class go with it. */
async function own(clusterClass: ClusterClass, ref: TemplateRef, context: ReconcileContext): Promise<void> {
  const namespace = clusterClass.metadata.namespace ?? "";
  const read = await readReference(context, namespace, { apiGroup: groupOf(ref.apiVersion), kind: ref.kind, name: ref.name });
  if (read.state === "later") throw new Error(`${ref.kind} ${ref.name} is being read`);
  if (read.state === "missing") throw new Error(`${ref.kind} ${namespace}/${ref.name} does not exist: create it, or correct the reference`);
  const { metadata } = read.object;
  const ownerReferences = withOwner(metadata.ownerReferences, referenceTo(clusterClassResource, clusterClass));
  if (ownerReferences === metadata.ownerReferences) return;
  const body = { metadata: { resourceVersion: metadata.resourceVersion, ownerReferences } };
  await context.client.patch(read.kind.resource, keyOf(read.object), { type: "merge", body });
}

// --- variables -----------------------------------------------------------------------------------------------------------------------

const reconcileVariables =
  (hooks: HookClient): ClassStep =>
  async (view, context) => {
    try {
      const { spec } = view.object;
      const sources: Definitions[] = [{ from: "inline", variables: spec.variables ?? [] }];
      for (const patch of context.gates.enabled("RuntimeSDK") ? (spec.patches ?? []) : []) {
        const name = patch.external?.discoverVariablesExtension;
        if (!name) continue;
        const settings = patch.external?.settings;
        const answer = await hooks.callOne("DiscoverVariables", name, view.object, settings ? { settings } : {}, { cacheKey: "" });
        sources.push({ from: patch.name, variables: answer.variables ?? [] });
      }
      const variables = mergedDefinitions(sources);
      view.variables = variables;
      const conflicts = variables.filter((v) => v.definitionsConflict).map((v) => v.name);
      if (conflicts.length > 0) {
        const from = (name: string): string =>
          variables
            .find((v) => v.name === name)
            ?.definitions.map((d) => d.from)
            .join(", ") ?? "";
        throw new Error(`definitions of variables contradict each other: ${conflicts.map((c) => `${c} (${from(c)})`).join("; ")}`);
      }
      view.findings.push(isTrue("VariablesReady"));
    } catch (e) {
      view.findings.push(isFalse("VariablesReady", "VariableDiscoveryFailed", e instanceof Error ? e.message : String(e)));
      throw e;
    }
  };

async function writeClassStatus(view: ClassView, { client, clock }: ReconcileContext): Promise<void> {
  const { object, findings, variables, failures } = view;
  if (object.metadata.deletionTimestamp) return;
  const { generation } = object.metadata;
  const isDone = failures.length === 0 && !isPaused(undefined, object);
  await writeStatus(client, clusterClassResource, object, ({ status }) => ({
    ...status,
    conditions: setConditions(status?.conditions, findings, timestamp(clock.nowMs()), generation),
    ...(variables && variables.length > 0 ? { variables } : variables ? { variables: undefined } : {}),
    ...(isDone ? { observedGeneration: generation } : {}),
  }));
  throwFailures(view);
}

/** Classes with a variable extension of this config, by the name that handlers have: `handler.config`. */
const classesThatAsk = ({ metadata }: ExtensionConfig, { cache }: WatchEnvironment): readonly ObjectKey[] =>
  cache
    .list(clusterClassResource)
    .filter(({ spec }) => (spec.patches ?? []).some((p) => p.external?.discoverVariablesExtension?.endsWith(`.${metadata.name}`)))
    .map(keyOf);
