// Columns of custom resources, from additionalPrinterColumns of their CRD. Here: cells by JSON path.
// Source: apiextensions.k8s.io/v1 CustomResourceColumnDefinition and answers of a kube-apiserver.
import type { Json } from "../../api/meta/object.ts";
import type { ApiObject } from "../object.ts";
import type { PrinterColumn } from "../registry.ts";
import { age } from "./age.ts";
import { AGE, NAME } from "./columns.ts";
import { compilePath, type PathQuery } from "./jsonpath.ts";

export interface CrdColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

const DATED: PrinterColumn = { ...AGE, type: "date" };

const TYPES: ReadonlySet<string> = new Set(["string", "integer", "number", "boolean", "date"]);

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function cellOf(type: string, found: readonly unknown[], nowMs: number): Json {
  const [first] = found;
  if (first === undefined || first === null) return null;
  switch (type) {
    case "integer":
      return typeof first === "number" ? Math.trunc(first) : null;
    case "number":
      return typeof first === "number" ? first : null;
    case "boolean":
      return typeof first === "boolean" ? first : null;
    case "date":
      return typeof first === "string" ? age(first, nowMs) : null;
    default:
      return found.length === 1 ? text(first) : found.map(text).join(" ");
  }
}

/** A path that cannot be read shows nothing rather than breaking every list of the kind. */
function queryOf(path: string): PathQuery {
  try {
    return compilePath(path);
  } catch {
    return () => [];
  }
}

/** Name, then the columns of the CRD; name and age when it has none. */
export function customColumns(columns: readonly CrdColumn[] | undefined): readonly PrinterColumn[] {
  if (columns === undefined || columns.length === 0) return [NAME, DATED];
  return [
    NAME,
    ...columns.map((column): PrinterColumn => {
      const query = queryOf(column.jsonPath);
      const type = (TYPES.has(column.type) ? column.type : "string") as PrinterColumn["type"];
      return {
        name: column.name,
        type,
        ...(column.format === undefined ? {} : { format: column.format }),
        description: column.description ?? `Custom resource definition column (in JSONPath format): ${column.jsonPath}`,
        priority: column.priority ?? 0,
        cell: (object: ApiObject, nowMs: number) => cellOf(type, query(object), nowMs),
      };
    }),
  ];
}
