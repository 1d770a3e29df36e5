// Ways to spoil an object, each with the answer that the kind's schema says beforehand. Here: a walk over schema and object; no server.
// Not here: changes that only rules of webhooks refuse (bad-input.test.ts). Source: spec/api/common.md section 2.
import type { KindDefinition } from "../../api/kind.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import type { JsonSchema } from "../../api/meta/schema.ts";
import { compileSchema } from "../../schema/compile.ts";
import { compilePattern } from "../../schema/re2.ts";
import { ruleSets } from "../../webhooks/index.ts";

export interface Mutation {
  readonly sort: "type" | "bound" | "missing" | "unknown";
  /** What is wrong, and where. */
  readonly what: string;
  readonly object: KubeObject;
  /** Sent with strict field validation. */
  readonly strict?: true;
  readonly code: 400 | 422;
  /** `Reason field`, sorted; of a 422. */
  readonly causes: readonly string[];
  /** In the message of a 400. */
  readonly mentions?: string;
}

/** Fields that a defaulting webhook fills, changes or reads before the schema is looked at: bounds and absence show elsewhere. */
const TOUCHED: Readonly<Record<string, RegExp>> = {
  Cluster: /^spec(\.topology(\.(classRef.*|version))?)?$/,
  MachineDeployment:
    /^spec$|^spec\.(clusterName|selector.*|rollout(\.strategy(\.type|\.rollingUpdate)?)?|template(\.metadata(\.labels)?|\.spec\.version)?)$/,
  MachineSet: /^spec$|^spec\.(clusterName|selector.*|template(\.metadata(\.labels)?|\.spec\.version)?)$/,
  Machine: /^spec$|^spec\.(clusterName|version|deletion)$/,
  MachineHealthCheck: /^spec$|^spec\.(clusterName|checks)$/,
  KubeadmControlPlane: /^spec$|^spec\.(version|rollout(\.strategy(\.type|\.rollingUpdate)?)?)$/,
  ExtensionConfig: /^spec(\.clientConfig(\.url|\.service(\.port)?)?|\.namespaceSelector)?$/,
  DevCluster: /^spec(\.backend(\.docker.*)?|\.controlPlaneEndpoint(\.port)?)?$/,
  DevClusterTemplate: /^spec(\.template(\.spec(\.backend(\.docker.*)?|\.controlPlaneEndpoint(\.port)?)?)?)?$/,
  DevMachine: /^spec(\.backend(\.docker)?)?$/,
  DevMachineTemplate: /^spec(\.template(\.spec(\.backend(\.docker)?)?)?)?$/,
};

const STOPS_RULES = /^(?:NotSupported|Required|TooLong|TooMany|TypeInvalid) /;
const DEPTH_MAX = 6;

type Path = readonly (string | number)[];
type Edit = (value: unknown) => unknown;

interface Walk {
  readonly root: KubeObject;
  readonly decodes: boolean;
  readonly hasRules: boolean;
  readonly touched: RegExp;
  readonly found: Mutation[];
}

