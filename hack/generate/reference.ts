// docs/reference: one page per kind, conditions, feature gates, hooks, and an index.
import { conditionReasons, conditionTypesFirst, conditionTypesLast, conditionTypesOther } from "../../api/conditions.ts";
import { featureGateNames, featureGates } from "../../api/feature-gates.ts";
import { hookCatalog, hookNames, hookPath } from "../../api/hooks/index.ts";
import { allKinds } from "../../api/index.ts";
import type { KindDefinition } from "../../api/kind.ts";
import { kubeadmConfigSpec } from "../../api/kubeadm-config-spec.ts";
import type { JsonSchema } from "../../api/meta/schema.ts";
import type { GeneratedFile } from "./files.ts";

const NOTE = "<!-- Generated from api/ by hack/generate.ts. Do not edit. -->\n";
const code = (text: string): string => `\`${text}\``;
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** @returns a Markdown table */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |\n`;
  return `${line(head)}|${"---|".repeat(head.length)}\n${rows.map(line).join("")}`;
}

export function typeText(schema: JsonSchema): string {
  if (schema["x-kubernetes-int-or-string"]) return "integer or string";
  if (schema.type === "array") return `list of ${schema.items ? typeText(schema.items) : "anything"}`;
  if (typeof schema.additionalProperties === "object") return `map of ${typeText(schema.additionalProperties)}`;
  if (schema.type === undefined) return "any JSON";
  return schema.format ? `${schema.type} (${schema.format})` : schema.type;
}

const range = (name: string, low: number | undefined, high: number | undefined): readonly string[] => {
  if (low === undefined && high === undefined) return [];
  if (high === undefined) return [`${name} >= ${low}`];
  return [low === undefined ? `${name} <= ${high}` : `${name} ${low}..${high}`];
};

export function boundsText(schema: JsonSchema): string {
  const keys = schema["x-kubernetes-list-map-keys"];
  const items = schema.items && schema.items.type !== "object" ? boundsText(schema.items) : "";
  return [
    ...(schema.enum ? [`one of ${schema.enum.map((v) => code(String(v))).join(", ")}`] : []),
    ...range("length", schema.minLength, schema.maxLength),
    ...range("value", schema.minimum, schema.maximum),
    ...range("items", schema.minItems, schema.maxItems),
    ...range("keys", schema.minProperties, schema.maxProperties),
    ...(schema.pattern ? [`pattern ${code(schema.pattern)}`] : []),
    ...(keys ? [`unique by ${keys.map(code).join(" + ")}`] : []),
    ...(schema["x-kubernetes-validations"] ?? []).map((r) => r.message ?? code(r.rule)),
    ...(items === "" ? [] : [`each: ${items}`]),
    ...(schema.default === undefined ? [] : [`default ${code(JSON.stringify(schema.default))}`]),
  ].join("; ");
}

type Row = readonly [path: string, type: string, required: string, bounds: string, description: string];

function rowsOf(path: string, schema: JsonSchema, required: boolean, inKubeadmConfig: boolean): readonly Row[] {
  const linked = schema === kubeadmConfigSpec && !inKubeadmConfig;
  const description = linked ? "As `spec` of [KubeadmConfig](kubeadmconfig.md)." : (schema.description ?? "");
  const row: Row = [code(path), typeText(schema), required ? "yes" : "", boundsText(schema), description];
  if (linked) return [row];
  const inner = schema.items ?? schema;
  const step = schema.items ? "[]." : ".";
  const fields = Object.entries(inner.properties ?? {});
  return [
    row,
    ...fields.flatMap(([name, field]) => rowsOf(path + step + name, field, inner.required?.includes(name) ?? false, inKubeadmConfig)),
  ];
}

const fieldsTable = (kind: KindDefinition, half: "spec" | "status"): string => {
  const schema = kind.schema.properties?.[half];
  if (!schema) return "";
  const rows = rowsOf(half, schema, kind.schema.required?.includes(half) ?? false, kind.resource.kind === "KubeadmConfig");
  return `\n## ${half === "spec" ? "Spec" : "Status"}\n\n${table(["Path", "Type", "Required", "Bounds", "Meaning"], rows)}`;
};

