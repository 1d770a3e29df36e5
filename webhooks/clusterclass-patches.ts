// Patches of a ClusterClass: validation. Not here: templates' syntax (go-template/), applying patches. Source: spec/api/clusterclass.md section 5.2.
import { type FieldError, forbidden, indexed, invalid, notSupported, required } from "../schema/field.ts";
import { qualifiedName } from "../schema/names.ts";
import { isTemplateRefDefined } from "./class-compatibility.ts";
import { at, listAt, plain, textAt } from "./draft.ts";
import { templateFault } from "../schema/go-template/parse.ts";
import type { Draft, WebhookContext } from "./rule-set.ts";

const OPERATIONS = ["add", "remove", "replace"];

const builtinsBelow = (prefix: string, names: string): readonly string[] => [
  prefix,
  ...names.split(" ").map((name) => `${prefix}.${name}`),
];

const METADATA = "metadata.labels metadata.annotations";
const WORKERS = `class name replicas topologyName version ${METADATA} bootstrap.configRef.name infrastructureRef.name`;

/** Variables that every patch can read. Bare `builtin` is looked up as any other. */
const BUILTINS: ReadonlySet<string> = new Set([
  ...builtinsBelow(
    "builtin.cluster",
    `name namespace uid ${METADATA} topology topology.version topology.class topology.classNamespace topology.classRef.name topology.classRef.namespace network network.serviceDomain network.services network.pods`,
  ),
  ...builtinsBelow("builtin.controlPlane", `name replicas version ${METADATA} machineTemplate.infrastructureRef.name`),
  ...builtinsBelow("builtin.machineDeployment", WORKERS),
  ...builtinsBelow("builtin.machinePool", WORKERS),
]);

function templateErrors(template: string | undefined, path: string): readonly FieldError[] {
  const fault = template ? templateFault(template) : undefined;
  return fault === undefined ? [] : [invalid(path, template, `is no Go template: ${fault}`)];
}

function variableErrors(variable: string, variables: ReadonlySet<string>, path: string): readonly FieldError[] {
  if (variable.startsWith("builtin.")) return BUILTINS.has(variable) ? [] : [invalid(path, variable, "is no built-in variable")];
  const name = variable.split(/[.[]/).find((part) => part !== "") ?? "";
  return variables.has(name)
    ? []
    : [invalid(path, variable, `variable ${name} is not in spec.variables; it has ${[...variables].join(", ") || "none"}`)];
}

/** Rule 10: lists can be added to at their ends only, since other places move. */
function indexErrors(op: string, pointer: string, path: string): readonly FieldError[] {
  const indexes = pointer.split("/").filter((part) => /^[+-]?\d+$/.test(part));
  const wrong = op === "add" ? indexes.filter((i) => Number(i) !== 0) : op === "replace" || op === "remove" ? indexes : [];
  return wrong.map(() =>
    invalid(
      path,
      pointer,
      op === "add" ? "can add to a list with 0 (first) or - (last) only" : `cannot ${op} items of a list: set the list whole`,
    ),
  );
}

/** Rules 11 to 16, for operations that set something. */
function valueErrors(patch: unknown, variables: ReadonlySet<string>, path: string): readonly FieldError[] {
  const from = plain(at(patch, "valueFrom"));
  // Null is no value: it is not told apart from none.
  const hasValue = (at(patch, "value") ?? null) !== null;
  const [template, variable] = [textAt(from, "template") ?? "", textAt(from, "variable") ?? ""];
  return [
    ...(!hasValue && !from ? [invalid(path, patch, "give value or valueFrom")] : []),
    ...(hasValue && from ? [invalid(path, patch, "give value or valueFrom, not both")] : []),
    ...(from && template === "" && variable === "" ? [invalid(`${path}.valueFrom`, from, "give template or variable")] : []),
    ...(template !== "" && variable !== "" ? [invalid(`${path}.valueFrom`, from, "give template or variable, not both")] : []),
    ...templateErrors(template, `${path}.valueFrom.template`),
    ...(variable === "" ? [] : variableErrors(variable, variables, `${path}.valueFrom.variable`)),
  ];
}

function operationErrors(patch: unknown, variables: ReadonlySet<string>, path: string): readonly FieldError[] {
  const [op, pointer] = [textAt(patch, "op") ?? "", textAt(patch, "path") ?? ""];
  return [
    ...(OPERATIONS.includes(op) ? [] : [notSupported(`${path}.op`, op, OPERATIONS)]),
    ...(pointer.startsWith("/spec") ? [] : [invalid(`${path}.path`, pointer, "must start with /spec")]),
    ...indexErrors(op, pointer, `${path}.path`),
    ...(op === "add" || op === "replace" ? valueErrors(patch, variables, path) : []),
  ];
}

// ---- Selectors: a patch that can match nothing is a mistake

const isOf = (selector: unknown, ref: unknown): boolean =>
  ["apiVersion", "kind"].every((field) => (textAt(selector, field) ?? "") === (textAt(ref, field) ?? ""));

function nameMatches(pattern: string, name: string): boolean {
  if (pattern === name || pattern === "*") return true;
  if (pattern.startsWith("*")) return name.endsWith(pattern.slice(1));
  return pattern.endsWith("*") && name.startsWith(pattern.slice(0, -1));
}

function patternProblem(pattern: string): string | undefined {
  if (!pattern.includes("*")) return undefined;
  if (pattern.split("*").length > 2) return "may have one * only";
  if (!pattern.startsWith("*") && !pattern.endsWith("*")) return "may have a * at the start or the end only";
  return qualifiedName(pattern.replace("*", "a"))[0];
}

function workerErrors(selector: unknown, object: Draft, match: string, field: string, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, name] of listAt(selector, "matchResources", match, "names").map(String).entries()) {
    const at_ = `${path}.matchResources.${match}.names[${i}]`;
    const problem = patternProblem(name);
    if (problem) return [...errors, invalid(at_, name, problem)];
    const isMatched = listAt(object, "spec", "workers", field).some(
      (worker) =>
        nameMatches(name, textAt(worker, "class") ?? "") &&
        (isOf(selector, at(worker, "infrastructure", "templateRef")) || isOf(selector, at(worker, "bootstrap", "templateRef"))),
    );
    if (!isMatched) errors.push(invalid(at_, name, "matches no class with templates of this apiVersion and kind"));
  }
  return errors;
}

