// One API server: store, kinds, plugins and pipeline put together. Here: the wiring, no platform.
// Not here: sockets and files (real/), the kinds (builtin/, crd/), the stages of a request (requests/).
import type { Transport } from "../api/meta/transport.ts";
import { compileSchema, type CompiledSchema } from "../schema/index.ts";
import type { JsonSchema } from "../api/meta/schema.ts";
import type { Clock } from "../runtime/base/clock.ts";
import { type Logger, silentLogger } from "../runtime/base/log.ts";
import type { Random } from "../runtime/base/random.ts";
import type { AdmissionPlugin } from "./admission-seam.ts";
import { allowAll, type Authenticator, type Authorizer } from "./auth-seam.ts";
import { ensureObjects, systemNamespaces } from "./bootstrap.ts";
import type { PathHandler, ServerContext } from "./context.ts";
import { healthPaths, VERSION } from "./health.ts";
import type { ApiObject } from "./object.ts";
import { createRequestMetrics, metricsPath } from "./metrics.ts";
import { createRegistry, type Registry, type ResourceType } from "./registry.ts";
import type { Core } from "./requests/call.ts";
import { createFieldManagement } from "./requests/field-management.ts";
import { handle } from "./requests/handle.ts";
import { createObjectAccess } from "./requests/object-access.ts";
import { createMemoryStore } from "./store/memory.ts";
import type { Store } from "./store/store.ts";

/** Something that runs beside requests, on the clock and on changes: garbage collection, CRD conditions. @returns stop */
export type BackgroundController = (server: ServerContext) => () => void;

export interface ApiServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Default: a memory store of its own. */
  readonly store?: Store;
  /** Sets its objects apart in a shared store, e.g. `w1|`. Default none. */
  readonly keyPrefix?: string;
  readonly types: readonly ResourceType[];
  readonly authenticator?: Authenticator | ((server: ServerContext) => Authenticator);
  readonly authorizer?: Authorizer | ((server: ServerContext) => Authorizer);
  readonly admission?: readonly AdmissionPlugin[] | ((server: ServerContext) => readonly AdmissionPlugin[]);
  /** In the order they start. */
  readonly background?: readonly BackgroundController[];
  /** Made at the start when they are missing, after the system namespaces (RBAC's roles). */
  readonly objects?: readonly ApiObject[];
  /** Discovery, OpenAPI and others; health and version are always there. */
  readonly paths?: readonly PathHandler[];
  readonly log?: Logger;
}

export interface ApiServer extends ServerContext {
  readonly handle: Transport;
  readonly registry: Registry;
  readonly store: Store;
  /** Makes the system's own objects and starts background controllers. Requests are answered before that too. */
  start(): Promise<void>;
  /** Ends background controllers; the store stays open. */
  stop(): void;
  readonly version: typeof VERSION;
}

const nobody: Authenticator = { authenticate: () => ({ outcome: "none" }) };

/** One closure tree per schema, shared by all servers of the process. */
const compiledSchemas = new WeakMap<JsonSchema, CompiledSchema>();

function compiledOf(type: ResourceType): CompiledSchema | undefined {
  const { schema } = type;
  if (!schema) return undefined;
  let compiled = compiledSchemas.get(schema);
  if (!compiled) {
    compiled = compileSchema(schema);
    compiledSchemas.set(schema, compiled);
  }
  return compiled;
}

const given = <T>(value: T | ((server: ServerContext) => T) | undefined, server: ServerContext, fallback: T): T =>
  typeof value === "function" ? (value as (server: ServerContext) => T)(server) : (value ?? fallback);

export function createApiServer(options: ApiServerOptions): ApiServer {
  const store = options.store ?? createMemoryStore();
  const registry = createRegistry();
  const keyPrefix = options.keyPrefix ?? "";
  const stops: (() => void)[] = [];
  let started = false;

  // The parts know each other through one object; plugins get it before they are in it, and use it from requests on.
  const core = {
    clock: options.clock,
    random: options.random,
    log: options.log ?? silentLogger,
    registry,
    store,
    keyPrefix,
    compiled: compiledOf,
    fields: createFieldManagement(registry),
    handle: (request) => handle(pipeline, request),
  } as { -readonly [K in keyof Core]: Core[K] };
  core.objects = createObjectAccess(core);
  core.authenticator = given(options.authenticator, core, nobody);
  core.authorizer = given(options.authorizer, core, allowAll);
  core.admission = given(options.admission, core, []);
  const metrics = createRequestMetrics();
  const pipeline = { core, metrics, paths: [...healthPaths, metricsPath(metrics), ...(options.paths ?? [])] };

  const open = (types: readonly ResourceType[]): void => {
    for (const type of types) store.open(keyPrefix + type.storageKey);
  };
  registry.onChange(({ added }) => open(added));
  registry.change(options.types);

  return Object.assign(core, {
    version: VERSION,
    async start() {
      if (started) return;
      started = true;
      await ensureObjects(core, [...systemNamespaces(), ...(options.objects ?? [])]);
      for (const controller of options.background ?? []) stops.push(controller(core));
    },
    stop() {
      started = false;
      for (const stop of stops.splice(0).reverse()) stop();
    },
  });
}
