// VariableSchema: the schema language of ClusterClass variables. Nested schemas are opaque to the CRD; VariableSchemaProps
// below says what they look like once decoded. Not here: what a variable schema means (schema/). Source: spec/api/clusterclass.md section 4.
import type { Json } from "./meta/object.ts";
import { anyJson, boolean, int64, list, listMap, must, object, oneOf, type Shape, someOf, text } from "./shape.ts";
import { type TemplateMeta, templateMeta } from "./shared.ts";

export interface VariableValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  readonly fieldPath?: string;
}

export interface VariableSchemaProps {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly description?: string;
  readonly example?: Json;
  readonly properties?: Readonly<Record<string, VariableSchemaProps>>;
  readonly additionalProperties?: VariableSchemaProps;
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly items?: VariableSchemaProps;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly format?: string;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly enum?: readonly Json[];
  readonly default?: Json;
  readonly allOf?: readonly VariableSchemaProps[];
  readonly anyOf?: readonly VariableSchemaProps[];
  readonly oneOf?: readonly VariableSchemaProps[];
  readonly not?: VariableSchemaProps;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-validations"?: readonly VariableValidationRule[];
  readonly "x-metadata"?: TemplateMeta;
}

const validation = object(
  {
    rule: must(text(1, 4096, "CEL expression that must be true.")),
    message: text(1, 512, "What to say when it is not."),
    messageExpression: text(1, 1024, "CEL expression that gives the message."),
    reason: oneOf(["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"], "Reason of the error.", {
      default: "FieldValueInvalid",
    }),
    fieldPath: text(1, 512, "Field the error is reported at."),
  },
  "One rule.",
);

/** Only the outermost level is checked by the CRD. */
const variableSchema = someOf(
  {
    description: text(1, 4096, "What the variable is for."),
    example: anyJson("A valid value."),
    type: oneOf(["object", "array", "string", "integer", "number", "boolean"], "Type of the value."),
    properties: anyJson("Schemas of the fields of an object, by name."),
    additionalProperties: anyJson("Schema of the values of a map."),
    maxProperties: int64("Most entries of a map."),
    minProperties: int64("Fewest entries of a map."),
    required: list(text(1, 256, "Name of a field."), { min: 1, max: 1000 }, "Fields that must be present."),
    items: anyJson("Schema of the items of a list."),
    maxItems: int64("Most items of a list."),
    minItems: int64("Fewest items of a list."),
    uniqueItems: boolean("Whether no two items may be equal."),
    format: text(1, 32, "Format of a text."),
    maxLength: int64("Most characters of a text."),
    minLength: int64("Fewest characters of a text."),
    pattern: text(1, 512, "Regular expression for a text."),
    maximum: int64("Largest number."),
    exclusiveMaximum: boolean("Whether the maximum itself is too large."),
    minimum: int64("Smallest number."),
    exclusiveMinimum: boolean("Whether the minimum itself is too small."),
    "x-kubernetes-preserve-unknown-fields": boolean("Keep fields the schema does not know."),
    enum: list(anyJson("A permitted value."), { max: 100 }, "Permitted values."),
    default: anyJson("Value when none is given."),
    "x-kubernetes-validations": listMap(["rule"], validation, { min: 1, max: 100 }, "Rules in CEL."),
    "x-metadata": templateMeta("Labels and annotations of this field, for tools."),
    "x-kubernetes-int-or-string": boolean("Whether integers and texts are both fine."),
    allOf: anyJson("Schemas that must all hold."),
    oneOf: anyJson("Schemas of which exactly one must hold."),
    anyOf: anyJson("Schemas of which one must hold."),
    not: anyJson("Schema that must not hold."),
  },
  "OpenAPI v3 schema of the variable.",
) as Shape<VariableSchemaProps>;

export const variableSchemaHolder = object({ openAPIV3Schema: must(variableSchema) }, "Schema of the variable.");