function selectorErrors(selector: unknown, object: Draft, path: string): readonly FieldError[] {
  const match = at(selector, "matchResources");
  const [infrastructure, controlPlane] = [at(match, "infrastructureCluster") === true, at(match, "controlPlane") === true];
  const names = ["machineDeploymentClass", "machinePoolClass"].flatMap((field) => listAt(match, field, "names"));
  if (!infrastructure && !controlPlane && names.length === 0)
    return [invalid(path, selector, "selects nothing: set infrastructureCluster, controlPlane or names of classes")];
  const machines = at(object, "spec", "controlPlane", "machineInfrastructure", "templateRef");
  const ofControlPlane =
    isOf(selector, at(object, "spec", "controlPlane", "templateRef")) || (isTemplateRefDefined(machines) && isOf(selector, machines));
  return [
    ...(infrastructure && !isOf(selector, at(object, "spec", "infrastructure", "templateRef"))
      ? [invalid(`${path}.matchResources.infrastructureCluster`, true, "spec.infrastructure has a template of another apiVersion or kind")]
      : []),
    ...(controlPlane && !ofControlPlane
      ? [invalid(`${path}.matchResources.controlPlane`, true, "spec.controlPlane has templates of another apiVersion or kind")]
      : []),
    ...workerErrors(selector, object, "machineDeploymentClass", "machineDeployments", path),
    ...workerErrors(selector, object, "machinePoolClass", "machinePools", path),
  ];
}

// ---- Whole patches

function nameErrors(name: string, isRepeated: boolean, path: string): readonly FieldError[] {
  return [
    ...(name === "" ? [required(path, "name the patch")] : []),
    ...(name === "inline" ? [required(path, "must be another name: inline stands for the class's own variables")] : []),
    ...(isRepeated ? [invalid(path, name, "is used twice: names must be unique")] : []),
  ];
}

function externalErrors(external: unknown, path: string, context: WebhookContext): readonly FieldError[] {
  const isOn = ["generatePatchesExtension", "validateTopologyExtension"].some((field) => (textAt(external, field) ?? "") !== "");
  return [
    ...(context.gate("RuntimeSDK") ? [] : [forbidden(path, "needs the feature gate RuntimeSDK")]),
    ...(isOn ? [] : [invalid(path, external, "give generatePatchesExtension or validateTopologyExtension")]),
  ];
}

export function patchErrors(object: Draft, context: WebhookContext): readonly FieldError[] {
  const patches = listAt(object, "spec", "patches");
  const names = patches.map((patch) => textAt(patch, "name") ?? "");
  const variables = new Set(listAt(object, "spec", "variables").map((variable) => textAt(variable, "name") ?? ""));
  return patches.flatMap((patch, i) => {
    const path = indexed("spec.patches", i);
    const [definitions, external] = [at(patch, "definitions"), plain(at(patch, "external"))];
    const isInline = Array.isArray(definitions);
    return [
      ...nameErrors(names[i] as string, names.indexOf(names[i] as string) < i, `${path}.name`),
      ...templateErrors(textAt(patch, "enabledIf"), `${path}.enabledIf`),
      ...(!isInline && !external ? [required(path, "give definitions or external")] : []),
      ...(isInline && external ? [invalid(path, names[i], "give definitions or external, not both")] : []),
      ...listAt(patch, "definitions").flatMap((definition, j) => {
        const below = `${path}.definitions[${j}]`;
        return [
          ...listAt(definition, "jsonPatches").flatMap((one, k) => operationErrors(one, variables, `${below}.jsonPatches[${k}]`)),
          ...selectorErrors(at(definition, "selector"), object, `${below}.selector`),
        ];
      }),
      ...(external ? externalErrors(external, `${path}.external`, context) : []),
    ];
  });
}
