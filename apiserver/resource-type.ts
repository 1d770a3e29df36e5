// One kind as the API serves it, and the server around it as the functions of a kind see it. They name each other, so they live together.
// Here: types only. Not here: the kinds themselves (builtin/, crd/), the registry (registry.ts), the pipeline that runs them (requests/).
import type { Json } from "../api/meta/object.ts";
import type { JsonSchema } from "../api/meta/schema.ts";
import type { StatusCause } from "../api/meta/status.ts";
import type { ApiRequest, ApiResponse, Transport, UserInfo } from "../api/meta/transport.ts";
import type { Clock } from "../runtime/base/clock.ts";
import type { Logger } from "../runtime/base/log.ts";
import type { Random } from "../runtime/base/random.ts";
import type { Authenticator, Authorizer } from "./auth-seam.ts";
import type { ApiObject } from "./object.ts";
import type { Change } from "./store/store.ts";

export type Verb = "create" | "get" | "list" | "watch" | "update" | "patch" | "delete" | "deletecollection";

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** 0 is shown always, more only in wide output. */
  readonly priority?: number;
  /** The cell; dates come as RFC 3339 text or already as an age, null when absent. */
  readonly cell: (object: ApiObject, nowMs: number) => Json;
}

/** What a strategy may look at while it changes or judges an object. Pure: no clock, no store but these. */
export interface StrategyContext {
  readonly user: UserInfo;
  readonly nowMs: number;
  /** Empty for the object itself, else `status`, ... */
  readonly subresource: string;
  /** `create`, `update`, `patch`, `apply` */
  readonly verb: string;
  readonly server: ServerContext;
  /** Adds a Warning header to the answer. */
  readonly warn: (text: string) => void;
}

/** How a kind differs from a plain object. All functions are pure; objects are frozen: return a changed copy, or the same. */
export interface Strategy {
  /** Defaults that a schema cannot express; runs after the schema's on create, update and patch, before admission. */
  readonly defaults?: (object: ApiObject, context: StrategyContext) => ApiObject;
  /** Drops what a creator may not set (status is dropped already when the kind has a status subresource) and sets server-owned fields. */
  readonly prepareForCreate?: (object: ApiObject, context: StrategyContext) => ApiObject;
  /** The same on update; a status subresource keeps everything but status and metadata already. */
  readonly prepareForUpdate?: (object: ApiObject, old: ApiObject, context: StrategyContext) => ApiObject;
  /** Rules beyond the schema, on create. */
  readonly validate?: (object: ApiObject, context: StrategyContext) => readonly StatusCause[];
  /** Rules beyond the schema, on update (not run with `validate`; call it yourself when both hold). */
  readonly validateUpdate?: (object: ApiObject, old: ApiObject, context: StrategyContext) => readonly StatusCause[];
  /** @returns messages, empty when good. Default: RFC 1123 subdomain. `prefix` is true for a generateName */
  readonly validateName?: (name: string, prefix: boolean) => readonly string[];
  /** PUT of an absent object creates it (Lease). Default false. */
  readonly allowCreateOnUpdate?: boolean;
  /** PUT without resourceVersion is allowed. Default true for built-in kinds; custom resources say false. */
  readonly allowUnconditionalUpdate?: boolean;
  /**
   * When metadata.generation rises: `none` = the kind has no generation; `spec` = .spec changed;
   * `allButStatusAndMetadata` = anything outside metadata (and status when it is a subresource) changed. Default `none`.
   */
  readonly generation?: "none" | "spec" | "allButStatusAndMetadata";
  /** Deleting an object with finalizers raises the generation too (custom resources). */
  readonly generationOnDelete?: boolean;
  /** Seconds an object lives on after a delete when the client names none (pods: 30); absent = deleted at once. */
  readonly graceSeconds?: (object: ApiObject) => number;
  /** Delete answers with the deleted object instead of a Status (pods, services, custom resources do not; namespaces, pods, PVCs do). */
  readonly returnDeletedObject?: boolean;
  /** Called instead of removing the object when a delete would remove it; return a changed object to keep it (namespaces and their spec.finalizers). */
  readonly keepOnDelete?: (object: ApiObject, context: StrategyContext) => ApiObject | undefined;
  /** Finalizers that a delete adds by itself. */
  readonly finalizersOnDelete?: (object: ApiObject) => readonly string[];
}