const textOf = (path: Path): string =>
  path.reduce<string>((text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`), "");

function edited(value: unknown, [key, ...rest]: Path, edit: Edit): unknown {
  if (key === undefined) return edit(value);
  if (typeof key === "number") return (value as unknown[]).map((item, i) => (i === key ? edited(item, rest, edit) : item));
  const { [key]: inner, ...others } = (value ?? {}) as Record<string, unknown>;
  const next = edited(inner, rest, edit);
  return next === undefined ? others : { ...others, [key]: next };
}

function add(walk: Walk, path: Path, one: Omit<Mutation, "object" | "code"> & { readonly code?: 400 }, edit: Edit): void {
  const object = edited(walk.root, path, edit) as KubeObject;
  const noted = walk.hasRules && one.causes.some((cause) => STOPS_RULES.test(cause)) ? ["Invalid <nil>"] : [];
  walk.found.push({ code: 422, ...one, causes: [...one.causes, ...noted].sort(), object });
}

const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  object: ["x", 7, true, ["x"], 1.5, ""],
  array: ["x", 7, true, { x: "x" }, ""],
  string: [7, true, { x: "x" }, ["x"], 0],
  integer: ["x", true, "1", [], {}],
  number: ["x", true, "1", [], {}],
  boolean: ["x", 1, "true", {}, []],
};

function wrongTypes(schema: JsonSchema, path: Path, walk: Walk, isKeyedItem: boolean): void {
  const isEither = schema["x-kubernetes-int-or-string"] === true;
  // Where no webhook decodes first, these would be told twice.
  if (!walk.decodes && (isEither || isKeyedItem)) return;
  const field = textOf(path);
  for (const wrong of isEither ? [true, {}, [], false] : (WRONG[schema.type ?? ""] ?? [])) {
    const one = { sort: "type", what: `${field} is ${JSON.stringify(wrong)}` } as const;
    if (walk.decodes) add(walk, path, { ...one, causes: [], code: 400, mentions: field }, () => wrong);
    else add(walk, path, { ...one, causes: [`TypeInvalid ${field}`, ...(schema.enum ? [`NotSupported ${field}`] : [])] }, () => wrong);
  }
}

const matches = (schema: JsonSchema, text: string): boolean => schema.pattern === undefined || compilePattern(schema.pattern).test(text);

type Bound = readonly [what: string, value: unknown, ...causes: readonly string[]];

function textBounds(schema: JsonSchema): readonly Bound[] {
  if (schema.enum) return [["is not permitted", "Nope", "NotSupported"]];
  if (schema.format !== undefined) return [];
  const long = "a".repeat((schema.maxLength ?? 0) + 1);
  return [
    ...(schema.maxLength !== undefined && matches(schema, long) ? [["is too long", long, "TooLong"] as const] : []),
    ...((schema.minLength ?? 0) > 0 ? [["is empty", "", "Invalid"] as const] : []),
    ...(matches(schema, "!") ? [] : [["has an odd character", "!", "Invalid"] as const]),
  ];
}

/** Lists of more items are left alone: they would take long to read, and say nothing new. */
const ITEMS_MAX = 1000;

function listBounds({ minItems = 0, maxItems = ITEMS_MAX + 1, items }: JsonSchema): readonly Bound[] {
  const canRepeat = maxItems <= ITEMS_MAX && items?.type === "string" && !items.enum && items.minLength !== 0;
  return [
    ...(minItems > 0 ? [["has no items", [], "Invalid"] as const] : []),
    ...(canRepeat ? [["has too many items", Array(maxItems + 1).fill("a"), "TooMany"] as const] : []),
  ];
}

function boundsOf(schema: JsonSchema): readonly Bound[] {
  if (schema.type === "string") return textBounds(schema);
  if (schema.type === "array") return listBounds(schema);
  if (schema.type === "object") return (schema.minProperties ?? 0) > 0 ? [["is {}", {}, "Invalid"]] : [];
  return [
    ...(schema.minimum !== undefined ? [["is too small", schema.minimum - 1, "Invalid"] as const] : []),
    ...(schema.maximum !== undefined && schema.maximum < 2 ** 31 - 1 ? [["is too large", schema.maximum + 1, "Invalid"] as const] : []),
  ];
}

function bounds(schema: JsonSchema, path: Path, walk: Walk): void {
  const field = textOf(path);
  for (const [what, value, ...causes] of boundsOf(schema))
    add(walk, path, { sort: "bound", what: `${field} ${what}`, causes: causes.map((cause) => `${cause} ${field}`) }, () => value);
}

function missing(schema: JsonSchema, value: Readonly<Record<string, unknown>>, path: Path, walk: Walk): void {
  for (const key of schema.required ?? []) {
    const field = textOf([...path, key]);
    if (!(key in value) || walk.touched.test(field)) continue;
    const isEmptied = Object.keys(value).length === 1 && (schema.minProperties ?? 0) > 0;
    const cause = isEmptied ? `Invalid ${textOf(path)}` : `Required ${field}`;
    add(walk, [...path, key], { sort: "missing", what: `${field} is missing`, causes: [cause] }, () => undefined);
  }
}

function visit(schema: JsonSchema, value: unknown, path: Path, walk: Walk, isKeyedItem = false): void {
  if (schema["x-kubernetes-preserve-unknown-fields"]) return;
  const field = textOf(path);
  wrongTypes(schema, path, walk, isKeyedItem);
  if (!walk.touched.test(field)) bounds(schema, path, walk);
  if (schema.type === "array" && schema.items && Array.isArray(value))
    for (const [i, item] of value.entries()) visit(schema.items, item, [...path, i], walk, schema["x-kubernetes-list-type"] === "map");
  if (schema.type === "object" && schema.properties) fields(schema, (value ?? {}) as Record<string, unknown>, path, walk);
}

function fields(schema: JsonSchema, value: Readonly<Record<string, unknown>>, path: Path, walk: Walk): void {
  const field = textOf([...path, "nothing"]);
  add(
    walk,
    [...path, "nothing"],
    { sort: "unknown", what: `${field} is unknown`, strict: true, code: 400, causes: [], mentions: field },
    () => 1,
  );
  missing(schema, value, path, walk);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    // Fields that are not there are tried where nothing else is needed beside them.
    const isReachable = name in value || (path.length < DEPTH_MAX && (property.required ?? []).length === 0);
    if (isReachable) visit(property, value[name], [...path, name], walk);
    else if (path.length < DEPTH_MAX) wrongTypes(property, [...path, name], walk, false);
  }
}

/** All of them, in the order of the schema. */
export function mutationsOf(kind: KindDefinition, root: KubeObject): readonly Mutation[] {
  const spec = kind.schema.properties?.spec;
  const walk: Walk = {
    root,
    decodes: ruleSets.some((rules) => rules.kind === kind && rules.defaults),
    hasRules: compileSchema(kind.schema).hasRules,
    touched: TOUCHED[kind.resource.kind] ?? /^$/,
    found: [],
  };
  const hasTopology = (root as { spec?: { topology?: unknown } }).spec?.topology !== undefined;
  const { topology: _topology, ...withoutTopology } = spec?.properties ?? {};
  if (spec) visit(hasTopology ? spec : { ...spec, properties: withoutTopology }, (root as { spec?: unknown }).spec, ["spec"], walk);
  if ((kind.schema.required ?? []).includes("spec") && !walk.touched.test("spec"))
    add(walk, ["spec"], { sort: "missing", what: "spec is missing", causes: ["Required spec"] }, () => undefined);
  return walk.found;
}

/** As many as wanted, evenly over the sorts and over each sort's order. */
export function chosen(all: readonly Mutation[], count: number): readonly Mutation[] {
  const sorts = (["type", "bound", "missing", "unknown"] as const).map((sort) => all.filter((m) => m.sort === sort));
  const picked: Mutation[] = [];
  let left = count;
  for (const [i, list] of [...sorts].sort((a, b) => a.length - b.length).entries()) {
    const share = Math.min(list.length, Math.floor(left / (sorts.length - i)));
    for (let k = 0; k < share; k++) picked.push(list[Math.floor((k * list.length) / share)] as Mutation);
    left -= share;
  }
  return picked;
}
