// CustomResourceDefinitions from directories. Here: finding and reading files. Not here: serving what they say (../crd).
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { CORE_SCHEMA, loadAll } from "js-yaml";
import { CRD } from "../crd/definition.ts";
import type { ApiObject } from "../object.ts";

const FILES: ReadonlySet<string> = new Set([".yaml", ".yml", ".json"]);

const isCrd = (value: unknown): value is ApiObject => (value as { kind?: unknown } | null)?.kind === CRD.kind;

function documentsOf(file: string): readonly unknown[] {
  const text = readFileSync(file, "utf8");
  if (extname(file) === ".json") return [JSON.parse(text)];
  // Not the package that decodes requests: this one is five times as fast, which is most of a start with many CRDs.
  return loadAll(text, { schema: CORE_SCHEMA, filename: file });
}

/** CRDs of all YAML and JSON files right in those directories, by file name; other kinds are left out. Throws for a file that is broken. */
export function readCrds(directories: readonly string[]): readonly ApiObject[] {
  return directories.flatMap((directory) => {
    const names = readdirSync(directory)
      .filter((name) => FILES.has(extname(name)))
      .sort();
    return names.flatMap((name) => {
      const file = join(directory, name);
      try {
        return documentsOf(file).filter(isCrd);
      } catch (error) {
        throw new Error(`cannot read ${file}: ${(error as Error).message}`);
      }
    });
  });
}