/** A request to a subresource, decoded and authorized. */
export interface SubresourceRequest {
  readonly verb: "get" | "create" | "update" | "patch" | "delete" | "connect";
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  /** Decoded body of create and update. */
  readonly object?: ApiObject;
  readonly dryRun: boolean;
  readonly query: URLSearchParams;
  readonly request: ApiRequest;
  readonly server: ServerContext;
  readonly warn: (text: string) => void;
}

export interface SubresourceHandler {
  readonly verbs: readonly ("get" | "create" | "update" | "patch" | "delete" | "connect")[];
  /** Kind of the body, for discovery and decoding; the kind of the parent when absent. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly schema?: JsonSchema;
  /** @returns the object answered (201 for create, else 200), or a whole response (upgrade, own code). Throws ApiError. */
  readonly handle: (request: SubresourceRequest) => object | ApiResponse | Promise<object | ApiResponse>;
}

export interface ScalePaths {
  /** JSON path such as `.spec.replicas`. */
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface Subresources {
  /** True: /status exists, and the main resource does not write .status. */
  readonly status?: boolean;
  readonly scale?: ScalePaths;
  /** Others by name: `token`, `eviction`, `finalize`, `binding`, `portforward`. */
  readonly handlers?: Readonly<Record<string, SubresourceHandler>>;
}

/** One version of one resource as the API serves it. Immutable: a change of a CRD makes a new one. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  /** Shared by all versions: the key prefix in the store, e.g. `apps/deployments`. */
  readonly storageKey: string;
  /** apiVersion in which objects are stored. */
  readonly storageVersion: string;
  /** Structural schema: types, defaults, validation, merge keys. Absent: any object (tests). */
  readonly schema?: JsonSchema;
  /**
   * Built-in kinds: any JSON object in the form of the served type: unknown fields dropped (and named), zero values and nulls written
   * or left out as the typed server does, quantities in canonical form, defaults set. Takes the place of the schema's defaults and
   * pruning; runs on each body and on the result of each patch and apply. Throws ApiError 400 on a value of a wrong type.
   */
  readonly decode?: (object: object) => {
    readonly object: ApiObject /** Paths such as `spec.foo`. */;
    readonly unknown: readonly string[];
  };
  /** Built-in kinds: the typed object before anything is set. Managed fields of a create count what differs from this. */
  readonly empty?: () => ApiObject;
  /** CRD: pruned by its schema, metadata coerced, PUT and strategic merge as custom resources do. */
  readonly custom: boolean;
  readonly subresources: Subresources;
  readonly columns?: readonly PrinterColumn[];
  /** Field selectors beyond metadata.name and metadata.namespace: name -> value of an object. */
  readonly selectableFields?: Readonly<Record<string, (object: ApiObject) => string>>;
  readonly strategy: Strategy;
  /** Answers a create without storing anything (access reviews, token reviews). Other verbs do not exist. */
  readonly virtual?: (request: SubresourceRequest) => object | Promise<object>;
  /** From the stored form to this version and back, when more than apiVersion differs (events.k8s.io). */
  readonly fromStorage?: (stored: ApiObject) => ApiObject;
  readonly toStorage?: (object: ApiObject) => ApiObject;
  /** False: served, but hidden from discovery. Default true. */
  readonly listed?: boolean;
  /** Warning header for each request to this version. */
  readonly deprecationWarning?: string;
}

export type RegistryListener = (change: { readonly added: readonly ResourceType[]; readonly removed: readonly ResourceType[] }) => void;

/** All kinds served. Each change makes a new revision, so that discovery and OpenAPI documents can be cached by it. */
export interface Registry {
  /** Rises with each change. */
  readonly revision: number;
  /** By group, version, plural; each call the same array until the registry changes. */
  all(): readonly ResourceType[];
  byPath(group: string, version: string, plural: string): ResourceType | undefined;
  byKind(group: string, version: string, kind: string): ResourceType | undefined;
  /** All versions of one resource, in the order they were given. */
  versions(group: string, plural: string): readonly ResourceType[];
  /** True when some resource of that group (and version) is served. */
  hasGroup(group: string, version?: string): boolean;
  /** Replaces what these types replace (same group, version, plural) and removes `removed`, in one step. */
  change(added: readonly ResourceType[], removed?: readonly ResourceType[]): void;
  /** @returns a function that ends the subscription */
  onChange(listener: RegistryListener): () => void;
}

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
