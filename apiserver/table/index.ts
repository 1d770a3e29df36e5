// Tables, as kubectl get asks for them. Here: the Table object of any kind. Not here: columns of built-in kinds (builtin.ts),
// JSON paths of custom columns (jsonpath.ts), who asks (../requests).
// Source: Kubernetes API, meta.k8s.io/v1 Table.
import type { Json } from "../../api/meta/object.ts";
import type { ApiObject } from "../object.ts";
import type { PrinterColumn, ResourceType } from "../registry.ts";
import { CREATED, NAME } from "./columns.ts";
import { customColumns } from "./custom.ts";

interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

interface TableRow {
  readonly cells: readonly Json[];
  readonly object: object | null;
}

export interface Table {
  readonly kind: "Table";
  readonly apiVersion: "meta.k8s.io/v1";
  readonly metadata: object;
  readonly columnDefinitions: readonly TableColumn[];
  readonly rows: readonly TableRow[];
}

export interface TableOptions {
  /** What each row carries beside its cells. Default `Metadata`. */
  readonly includeObject?: "None" | "Metadata" | "Object";
  readonly nowMs: number;
}

const columnsOf = (type: ResourceType): readonly PrinterColumn[] =>
  type.columns ?? (type.custom ? customColumns(undefined) : [NAME, CREATED]);

const definition = (c: PrinterColumn): TableColumn => ({
  name: c.name,
  type: c.type,
  format: c.format ?? "",
  description: c.description ?? `${c.name} of the object.`,
  priority: c.priority ?? 0,
});

function rowObject(object: ApiObject, include: TableOptions["includeObject"]): object | null {
  if (include === "None") return null;
  if (include === "Object") return object;
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}

/** @param metadata of the list, or resourceVersion alone for one object */
export function tableOf(type: ResourceType, objects: readonly ApiObject[], metadata: object, options: TableOptions): Table {
  const columns = columnsOf(type);
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: columns.map(definition),
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.cell(object, options.nowMs)),
      object: rowObject(object, options.includeObject),
    })),
  };
}
