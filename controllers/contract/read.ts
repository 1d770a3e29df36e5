// Reading a referenced object once per run. Here: cache first, then live, since only a confirmed "not found" counts; failures kept as data.
// Not here: which version a reference means (contract.ts), a reader that throws (../templates/read.ts).
import type { Resource } from "../../api/meta/resource.ts";
import { isNotFound } from "../../api/meta/status.ts";
import type { ReconcileContext, Watch } from "../../runtime/controller.ts";
import { type ContractKind, type ContractRef, contractKind, type Unstructured } from "./contract.ts";

export interface Referenced {
  readonly ref: ContractRef;
  readonly kind?: ContractKind;
  /** Newest version known; a write of ours replaces it. */
  object?: Unstructured;
  /** Why it could not be read. */
  readonly error?: Error;
  /** Confirmed by the server. */
  readonly missing: boolean;
}

/** @param watch which changes of the kind run keys of the calling controller
 *  @returns `later` while the first list of the kind is under way: the key runs again by itself; nothing without a reference */
export async function readReferenced(
  context: ReconcileContext,
  namespace: string,
  ref: ContractRef | undefined,
  watch: (resource: Resource<Unstructured>) => Watch<Unstructured>,
): Promise<Referenced | undefined | "later"> {
  if (!ref?.name) return undefined;
  let kind: ContractKind | undefined;
  try {
    kind = contractKind(context.cache, ref);
    if (!context.watchAlso(watch(kind.resource))) return "later";
    const key = { namespace, name: ref.name };
    const cached = context.cache.get(kind.resource, key);
    return { ref, kind, object: cached ?? (await context.client.get(kind.resource, key)), missing: false };
  } catch (e) {
    if (isNotFound(e)) return { ref, kind, missing: true };
    return { ref, kind, error: e instanceof Error ? e : new Error(String(e)), missing: false };
  }
}
