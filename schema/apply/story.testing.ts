// Stories of field ownership for tests: a list of operations, then the object and its owners.
// Here: the steps and a tiny store for one object. Not here: stories (apply.test.ts, track-update.test.ts).
import type { KubeObject } from "../../api/meta/object.ts";
import type { JsonSchema } from "../../api/meta/schema.ts";
import { mergePatch } from "../patch/index.ts";
import { forEachMember } from "./field-set.ts";
import { apply, compileTyped, parseFieldsV1, resetFieldsOf, trackUpdate, type Typed, withManagedFields } from "./index.ts";
import { pathText } from "./path-element.ts";

const keyed = (keys: readonly string[], properties: Record<string, JsonSchema>): JsonSchema => ({
  type: "array",
  items: { type: "object", properties },
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
});
const text: JsonSchema = { type: "string" };

export const gadget: JsonSchema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer" },
        color: text,
        on: { type: "boolean" },
        nested: { type: "object", properties: { a: text, b: text, deep: { type: "object", properties: { c: text, d: text } } } },
        items: keyed(["name"], { name: text, value: text, sub: { type: "object", properties: { x: text, y: text } } }),
        ports: keyed(["protocol", "port"], { port: { type: "integer" }, protocol: { type: "string", default: "TCP" }, note: text }),
        tags: { type: "array", items: text, "x-kubernetes-list-type": "set" },
        fixed: { type: "array", items: text },
        atom: { type: "object", properties: { p: text, q: text }, "x-kubernetes-map-type": "atomic" },
        free: { type: "object", additionalProperties: { type: "object", properties: { m: text, n: text } } },
        any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        mixed: { "x-kubernetes-int-or-string": true },
        embedded: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
      },
    },
    status: { type: "object", properties: { phase: text } },
  },
};

type Fields = Readonly<Record<string, unknown>>;

export interface Story {
  /** @param fields of the object, without apiVersion, kind and name */
  applies(manager: string, fields: Fields, options?: StepOptions): Story;
  forces(manager: string, fields: Fields): Story;
  /** A merge patch, tracked as an update. */
  patches(manager: string, patch: Fields, options?: StepOptions): Story;
  creates(manager: string, fields: Fields): Story;
  /** The next step happens later. */
  later(seconds: number): Story;
  /** The object without apiVersion, kind, name and managedFields; empty metadata left out. */
  object(): Fields;
  /** Manager (with `*` for an update, `/status` for a subresource) to its fields. */
  owners(): Readonly<Record<string, readonly string[]>>;
  live(): KubeObject;
}

interface StepOptions {
  readonly subresource?: string;
  readonly apiVersion?: string;
  readonly force?: boolean;
}

export function story(versions: Readonly<Record<string, JsonSchema>> = { "example.com/v1": gadget }): Story {
  const typed = new Map<string, Typed>(Object.entries(versions).map(([version, schema]) => [version, compileTyped(schema)]));
  const first = Object.keys(versions)[0] ?? "";
  let live: KubeObject | undefined;
  let nowMs = Date.parse("2026-08-21T10:00:00Z");
  const common = (manager: string, { subresource = "", apiVersion = first }: StepOptions) => ({
    schemas: (version: string) => typed.get(version),
    apiVersion,
    manager,
    subresource,
    nowMs,
    resetFields: resetFieldsOf(true, subresource),
  });
  const objectOf = (fields: Fields, apiVersion: string): KubeObject => ({
    apiVersion,
    kind: "Gadget",
    ...fields,
    metadata: { name: "g", ...(fields.metadata as object | undefined) },
  });
  const freeze = <T>(value: T): T => {
    if (typeof value === "object" && value !== null) for (const part of Object.values(Object.freeze(value))) freeze(part);
    return value;
  };
  const told: Story = {
    applies(manager, fields, options = {}) {
      const config = freeze(objectOf(fields, options.apiVersion ?? first));
      const inVersion = live === undefined ? undefined : { ...live, apiVersion: config.apiVersion };
      const before = inVersion?.apiVersion === live?.apiVersion ? live : inVersion;
      live = freeze(apply({ ...common(manager, options), live: before, config, force: options.force === true }).object);
      return told;
    },
    forces: (manager, fields) => told.applies(manager, fields, { force: true }),
    patches(manager, patch, options = {}) {
      const updated = freeze(mergePatch(live, patch)) as KubeObject;
      live = freeze(withManagedFields(updated, trackUpdate({ ...common(manager, options), live, updated })));
      return told;
    },
    creates(manager, fields) {
      const updated = freeze(objectOf(fields, first));
      live = freeze(withManagedFields(updated, trackUpdate({ ...common(manager, {}), live: undefined, updated })));
      return told;
    },
    later(seconds) {
      nowMs += seconds * 1000;
      return told;
    },
    object() {
      const { apiVersion: _, kind: __, metadata, ...rest } = told.live() as KubeObject & Fields;
      const { name: ___, managedFields: ____, ...kept } = metadata;
      return Object.keys(kept).length === 0 ? rest : { ...rest, metadata: kept };
    },
    owners() {
      const entries = (told.live().metadata.managedFields ?? []).map((entry) => {
        const paths: string[] = [];
        const fields = parseFieldsV1(entry.fieldsV1);
        if (fields !== undefined) forEachMember(fields, (path) => paths.push(pathText(path)));
        const name = `${entry.manager}${entry.operation === "Update" ? "*" : ""}${entry.subresource ? `/${entry.subresource}` : ""}`;
        return [name, paths.sort()] as const;
      });
      return Object.fromEntries(entries);
    },
    live() {
      if (live === undefined) throw new Error("nothing was applied yet");
      return live;
    },
  };
  return told;
}
