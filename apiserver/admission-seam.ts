// What may change or refuse a write after it was decoded. Here: types and the chain. Not here: plugins (admission/).
import type { UserInfo } from "../api/meta/transport.ts";
import type { ApiObject } from "./object.ts";
import type { ResourceType } from "./registry.ts";

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

export interface AdmissionAttributes {
  readonly operation: Operation;
  readonly type: ResourceType;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** The kind of the body when a subresource has its own (Scale, Eviction); else that of `type`. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly namespace: string;
  /** May be empty on deletecollection only; a generated name is filled in before admission. */
  readonly name: string;
  readonly user: UserInfo;
  /** Absent on DELETE. */
  readonly object?: ApiObject;
  /** Absent on CREATE. */
  readonly oldObject?: ApiObject;
  readonly dryRun: boolean;
  /** CreateOptions, UpdateOptions, PatchOptions as UpdateOptions, DeleteOptions: with apiVersion and kind. */
  readonly options: object;
  /** Adds a Warning header to the answer. */
  warn(text: string): void;
  /** Brings an object that a plugin changed into the form the pipeline expects: defaults, pruning, frozen. Throws ApiError. */
  normalize(object: object): ApiObject;
}

/** Refuses by throwing an ApiError. */
export interface AdmissionPlugin {
  readonly name: string;
  /** @returns the changed object, or undefined for no change */
  mutate?(attributes: AdmissionAttributes): ApiObject | undefined | Promise<ApiObject | undefined>;
  validate?(attributes: AdmissionAttributes): void | Promise<void>;
}
