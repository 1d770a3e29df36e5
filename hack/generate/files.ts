// Generated files: compare with the disk or write. Not here: what is in them.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface GeneratedFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
};

/** Files of the generated folders that nothing generates any more. */
function leftOvers(root: string, files: readonly GeneratedFile[]): readonly string[] {
  const wanted = new Set(files.map((f) => f.path));
  const folders = [...new Set(files.map((f) => dirname(f.path)))].sort();
  return folders.flatMap((folder) => {
    try {
      return readdirSync(join(root, folder), { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => `${folder}/${entry.name}`)
        .filter((path) => !wanted.has(path))
        .sort();
    } catch {
      return [];
    }
  });
}

/** @returns what differs, one line per file; empty when the disk is as generated */
export function drift(root: string, files: readonly GeneratedFile[]): readonly string[] {
  const changed = files.flatMap(({ path, text }) => {
    const found = read(join(root, path));
    if (found === text) return [];
    return [found === undefined ? `${path}: missing` : `${path}: differs`];
  });
  return [...changed, ...leftOvers(root, files).map((path) => `${path}: not generated any more`)];
}

export function write(root: string, files: readonly GeneratedFile[]): void {
  for (const path of leftOvers(root, files)) rmSync(join(root, path));
  for (const { path, text } of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
