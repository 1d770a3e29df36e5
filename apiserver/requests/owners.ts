// Owner references that name the same owner twice. Here: dropping them, with upstream's warning.
import type { OwnerReference } from "../../api/meta/object.ts";
import { type ApiObject, deepFreeze, sameJson, withMetadata } from "../object.ts";
import { type Call, warn } from "./call.ts";

/** @returns the same object when there is nothing to drop */
export function dedupOwners(call: Call, object: ApiObject): ApiObject {
  const owners = object.metadata.ownerReferences;
  if (!owners || owners.length < 2) return object;
  const kept: OwnerReference[] = [];
  const dropped = new Set<string>();
  for (const owner of owners) {
    if (kept.some((other) => sameJson(other, owner))) dropped.add(owner.uid);
    else kept.push(owner);
  }
  if (dropped.size === 0) return object;
  warn(
    call,
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...dropped].join(", ")}`,
  );
  return deepFreeze(withMetadata(object, { ownerReferences: kept }));
}
