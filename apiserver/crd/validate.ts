// Rules of CustomResourceDefinitions. Here: names, versions, subresources, columns, stored versions, changes.
// Not here: schemas (schema/crd-schema.ts), names taken by others (conditions.ts).
// Source: apiextensions validation; a field that all versions share is named as if it stood once in the spec, as upstream does.
import type { JsonSchema } from "../../api/meta/schema.ts";
import type { StatusCause } from "../../api/meta/status.ts";
import { type CrdSchemaOptions, validateCrdSchema } from "../../schema/index.ts";
import { fieldDuplicate, fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from "../errors.ts";
import { type ApiObject, sameJson } from "../object.ts";
import { dnsSubdomainErrors } from "../requests/names.ts";
import { approval } from "./conditions.ts";
import { type CrdNames, type CrdScale, type CrdSpec, type CrdVersion, hasCondition, specOf, statusOf } from "./definition.ts";

type Causes = StatusCause[];

const LABEL_MAX = 63;
const isLabel = (text: string): boolean => text.length <= LABEL_MAX && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(text);
const LABEL_TEXT = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with a letter and not end with '-'";

/** An empty name is not judged here. */
function label(field: string, text: string | undefined, causes: Causes, mixedCase = false): void {
  if (text === undefined || text === "" || isLabel(mixedCase ? text.toLowerCase() : text)) return;
  causes.push(fieldInvalid(field, text, mixedCase ? `may have mixed case, but should otherwise match: ${LABEL_TEXT}` : LABEL_TEXT));
}

/** @param old the stored object on an update: a missing approval may stay missing */
export function crdCauses(crd: ApiObject, old?: ApiObject): readonly StatusCause[] {
  const spec = specOf(crd);
  const causes: Causes = [];
  const { name = "" } = crd.metadata;
  if (name !== `${spec.names.plural}.${spec.group}`)
    causes.push(fieldInvalid("metadata.name", name, `must be spec.names.plural+"."+spec.group`));
  const approved = approval(crd);
  const stays = old !== undefined && approval(old)?.reason === approved?.reason;
  if (approved && !stays && (approved.reason === "MissingAnnotation" || approved.reason === "InvalidAnnotation")) {
    const field = "metadata.annotations[api-approved.kubernetes.io]";
    const text = crd.metadata.annotations?.["api-approved.kubernetes.io"];
    causes.push(text ? fieldInvalid(field, text, approved.message) : fieldRequired(field, approved.message));
  }
  groupCauses(spec.group, causes);
  if (spec.scope === "") causes.push(fieldRequired("spec.scope"));
  else if (spec.scope !== "Cluster" && spec.scope !== "Namespaced")
    causes.push(fieldNotSupported("spec.scope", spec.scope, ["Cluster", "Namespaced"]));
  nameCauses(spec.names, "spec.names", true, causes);
  versionCauses(spec, old && specOf(old), causes);
  conversionCauses(spec, causes);
  if (spec.preserveUnknownFields === true)
    causes.push(
      fieldInvalid("spec.preserveUnknownFields", true, "must be false: set x-kubernetes-preserve-unknown-fields in the schema instead"),
    );
  storedCauses(crd, causes);
  return causes;
}

function groupCauses(group: string, causes: Causes): void {
  if (group === "") causes.push(fieldRequired("spec.group"));
  else if (dnsSubdomainErrors(group).length > 0) causes.push(fieldInvalid("spec.group", group, dnsSubdomainErrors(group).join(", ")));
  else if (!group.includes(".")) causes.push(fieldInvalid("spec.group", group, "should be a domain with at least one dot"));
}

function nameCauses(names: CrdNames, field: string, needed: boolean, causes: Causes): void {
  if (needed && names.plural === "") causes.push(fieldRequired(`${field}.plural`));
  label(`${field}.plural`, names.plural, causes);
  if (needed && !names.singular) causes.push(fieldRequired(`${field}.singular`));
  label(`${field}.singular`, names.singular, causes);
  if (needed && names.kind === "") causes.push(fieldRequired(`${field}.kind`));
  label(`${field}.kind`, names.kind, causes, true);
  if (needed && !names.listKind) causes.push(fieldRequired(`${field}.listKind`));
  label(`${field}.listKind`, names.listKind, causes, true);
  for (const [i, short] of (names.shortNames ?? []).entries()) label(`${field}.shortNames[${i}]`, short, causes);
  for (const [i, category] of (names.categories ?? []).entries()) label(`${field}.categories[${i}]`, category, causes);
  if (names.kind && names.kind === names.listKind)
    causes.push(fieldInvalid(`${field}.listKind`, names.listKind, "kind and listKind may not be the same"));
}

// ---- Versions

function versionCauses(spec: CrdSpec, old: CrdSpec | undefined, causes: Causes): void {
  const { versions } = spec;
  const storage = versions.filter((version) => version.storage).length;
  if (new Set(versions.map((version) => version.name)).size !== versions.length)
    causes.push(
      fieldInvalid(
        "spec.versions",
        versions.map((v) => v.name),
        "must contain unique version names",
      ),
    );
  if (storage !== 1)
    causes.push(
      fieldInvalid(
        "spec.versions",
        versions.map((v) => v.name),
        "must have exactly one version marked as storage version",
      ),
    );
  for (const [i, version] of versions.entries()) {
    const field = `spec.versions[${i}]`;
    if (version.name === "" || !isLabel(version.name)) causes.push(fieldInvalid(`${field}.name`, version.name, LABEL_TEXT));
    if (version.deprecationWarning !== undefined) warningCauses(version, `${field}.deprecationWarning`, causes);
    if (!version.schema?.openAPIV3Schema) causes.push(fieldRequired(`${field}.schema.openAPIV3Schema`, "schemas are required"));
  }
  // One schema for all is judged as if all had the status subresource that any of them has.
  const anyStatus = versions.some((version) => version.subresources?.status !== undefined);
  const shared = "spec.validation";
  eachShared(versions, "schema", "validation", (version, field) => {
    const status = field === shared ? anyStatus : version.subresources?.status !== undefined;
    const stored = old?.versions.find(({ name }) => name === version.name);
    // What was accepted is not judged anew: it may come from an older server.
    if (!sameJson(stored?.schema, version.schema)) schemaCauses(version, field, { statusSubresource: status }, causes);
  });
  eachShared(versions, "subresources", "subresources", (version, field) => subresourceCauses(version, field, causes));
  eachShared(versions, "additionalPrinterColumns", "additionalPrinterColumns", (version, field) => columnCauses(version, field, causes));
  eachShared(versions, "selectableFields", "selectableFields", (version, field) => selectableCauses(version, field, causes));
}

/** A part that is the same in all versions is looked at once, under the name it had when there was one for all. */
function eachShared(
  versions: readonly CrdVersion[],
  part: keyof CrdVersion,
  shared: string,
  look: (version: CrdVersion, field: string) => void,
): void {
  const [first] = versions;
  if (!first) return;
  if (versions.every((version) => sameJson(version[part], first[part]))) look(first, `spec.${shared}`);
  else for (const [i, version] of versions.entries()) look(version, `spec.versions[${i}].${part}`);
}

const WARNING_MAX = 256;

function warningCauses(version: CrdVersion, field: string, causes: Causes): void {
  const text = version.deprecationWarning ?? "";
  if (version.deprecated !== true) causes.push(fieldInvalid(field, text, "can only be set for deprecated versions"));
  else if (text === "") causes.push(fieldInvalid(field, text, "must be a non-empty string"));
  else if (text.length > WARNING_MAX || !/^[^\p{Cc}]*$/u.test(text))
    causes.push(fieldInvalid(field, text, `must be at most ${WARNING_MAX} printable characters`));
}

function schemaCauses(version: CrdVersion, field: string, options: CrdSchemaOptions, causes: Causes): void {
  const schema = version.schema?.openAPIV3Schema;
  if (schema) causes.push(...validateCrdSchema(schema, `${field}.openAPIV3Schema`, options));
}

const isSimplePath = (path: string): boolean => /^(\.[A-Za-z_][A-Za-z0-9_-]*)+$/.test(path);

function subresourceCauses(version: CrdVersion, field: string, causes: Causes): void {
  const scale = version.subresources?.scale;
  if (!scale) return;
  const roots: readonly [keyof CrdScale, readonly string[], boolean][] = [
    ["specReplicasPath", [".spec."], true],
    ["statusReplicasPath", [".status."], true],
    ["labelSelectorPath", [".status.", ".spec."], false],
  ];
  for (const [name, below, needed] of roots) {
    const path = scale[name] ?? "";
    const at = `${field}.scale.${name}`;
    if (path === "") {
      if (needed) causes.push(fieldRequired(at, `cannot be empty: name a field below ${below[0]}`));
    } else if (!path.startsWith(".")) causes.push(fieldInvalid(at, path, "must be a simple json path starting with ."));
    else if (!below.some((root) => path.startsWith(root)))
      causes.push(fieldInvalid(at, path, `should be a json path under ${below.join(" or ")}`));
  }
}

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["binary", "byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

function columnCauses(version: CrdVersion, field: string, causes: Causes): void {
  for (const [i, column] of (version.additionalPrinterColumns ?? []).entries()) {
    const at = `${field}[${i}]`;
    if (column.name === "") causes.push(fieldRequired(`${at}.name`));
    if (column.type === "") causes.push(fieldRequired(`${at}.type`, `must be one of ${COLUMN_TYPES.join(",")}`));
    else if (!COLUMN_TYPES.includes(column.type))
      causes.push(fieldInvalid(`${at}.type`, column.type, `must be one of ${COLUMN_TYPES.join(",")}`));
    if (column.format !== undefined && column.format !== "" && !COLUMN_FORMATS.includes(column.format))
      causes.push(fieldInvalid(`${at}.format`, column.format, `must be one of ${COLUMN_FORMATS.join(",")}`));
    // Upstream spells the field as its internal type does.
    if (column.jsonPath === "") causes.push(fieldRequired(`${at}.JSONPath`));
    else if (!column.jsonPath.startsWith("."))
      causes.push(fieldInvalid(`${at}.JSONPath`, column.jsonPath, "must be a simple json path starting with ."));
  }
}

const SELECTABLE_MAX = 8;

function selectableCauses(version: CrdVersion, field: string, causes: Causes): void {
  const fields = version.selectableFields ?? [];
  if (fields.length > SELECTABLE_MAX)
    causes.push({ reason: "FieldValueTooMany", field, message: `Too many: ${fields.length}: must have at most ${SELECTABLE_MAX} items` });
  const seen = new Set<string>();
  for (const [i, { jsonPath }] of fields.entries()) {
    const at = `${field}[${i}].jsonPath`;
    const found = isSimplePath(jsonPath) ? fieldAt(version.schema?.openAPIV3Schema, jsonPath) : undefined;
    if (jsonPath === "") causes.push(fieldRequired(at));
    else if (!isSimplePath(jsonPath))
      causes.push(fieldInvalid(at, jsonPath, "is an invalid path: must be a simple path without array notation"));
    else if (jsonPath.startsWith(".metadata.")) causes.push(fieldInvalid(at, jsonPath, "must not point to fields in metadata"));
    else if (!found) causes.push(fieldInvalid(at, jsonPath, "is an invalid path: does not refer to a valid field"));
    else if (found.type !== "string" && found.type !== "integer" && found.type !== "boolean")
      causes.push(
        fieldInvalid(
          at,
          jsonPath,
          "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
        ),
      );
    if (seen.has(jsonPath)) causes.push(fieldDuplicate(at, jsonPath));
    seen.add(jsonPath);
  }
}

function fieldAt(schema: JsonSchema | undefined, path: string): JsonSchema | undefined {
  let node = schema;
  for (const name of path.split(".").slice(1))
    node = node?.properties && Object.hasOwn(node.properties, name) ? node.properties[name] : undefined;
  return node;
}

const PORT_MAX = 65_535;

function conversionCauses(spec: CrdSpec, causes: Causes): void {
  const { conversion } = spec;
  if (!conversion) return;
  const { strategy, webhook } = conversion;
  const field = "spec.conversion";
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy === "") causes.push(fieldRequired(`${field}.strategy`));
  else if (strategy !== "None" && strategy !== "Webhook")
    causes.push(fieldNotSupported(`${field}.strategy`, strategy, ["None", "Webhook"]));
  if (strategy !== "Webhook") {
    const why = "should not be set when strategy is not set to Webhook";
    if (webhook?.clientConfig) causes.push(fieldForbidden(`${field}.webhookClientConfig`, why));
    if (versions.length > 0) causes.push(fieldForbidden(`${field}.conversionReviewVersions`, why));
    return;
  }
  const config = webhook?.clientConfig as { readonly url?: string; readonly service?: { readonly port?: number } } | undefined;
  if (!config) causes.push(fieldRequired(`${field}.webhookClientConfig`, "required when strategy is set to Webhook"));
  else if ((config.url === undefined) === (config.service === undefined))
    causes.push(fieldRequired(`${field}.webhookClientConfig`, "exactly one of url or service is required"));
  const port = config?.service?.port;
  if (port !== undefined && (port < 1 || port > PORT_MAX))
    causes.push(fieldInvalid(`${field}.webhookClientConfig.service.port`, port, `must be between 1 and ${PORT_MAX}, inclusive`));
  if (versions.length === 0) causes.push(fieldRequired(`${field}.conversionReviewVersions`));
  for (const [i, version] of versions.entries()) {
    const at = `${field}.conversionReviewVersions[${i}]`;
    if (versions.indexOf(version) < i) causes.push(fieldInvalid(at, version, "duplicate version"));
    else if (!isLabel(version)) causes.push(fieldInvalid(at, version, LABEL_TEXT));
  }
  if (versions.length > 0 && !versions.includes("v1") && !versions.includes("v1beta1"))
    causes.push(fieldInvalid(`${field}.conversionReviewVersions`, versions, "must include at least one of v1, v1beta1"));
}

/** Every version that has stored objects must stay, so that they can be read. */
function storedCauses(crd: ApiObject, causes: Causes): void {
  const { storedVersions } = statusOf(crd);
  const { versions } = specOf(crd);
  const field = "status.storedVersions";
  if (storedVersions.length === 0) causes.push(fieldInvalid(field, storedVersions, "must have at least one stored version"));
  const missing = storedVersions.map((name, i) => ({ name, i })).filter(({ name }) => !versions.some((version) => version.name === name));
  for (const { name, i } of missing) causes.push(fieldInvalid(`${field}[${i}]`, name, "missing from spec.versions"));
  for (const { storage, name } of versions) {
    if (storage && storedVersions.length > 0 && !storedVersions.includes(name))
      causes.push(fieldInvalid(field, storedVersions, `must have the storage version ${name}`));
  }
}

// ---- Changes

export function crdUpdateCauses(crd: ApiObject, old: ApiObject): readonly StatusCause[] {
  const causes: Causes = [...crdCauses(crd, old)];
  const [now, before] = [specOf(crd), specOf(old)];
  const fixed = (field: string, value: unknown, was: unknown): void => {
    if (value !== was) causes.push(fieldInvalid(field, value, "field is immutable"));
  };
  fixed("spec.group", now.group, before.group);
  fixed("spec.names.plural", now.names.plural, before.names.plural);
  if (hasCondition(old, "Established")) {
    fixed("spec.scope", now.scope, before.scope);
    fixed("spec.names.kind", now.names.kind, before.names.kind);
  }
  return causes;
}

/** A write of status. */
export function crdStatusCauses(crd: ApiObject): readonly StatusCause[] {
  const causes: Causes = [];
  nameCauses(statusOf(crd).acceptedNames, "status.acceptedNames", false, causes);
  return causes;
}
