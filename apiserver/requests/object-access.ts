// The server's own access to objects, through the same steps as requests but past authentication and authorization.
// Here: what background controllers and subresources of kinds use. Not here: requests from outside (handle.ts).
import type { ApiRequest } from "../../api/meta/transport.ts";
import { LOOPBACK } from "../auth-seam.ts";
import type { InternalDeleteOptions, InternalWriteOptions, ObjectAccess } from "../context.ts";
import { alreadyExists } from "../errors.ts";
import { type ApiObject, deepFreeze } from "../object.ts";
import { apiVersionOfType, type ResourceType } from "../registry.ts";
import type { Call, Core } from "./call.ts";
import { inNamespace } from "./bodies.ts";
import { createObject } from "./create.ts";
import { deleteObject } from "./delete.ts";
import type { WriteOptions } from "./options.ts";
import { strategyContext } from "./call.ts";
import { shapeWithDefaults } from "./shape.ts";
import { changeIn, entryObject, find, resourceOf } from "./storage.ts";
import { updateObject } from "./update.ts";

const MANAGER = "kube-apiserver";
const NO_REQUEST: ApiRequest = Object.freeze({ method: "POST", path: "/", query: "", headers: Object.freeze({}) });

interface Target {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly verb: string;
}

function callFor(core: Core, { type, namespace, name, verb }: Target, options: InternalWriteOptions): Call {
  const { group, version, plural } = type;
  const subresource = options.subresource ?? "";
  const route = { path: "", isResource: true, group, version, resource: plural, namespace, name, subresource, rest: [], watch: false };
  return {
    core,
    request: NO_REQUEST,
    route,
    info: { isResource: true, verb, path: "", group, version, resource: plural, subresource, namespace, name },
    type,
    query: new URLSearchParams(),
    user: options.user ?? LOOPBACK,
    accept: { media: "json", form: "object", formVersion: "v1", pretty: false },
    warnings: [],
  };
}

const writeOptionsOf = (kind: WriteOptions["kind"], options: InternalWriteOptions): WriteOptions => ({
  kind,
  dryRun: options.dryRun === true,
  fieldManager: options.manager ?? MANAGER,
  fieldValidation: "Ignore",
  force: true,
  review: { apiVersion: "meta.k8s.io/v1", kind, ...(options.dryRun ? { dryRun: ["All"] } : {}) },
});

function formed(call: Call, object: object): ApiObject {
  const full = { apiVersion: apiVersionOfType(call.type), kind: call.type.kind, ...object };
  return inNamespace(call, shapeWithDefaults(call.core, call.type, full, strategyContext(call, call.info.verb)).object);
}

export function createObjectAccess(core: Core): ObjectAccess {
  return {
    get: (type, namespace, name) => find(core, type, namespace, name)?.object,
    list: (type, namespace) =>
      core.store.list(resourceOf(core, type), type.namespaced ? namespace : undefined).map((entry) => entryObject(core, type, entry)),
    async create(type, object, options = {}) {
      const { namespace = "", name = "" } = (object as Partial<ApiObject>).metadata ?? {};
      const call = callFor(core, { type, namespace, name, verb: "create" }, options);
      if (name !== "" && find(core, type, namespace, name)) throw alreadyExists(type, name);
      const write = writeOptionsOf("CreateOptions", options);
      const tracked = core.fields.track(type, undefined, formed(call, object), write.fieldManager, "", core.clock.nowMs());
      return createObject(call, tracked, { options: write, verb: "create", optionsReviewed: write.review });
    },
    async update(type, namespace, name, change, options = {}) {
      const call = callFor(core, { type, namespace, name, verb: "update" }, options);
      const write = writeOptionsOf("UpdateOptions", options);
      try {
        return await updateObject(call, {
          name,
          verb: "update",
          dryRun: write.dryRun,
          review: write.review,
          unconditional: true,
          change: (live) => {
            const changed = change(live);
            if (changed === undefined || changed === live) return live;
            const object = formed(call, deepFreeze(changed));
            return core.fields.track(type, live, object, write.fieldManager, options.subresource ?? "", core.clock.nowMs());
          },
        });
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    async delete(type, namespace, name, options: InternalDeleteOptions = {}) {
      const call = callFor(core, { type, namespace, name, verb: "delete" }, options);
      const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds } = options;
      const preconditions = uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
      try {
        await deleteObject(call, name, {
          dryRun: options.dryRun === true,
          propagationPolicy,
          gracePeriodSeconds,
          ...(preconditions ? { preconditions } : {}),
          review: {
            apiVersion: "meta.k8s.io/v1",
            kind: "DeleteOptions",
            ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
            ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
            ...(preconditions ? { preconditions } : {}),
          },
        });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },
    watch: (type, listener) => core.store.onChange(resourceOf(core, type), undefined, (change) => listener(changeIn(core, type, change))),
  };
}

const isNotFound = (error: unknown): boolean => (error as { status?: { reason?: string } }).status?.reason === "NotFound";
