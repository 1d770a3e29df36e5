// Shape: a schema that knows its TypeScript type. One definition gives both, so that a field cannot exist in only one of them.
// Here: the constructors. Not here: shapes shared by kinds (shared.ts), the kinds, what a schema does at run time (schema/).
import type { IntOrString, Json } from "./meta/object.ts";
import type { JsonSchema, ValidationRule } from "./meta/schema.ts";

/** A schema of values of type T. The type is carried for inference only. */
export type Shape<T> = JsonSchema & { readonly __type?: { readonly is: T } };

/** A property that must be present. */
export interface Must<T> {
  readonly must: Shape<T>;
}

export type Properties = Readonly<Record<string, Shape<unknown> | Must<unknown>>>;
type Flat<T> = { readonly [K in keyof T]: T[K] };
type RequiredKeys<P> = { [K in keyof P]: P[K] extends Must<unknown> ? K : never }[keyof P];
type ValueOf<S> = S extends Must<infer T> ? T : S extends Shape<infer T> ? T : never;
export type ObjectOf<P> = Flat<
  { readonly [K in RequiredKeys<P>]: ValueOf<P[K]> } & { readonly [K in Exclude<keyof P, RequiredKeys<P>>]?: ValueOf<P[K]> }
>;
/** The TypeScript type of a shape. */
export type TypeOf<S> = ValueOf<S>;

type Extra = Omit<JsonSchema, "type" | "description" | "properties" | "required" | "items">;

export const must = <T>(shape: Shape<T>): Must<T> => ({ must: shape });

export const described = <T>(shape: Shape<T>, description: string): Shape<T> => ({ ...shape, description });

export const string = (description: string, extra: Extra = {}): Shape<string> => ({ type: "string", description, ...extra });

/** @param min shortest length in characters  @param max longest */
export const text = (min: number, max: number, description: string, extra: Extra = {}): Shape<string> =>
  string(description, { ...(min > 0 ? { minLength: min } : {}), maxLength: max, ...extra });

export const oneOf = <const V extends readonly string[]>(values: V, description: string, extra: Extra = {}): Shape<V[number]> => ({
  type: "string",
  description,
  enum: values,
  ...extra,
});

export const boolean = (description: string, extra: Extra = {}): Shape<boolean> => ({ type: "boolean", description, ...extra });
export const int32 = (description: string, extra: Extra = {}): Shape<number> => ({
  type: "integer",
  format: "int32",
  description,
  ...extra,
});
export const int64 = (description: string, extra: Extra = {}): Shape<number> => ({
  type: "integer",
  format: "int64",
  description,
  ...extra,
});
export const dateTime = (description: string): Shape<string> => ({ type: "string", format: "date-time", description });
/** Base64 text of bytes. */
export const bytes = (description: string, extra: Extra = {}): Shape<string> => ({ type: "string", format: "byte", description, ...extra });

export const intOrString = (description: string, extra: Extra = {}): Shape<IntOrString> => ({
  description,
  anyOf: [{ type: "integer" }, { type: "string" }],
  "x-kubernetes-int-or-string": true,
  ...extra,
});

const QUANTITY = "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";
/** A Kubernetes resource quantity, such as `500m` or `2Gi`. */
export const quantity = (description: string): Shape<IntOrString> => intOrString(description, { pattern: QUANTITY });

/** Any JSON, kept as it is. */
export const anyJson = (description: string): Shape<Json> => ({ description, "x-kubernetes-preserve-unknown-fields": true });
/** Any JSON object, kept as it is. */
export const anyObject = (description: string): Shape<Readonly<Record<string, Json>>> => ({
  type: "object",
  description,
  "x-kubernetes-preserve-unknown-fields": true,
});

export const mapOf = <T>(values: Shape<T>, description: string): Shape<Readonly<Record<string, T>>> => ({
  type: "object",
  description,
  additionalProperties: values,
});
export const stringMap = (description: string): Shape<Readonly<Record<string, string>>> =>
  mapOf({ type: "string" } as Shape<string>, description);

export function object<const P extends Properties>(properties: P, description: string, extra: Extra = {}): Shape<ObjectOf<P>> {
  const schemas: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const isMust = "must" in property;
    schemas[name] = isMust ? (property as Must<unknown>).must : (property as Shape<unknown>);
    if (isMust) required.push(name);
  }
  // API servers drop empty lists of properties, and would then see a change at each apply.
  const some = Object.keys(schemas).length > 0 ? { properties: schemas } : {};
  return { type: "object", description, ...(required.length > 0 ? { required: required.sort() } : {}), ...some, ...extra };
}

/** An object that may not be empty when it is present. */
export const someOf = <const P extends Properties>(properties: P, description: string, extra: Extra = {}): Shape<ObjectOf<P>> =>
  object(properties, description, { minProperties: 1, ...extra });

export interface Items {
  readonly min?: number;
  readonly max?: number;
}
const itemBounds = ({ min, max }: Items): JsonSchema => ({
  ...(min === undefined ? {} : { minItems: min }),
  ...(max === undefined ? {} : { maxItems: max }),
});

/** A list that is replaced and owned as one. */
export const list = <T>(items: Shape<T>, bounds: Items, description: string, extra: Extra = {}): Shape<readonly T[]> => ({
  type: "array",
  description,
  ...itemBounds(bounds),
  items,
  "x-kubernetes-list-type": "atomic",
  ...extra,
});

/** A list without a list type in the schema (server-side apply takes it as atomic). */
export const plainList = <T>(items: Shape<T>, bounds: Items, description: string): Shape<readonly T[]> => ({
  type: "array",
  description,
  ...itemBounds(bounds),
  items,
});

/** A list whose items are told apart by keys. */
export const listMap = <T>(
  keys: readonly string[],
  items: Shape<T>,
  bounds: Items,
  description: string,
  extra: Extra = {},
): Shape<readonly T[]> => ({
  type: "array",
  description,
  ...itemBounds(bounds),
  items,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
  ...extra,
});

/** CEL rules on a shape. */
export const rules = (...all: readonly ValidationRule[]): Extra => ({ "x-kubernetes-validations": all });
