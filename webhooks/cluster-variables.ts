// Values of variables in a Cluster: defaults from its class, then validation. Both happen before the schema is checked, as upstream does,
// so that one version of the class decides. Here: values. Not here: the definitions (clusterclass-variables.ts). Source: spec/api/cluster.md section 4.
import type { Json } from "../api/meta/object.ts";
import type { VariableSchemaProps } from "../api/variable-schema.ts";
import { type FieldError, invalid, keyed, required, typeInvalid } from "../schema/field.ts";
import { at, listAt, plain, textAt, withAt } from "./draft.ts";
import type { Draft } from "./rule-set.ts";
import { checksOf } from "./variable-schema.ts";

interface Value {
  readonly name: string;
  /** Absent on drafts. */
  readonly value?: Json;
}

interface Definition {
  readonly required: boolean;
  readonly schema: VariableSchemaProps;
}

type Definitions = ReadonlyMap<string, Definition>;

const WORKERS = ["spec", "topology", "workers"] as const;

/** A list of values in a Cluster. */
interface Place {
  readonly path: string;
  readonly values: readonly Value[];
  readonly old: readonly Value[];
  /** The cluster's own list: gets missing values, and must have the required ones. */
  readonly isWhole: boolean;
  readonly put: (object: Draft, values: readonly Value[]) => Draft;
}

const valuesAt = (object: unknown, ...path: readonly string[]): readonly Value[] =>
  listAt(object, ...path).map((one) => ({ ...plain(one), name: textAt(one, "name") ?? "" }));

function placesOf(object: Draft, old: Draft | undefined): readonly Place[] {
  const fixed = (path: readonly string[], isWhole: boolean): Place => ({
    path: path.join("."),
    values: valuesAt(object, ...path),
    old: valuesAt(old, ...path),
    isWhole,
    put: (o, values) => withAt(o, path, values),
  });
  const overrides = fixed(["spec", "topology", "controlPlane", "variables", "overrides"], false);
  return [
    fixed(["spec", "topology", "variables"], true),
    ...[overrides, ...["machineDeployments", "machinePools"].flatMap((field) => poolPlaces(object, old, field))].filter(
      ({ values }) => values.length > 0,
    ),
  ];
}

const poolPlaces = (object: Draft, old: Draft | undefined, field: string): readonly Place[] =>
  listAt(object, ...WORKERS, field).map((pool, index) => {
    const name = textAt(pool, "name") ?? "";
    const before = listAt(old, ...WORKERS, field).find((p) => textAt(p, "name") === name);
    const path = ["variables", "overrides"];
    return {
      path: `${keyed(`spec.topology.workers.${field}`, name)}.variables.overrides`,
      values: valuesAt(pool, ...path),
      old: valuesAt(before, ...path),
      isWhole: false,
      put: (o, values) =>
        withAt(
          o,
          [...WORKERS, field],
          listAt(o, ...WORKERS, field).map((p, i) => (i === index ? withAt(p, path, values) : p)),
        ),
    };
  });

/** @returns errors when the class's definitions cannot be used at all */
function definitionsOf(clusterClass: unknown, path: string): Definitions | readonly FieldError[] {
  const definitions = new Map<string, Definition>();
  const problems: string[] = [];
  for (const variable of listAt(clusterClass, "status", "variables")) {
    const name = textAt(variable, "name") ?? "";
    const [first] = listAt(variable, "definitions");
    if (first === undefined) problems.push(`${name} has no definition`);
    if (at(variable, "definitionsConflict") === true) problems.push(`${name} has definitions that contradict each other`);
    const schema = (plain(at(first, "schema", "openAPIV3Schema")) ?? {}) as VariableSchemaProps;
    definitions.set(name, { required: at(first, "required") === true, schema });
  }
  return problems.length === 0
    ? definitions
    : [
        typeInvalid(
          path,
          [...definitions.keys()],
          `the variables of the ClusterClass cannot be used: ${problems.join(", ")}; change the class`,
        ),
      ];
}