function page(kind: KindDefinition): string {
  const { group, version, plural, namespaced } = kind.resource;
  const subresources = [...(kind.statusSubresource ? ["status"] : []), ...(kind.scale ? ["scale"] : [])];
  const facts = [
    ["Group and version", code(`${group}/${version}`)],
    ["Names", [plural, kind.singular, ...kind.shortNames].map(code).join(", ")],
    ["Categories", kind.categories.map(code).join(", ")],
    ["Scope", namespaced ? "namespaced" : "cluster"],
    ["Subresources", subresources.length > 0 ? subresources.map(code).join(", ") : "none"],
  ];
  const columns = kind.columns.map((c) => [c.name, code(c.jsonPath), (c.priority ?? 0) > 0 ? "wide only" : "", c.description ?? ""]);
  return (
    `${NOTE}# ${kind.resource.kind}\n\n${kind.schema.description ?? ""}\n\n${table(["", ""], facts)}` +
    `\nColumns of \`kubectl get\`:\n\n${table(["Column", "Path", "Shown", "Meaning"], columns)}` +
    fieldsTable(kind, "spec") +
    fieldsTable(kind, "status")
  );
}

const gatesPage = (): string =>
  `${NOTE}# Feature gates\n\nSet with \`--feature-gates=Name=true,Other=false\`. \`AllAlpha\` and \`AllBeta\` set all of a stage; single gates win over them.\n\n${table(
    ["Gate", "Default", "Stage", "Needs", "Switches"],
    featureGateNames.map((name) => {
      const gate = featureGates[name];
      return [code(name), gate.default ? "on" : "off", gate.stage, (gate.needs ?? []).map(code).join(", "), gate.what];
    }),
  )}`;

const hooksPage = (): string =>
  `${NOTE}# Runtime hooks\n\nOne POST of JSON over HTTPS per call. The path follows the path of the client configuration and ends in the handler's name.\n\n${table(
    ["Hook", "Path", "Handlers called", "May ask for a retry", "Namespace selector is matched on"],
    hookNames.map((name) => {
      const hook = hookCatalog[name];
      return [
        code(name),
        code(hookPath("", name)),
        hook.calls === "all" ? "all that match" : "one",
        hook.retries ? "yes" : "",
        hook.on ?? "",
      ];
    }),
  )}`;

const conditionsPage = (): string =>
  `${NOTE}# Conditions\n\nConditions are listed in this order; every other type comes by name before the last two.\n\n${[
    ...conditionTypesFirst,
    "(others)",
    ...conditionTypesLast,
  ]
    .map((type) => `1. ${type}\n`)
    .join("")}\nOthers are: ${conditionTypesOther.map(code).join(", ")}.\n\n${table(
    ["Written for", "Reasons"],
    Object.entries(conditionReasons).map(([who, reasons]) => [reasonOwners[who] ?? who, reasons.map(code).join(", ")]),
  )}`;

const reasonOwners: Readonly<Record<string, string>> = {
  shared: "several kinds",
  machine: "Machines",
  controlPlane: "control planes and their Machines",
  cluster: "Clusters",
  other: "other kinds",
};

const fileName = (kind: KindDefinition): string => `${kind.singular}.md`;

const indexPage = (): string =>
  `${NOTE}# Reference\n\n${table(
    ["Kind", "Group", "What"],
    allKinds.map((kind) => [`[${kind.resource.kind}](${fileName(kind)})`, code(kind.resource.group), kind.schema.description ?? ""]),
  )}\nSee also: [conditions](conditions.md), [feature gates](feature-gates.md), [runtime hooks](hooks.md).\n`;

export const referenceFiles = (): readonly GeneratedFile[] =>
  [
    ...allKinds.map((kind) => ({ path: fileName(kind), text: page(kind) })),
    { path: "feature-gates.md", text: gatesPage() },
    { path: "hooks.md", text: hooksPage() },
    { path: "conditions.md", text: conditionsPage() },
    { path: "README.md", text: indexPage() },
  ].map(({ path, text }) => ({ path: `docs/reference/${path}`, text }));
