// What the parts of one server share. Here: the type. Not here: who builds it (server.ts).
import type { ApiRequest, ApiResponse, Transport, UserInfo } from "../api/meta/transport.ts";
import type { Clock } from "../runtime/base/clock.ts";
import type { Logger } from "../runtime/base/log.ts";
import type { Random } from "../runtime/base/random.ts";
import type { Authenticator, Authorizer } from "./auth-seam.ts";
import type { ApiObject } from "./object.ts";
import type { Registry, ResourceType } from "./registry.ts";
import type { Change } from "./store/store.ts";

export interface InternalWriteOptions {
  /** Field manager in managedFields. Default: `kube-apiserver`. */
  readonly manager?: string;
  readonly subresource?: string;
  readonly dryRun?: boolean;
  readonly user?: UserInfo;
}

export interface InternalDeleteOptions extends InternalWriteOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
}

/** The server's own access to objects: past authentication and authorization, through admission, defaults and validation. */
export interface ObjectAccess {
  get(type: ResourceType, namespace: string, name: string): ApiObject | undefined;
  /** Sorted by namespace and name. @param namespace absent = all */
  list(type: ResourceType, namespace?: string): readonly ApiObject[];
  create(type: ResourceType, object: object, options?: InternalWriteOptions): Promise<ApiObject>;
  /**
   * Read, change, write; repeated on conflict. The change returns undefined or the same object for no write.
   * @returns the object stored, undefined when it does not exist
   */
  update(
    type: ResourceType,
    namespace: string,
    name: string,
    change: (old: ApiObject) => ApiObject | undefined,
    options?: InternalWriteOptions,
  ): Promise<ApiObject | undefined>;
  /** Does nothing when the object is absent. */
  delete(type: ResourceType, namespace: string, name: string, options?: InternalDeleteOptions): Promise<void>;
  /** Every later change of a resource, in order, from within the commit. Objects are in the type's version. @returns stop */
  watch(type: ResourceType, listener: (change: Change) => void): () => void;
}

export interface ServerContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: Registry;
  readonly objects: ObjectAccess;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** The whole pipeline. */
  readonly handle: Transport;
}

/** A path outside the resources (discovery, OpenAPI, health, page). First match wins; runs after authorization. */
export interface PathHandler {
  /** @param path decoded, without trailing slash (but `/`) */
  readonly matches: (path: string) => boolean;
  /** @returns undefined when the path is none of it after all */
  readonly handle: (request: ApiRequest, path: string, server: ServerContext) => ApiResponse | undefined | Promise<ApiResponse | undefined>;
}
