// OpenAPI documents from the kinds served. Here: paths and operations. Not here: schemas (schemas.ts), requests (index.ts).
import { apiVersionOfType, type ResourceType } from "../registry.ts";
import { createDefinitions, type Definitions, type Dialect } from "./schemas.ts";

type Document = Record<string, unknown>;

interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly type: "string" | "boolean" | "integer";
}

const parameter = (name: string, description: string, type: Parameter["type"] = "string"): Parameter => ({ name, description, type });

const DRY_RUN = parameter("dryRun", "All: every step but storing is done.");
const MANAGER = parameter("fieldManager", "Who makes the change, at most 128 printable characters.");
const VALIDATION = parameter("fieldValidation", "What happens to unknown and doubled fields: Ignore, Warn or Strict.");
const FORCE = parameter("force", "Takes fields from other managers; for apply patches only.", "boolean");
const PRETTY = parameter("pretty", "true: the answer is indented.");
const WRITE = [DRY_RUN, MANAGER, VALIDATION];
const LIST = [
  parameter("allowWatchBookmarks", "Asks for BOOKMARK events.", "boolean"),
  parameter("continue", "Continues a list where a chunk ended."),
  parameter("fieldSelector", "Restricts the list by fields."),
  parameter("labelSelector", "Restricts the list by labels."),
  parameter("limit", "Objects in one chunk.", "integer"),
  parameter("resourceVersion", "Which version of the data the answer is made from."),
  parameter("resourceVersionMatch", "How resourceVersion is meant."),
  parameter("sendInitialEvents", "A watch begins with events for the objects there are.", "boolean"),
  parameter("timeoutSeconds", "Ends the list or watch after this time.", "integer"),
  parameter("watch", "Watches instead of listing.", "boolean"),
];
const DELETE = [
  DRY_RUN,
  parameter("gracePeriodSeconds", "Seconds before the object is gone.", "integer"),
  parameter("orphanDependents", "Superseded by propagationPolicy.", "boolean"),
  parameter("propagationPolicy", "Orphan, Background or Foreground."),
];

const PATCH_TYPES = [
  "application/apply-patch+yaml",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
];

interface OperationShape {
  readonly action: string;
  readonly verb: string;
  readonly parameters: readonly Parameter[];
  readonly body?: string;
  readonly answer: string;
  readonly gvk: Document;
}

const queryParameter = (dialect: Dialect, p: Parameter): Document => ({
  name: p.name,
  in: "query",
  description: p.description,
  ...(dialect === "v2" ? { type: p.type, uniqueItems: true } : { schema: { type: p.type, uniqueItems: true } }),
});

function operation(dialect: Dialect, type: ResourceType, id: string, shape: OperationShape): Document {
  const reference = (name: string): Document => ({ $ref: `${dialect === "v2" ? "#/definitions/" : "#/components/schemas/"}${name}` });
  const content = (name: string, types: readonly string[]): Document =>
    Object.fromEntries(types.map((media) => [media, { schema: reference(name) }]));
  const parameters: Document[] = [PRETTY, ...shape.parameters].map((p) => queryParameter(dialect, p));
  const patches = type.custom ? PATCH_TYPES.slice(0, 3) : PATCH_TYPES;
  const accepted = shape.action === "patch" ? patches : ["application/json", "application/yaml"];
  const made: Document = {
    tags: [tagOf(type)],
    description: `${shape.verb} ${type.kind}`,
    operationId: id,
    "x-kubernetes-action": shape.action,
    "x-kubernetes-group-version-kind": shape.gvk,
  };
  if (dialect === "v2") {
    if (shape.body !== undefined) parameters.unshift({ name: "body", in: "body", required: true, schema: reference(shape.body) });
    const produces = ["application/json", "application/yaml"];
    return {
      ...made,
      consumes: accepted,
      produces,
      schemes: ["https"],
      parameters,
      responses: { "200": { description: "OK", schema: reference(shape.answer) } },
    };
  }
  const body = shape.body === undefined ? {} : { requestBody: { required: true, content: content(shape.body, accepted) } };
  const responses = { "200": { description: "OK", content: content(shape.answer, ["application/json", "application/yaml"]) } };
  return { ...made, parameters, ...body, responses };
}

const tagOf = (type: ResourceType): string => `${type.group === "" ? "core" : (type.group.split(".")[0] ?? "")}_${type.version}`;

const pathParameter = (dialect: Dialect, name: string): Document => ({
  name,
  in: "path",
  required: true,
  description: `${name} of the object`,
  ...(dialect === "v2" ? { type: "string", uniqueItems: true } : { schema: { type: "string", uniqueItems: true } }),
});

interface Names {
  readonly object: string;
  readonly list: string;
  readonly status: string;
  readonly options: string;
  readonly patch: string;
}

