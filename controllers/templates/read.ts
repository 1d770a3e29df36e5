// Reading objects that are known by reference only. Here: from the cache, and live where the cache has nothing yet.
// Not here: which version a reference means (../contract). Source: spec/controllers/machinedeployment.md sections 0.6 and 2.
import type { KubeObject } from "../../api/meta/object.ts";
import { isNotFound } from "../../api/meta/status.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { isTemplateKind } from "./clone.ts";
import { type ContractKind, type ContractRef, contractKind, type Unstructured } from "../contract/contract.ts";

export type Read =
  | { readonly state: "found"; readonly ref: ContractRef; readonly kind: ContractKind; readonly object: Unstructured }
  /** Confirmed by the server. */
  | { readonly state: "missing"; readonly ref: ContractRef; readonly kind: ContractKind }
  /** The first list of the kind is under way; the key runs again by itself. */
  | { readonly state: "later"; readonly ref: ContractRef };

/** What a set or deployment knows of a template it refers to. */
export type TemplateRead =
  | Exclude<Read, { state: "later" }>
  /** Why it could not be read. */
  | { readonly state: "failed"; readonly ref: ContractRef; readonly error: unknown };

/** For conditions: kinds of templates that do not exist, and why others could not be read. */
export function templateFaults(reads: readonly (TemplateRead | undefined)[]): {
  readonly missing: readonly string[];
  readonly unreadable: readonly string[];
} {
  return {
    missing: reads.flatMap((read) => (read?.state === "missing" ? [read.ref.kind] : [])),
    unreadable: reads.flatMap((read) =>
      read?.state === "failed"
        ? [`${read.ref.kind} cannot be read: ${read.error instanceof Error ? read.error.message : String(read.error)}`]
        : [],
    ),
  };
}

/** Reads a template; a reference to a kind that is no template is nothing to read. A fault is an answer here: steps that need no template go on.
 *  @returns `later` while the first list of its kind is under way */
export async function readTemplate(
  context: ReconcileContext,
  namespace: string,
  ref: ContractRef | undefined,
): Promise<TemplateRead | undefined | "later"> {
  if (!ref?.name || !isTemplateKind(ref.kind)) return undefined;
  try {
    const read = await readReference(context, namespace, ref);
    return read.state === "later" ? "later" : read;
  } catch (error) {
    return { state: "failed", ref, error };
  }
}

/** @throws ContractUnknown, or what the server answered other than "not found" */
export async function readReference(context: ReconcileContext, namespace: string, ref: ContractRef): Promise<Read> {
  const kind = contractKind(context.cache, ref);
  if (!context.watchAlso<KubeObject>({ resource: kind.resource, keys: () => [] })) return { state: "later", ref };
  const key = { namespace: kind.resource.namespaced ? namespace : "", name: ref.name };
  const cached = context.cache.get(kind.resource, key);
  if (cached) return { state: "found", ref, kind, object: cached };
  try {
    return { state: "found", ref, kind, object: await context.client.get(kind.resource, key) };
  } catch (e) {
    if (isNotFound(e)) return { state: "missing", ref, kind };
    throw e;
  }
}
