// OpenAPI v3 schemas as CustomResourceDefinitions carry them, plus the markers of built-in kinds. Here: the type only.
// Source: apiextensions.k8s.io/v1 JSONSchemaProps; spec/api/common.md.
import type { Json } from "./object.ts";

export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export interface JsonSchema {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly example?: Json;
  readonly externalDocs?: { readonly url?: string; readonly description?: string };
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
  /** Built-in kinds only: strategic merge patch. */
  readonly "x-kubernetes-patch-strategy"?: "merge" | "replace" | "retainKeys" | "merge,retainKeys";
  readonly "x-kubernetes-patch-merge-key"?: string;
}