/** Paths of one kind and its status and scale. */
function addPaths(paths: Document, dialect: Dialect, type: ResourceType, names: Names): void {
  const root = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope = type.namespaced ? "/namespaces/{namespace}" : "";
  const gvk = { group: type.group, version: type.version, kind: type.kind };
  const where = type.namespaced ? "Namespaced" : "";
  const tag = tagOf(type).replace(/(^|_)(.)/g, (_, _s, c: string) => c.toUpperCase());
  const has = (verb: string): boolean => (type.verbs as readonly string[]).includes(verb);
  const op = (verb: string, below: string, shape: Omit<OperationShape, "gvk" | "verb">): Document =>
    operation(dialect, type, `${verb}${tag}${where}${type.kind}${below}`, { ...shape, verb, gvk });
  const withParameters = (path: string, operations: Document): void => {
    if (Object.keys(operations).length === 0) return;
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((m) => pathParameter(dialect, m[1] ?? ""));
    paths[path] = inPath.length === 0 ? operations : { ...operations, parameters: inPath };
  };
  const collection = `${root}${scope}/${type.plural}`;
  withParameters(collection, {
    ...(has("list") ? { get: op("list", "", { action: "list", parameters: LIST, answer: names.list }) } : {}),
    ...(has("create") ? { post: op("create", "", { action: "post", parameters: WRITE, body: names.object, answer: names.object }) } : {}),
    ...(has("deletecollection")
      ? {
          delete: op("deleteCollection", "", {
            action: "deletecollection",
            parameters: [...LIST, ...DELETE],
            body: names.options,
            answer: names.status,
          }),
        }
      : {}),
  });
  if (type.namespaced && has("list")) {
    const all = op("list", "ForAllNamespaces", { action: "list", parameters: LIST, answer: names.list });
    withParameters(`${root}/${type.plural}`, { get: all });
  }
  const single = (below: string): Document => {
    const suffix = below === "" ? "" : `${below[0]?.toUpperCase()}${below.slice(1)}`;
    return {
      ...(has("get") ? { get: op("read", suffix, { action: "get", parameters: [], answer: names.object }) } : {}),
      ...(has("update")
        ? { put: op("replace", suffix, { action: "put", parameters: WRITE, body: names.object, answer: names.object }) }
        : {}),
      ...(has("patch")
        ? { patch: op("patch", suffix, { action: "patch", parameters: [...WRITE, FORCE], body: names.patch, answer: names.object }) }
        : {}),
    };
  };
  withParameters(`${collection}/{name}`, {
    ...single(""),
    ...(has("delete")
      ? { delete: op("delete", "", { action: "delete", parameters: DELETE, body: names.options, answer: names.status }) }
      : {}),
  });
  if (type.subresources.status) withParameters(`${collection}/{name}/status`, single("status"));
  if (type.subresources.scale) withParameters(`${collection}/{name}/scale`, single("scale"));
}

const STATUS_SCHEMA: Document = {
  type: "object",
  properties: {
    apiVersion: { type: "string" },
    code: { type: "integer", format: "int32" },
    details: { type: "object" },
    kind: { type: "string" },
    message: { type: "string" },
    metadata: { type: "object" },
    reason: { type: "string" },
    status: { type: "string" },
  },
  "x-kubernetes-group-version-kind": [{ group: "", kind: "Status", version: "v1" }],
};
const STATUS_NAME = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
const PATCH_NAME = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";

function addList(definitions: Definitions, dialect: Dialect, type: ResourceType, object: string): string {
  const name = `${object.slice(0, object.lastIndexOf(".") + 1)}${type.listKind}`;
  const items = { $ref: `${dialect === "v2" ? "#/definitions/" : "#/components/schemas/"}${object}` };
  (definitions.schemas as Document)[name] = {
    type: "object",
    required: ["items"],
    properties: {
      apiVersion: { type: "string" },
      items: { type: "array", items },
      kind: { type: "string" },
      metadata: { type: "object" },
    },
    "x-kubernetes-group-version-kind": [{ group: type.group, kind: type.listKind, version: type.version }],
  };
  return name;
}

function pathsAndSchemas(types: readonly ResourceType[], dialect: Dialect): { paths: Document; schemas: Document } {
  const definitions = createDefinitions(dialect);
  const schemas = definitions.schemas as Document;
  schemas[STATUS_NAME] = STATUS_SCHEMA;
  schemas[PATCH_NAME] = { type: "object", description: "The change, in the form that the media type names." };
  const options = definitions.addMeta("DeleteOptions");
  const paths: Document = {};
  for (const type of types) {
    const object = definitions.add(type);
    const list = type.virtual ? object : addList(definitions, dialect, type, object);
    addPaths(paths, dialect, type, { object, list, status: STATUS_NAME, options, patch: PATCH_NAME });
  }
  return { paths: sorted(paths), schemas: sorted(schemas) };
}

const sorted = (document: Document): Document => Object.fromEntries(Object.entries(document).sort(([a], [b]) => (a < b ? -1 : 1)));

const info = (version: string): Document => ({ title: "Kubernetes", version });

/** The document of one group and version. @param types its kinds */
export function openApiV3(types: readonly ResourceType[], serverVersion: string): object {
  const { paths, schemas } = pathsAndSchemas(types, "v3");
  return {
    openapi: "3.0.0",
    info: info(serverVersion),
    paths,
    components: { schemas, securitySchemes: { BearerToken: { type: "apiKey", name: "authorization", in: "header" } } },
  };
}

/** One document of everything. */
export function openApiV2(types: readonly ResourceType[], serverVersion: string): object {
  const { paths, schemas } = pathsAndSchemas(types, "v2");
  return { swagger: "2.0", info: info(serverVersion), paths, definitions: schemas };
}

/** `api/v1`, `apis/apps/v1`: how the index names a group and version. */
export const documentKey = (type: ResourceType): string =>
  type.group === "" ? `api/${apiVersionOfType(type)}` : `apis/${apiVersionOfType(type)}`;