const isDefinitions = (found: Definitions | readonly FieldError[]): found is Definitions => found instanceof Map;

const repeatedErrors = (values: readonly Value[], path: string): readonly FieldError[] =>
  values.flatMap(({ name, value }, i) =>
    values.findIndex((v) => v.name === name) < i ? [invalid(keyed(path, name), value, "is set twice: keep one value")] : [],
  );

const unknownVariable = ({ name, value }: Value, path: string, definitions: Definitions): FieldError =>
  invalid(keyed(path, name), value, `is no variable of the ClusterClass; it has ${[...definitions.keys()].sort().join(", ") || "none"}`);

interface Defaulted {
  readonly values: readonly Value[];
  readonly errors: readonly FieldError[];
}

function withDefaults({ path, values, isWhole }: Place, definitions: Definitions): Defaulted {
  const errors = values.filter(({ name }) => !definitions.has(name)).map((value) => unknownVariable(value, path, definitions));
  if (errors.length > 0) return { values, errors };
  const own = values.map((one): Value => {
    const value = checksOf((definitions.get(one.name) as Definition).schema).withDefaults(one.value) ?? null;
    return value === one.value ? one : { name: one.name, value: value as Json };
  });
  if (!isWhole) return { values: own, errors };
  const added = [...definitions].flatMap(([name, { schema }]): readonly Value[] =>
    values.some((v) => v.name === name) || (schema.default ?? null) === null
      ? []
      : [{ name, value: checksOf(schema).withDefaults(undefined) as Json }],
  );
  return { values: [...own, ...added], errors };
}

function valueErrors({ name, value }: Value, old: Value | undefined, schema: VariableSchemaProps, path: string): readonly FieldError[] {
  const checks = checksOf(schema);
  const given = value ?? null;
  const faults = checks.schemaErrors(given, `${path}.value`);
  if (faults.length > 0) return faults;
  const unknown = checks.unknownFields(given);
  if (unknown.length > 0) return [invalid(path, given, `has fields that variable ${name} does not know: ${unknown.join(", ")}`)];
  return checks.ruleErrors(given, old?.value, `${path}.value`);
}

function validate({ path, values, old, isWhole }: Place, definitions: Definitions): readonly FieldError[] {
  const missing = isWhole ? [...definitions].filter(([name, d]) => d.required && !values.some((v) => v.name === name)) : [];
  return [
    ...missing.map(([name]) => required(path, `variable ${name} must be set`)),
    ...values.flatMap((one) => {
      const definition = definitions.get(one.name);
      if (!definition) return [unknownVariable(one, path, definitions)];
      return valueErrors(
        one,
        old.find((v) => v.name === one.name),
        definition.schema,
        keyed(path, one.name),
      );
    }),
  ];
}

/**
 * Fills in what is missing, then checks every value. As upstream, what already keeps defaults from being made is told twice.
 * @param clusterClass reconciled: its status says which variables there are
 */
export function defaultVariables(object: Draft, old: Draft | undefined, clusterClass: unknown): Draft | readonly FieldError[] {
  let next = object;
  const errors: FieldError[] = [];
  const later: FieldError[] = [];
  for (const place of placesOf(object, old)) {
    const definitions = definitionsOf(clusterClass, place.path);
    const repeated = repeatedErrors(place.values, place.path);
    if (repeated.length > 0 || !isDefinitions(definitions)) {
      const faults = repeated.length > 0 ? repeated : (definitions as readonly FieldError[]);
      errors.push(...faults);
      later.push(...faults);
      continue;
    }
    const { values, errors: faults } = withDefaults(place, definitions);
    errors.push(...faults);
    if (values.length !== place.values.length || values.some((v, i) => v !== place.values[i])) next = place.put(next, values);
    later.push(...validate({ ...place, values }, definitions));
  }
  return errors.length + later.length > 0 ? [...errors, ...later] : next;
}

export const isVariableErrors = (result: Draft | readonly FieldError[]): result is readonly FieldError[] => Array.isArray(result);
