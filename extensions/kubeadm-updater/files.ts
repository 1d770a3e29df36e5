// Files of a KubeadmConfig on a host. Here: what content a file shall have, whether it has it. Source: spec/runtime/kubeadm-updater.md section 6.
import type { NodeExec } from "./host.ts";
import type { Journal } from "./journal.ts";
import type { FileEntry } from "./rules.ts";

export interface WantedFile {
  readonly path: string;
  readonly content: string;
  readonly owner: string;
  readonly permissions: string;
}

function decode(file: FileEntry): string {
  const text = file.content ?? "";
  if (file.encoding !== "base64") return text;
  return new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
}

/** Appended text goes behind the file as it was before any update touched it. */
async function original(host: NodeExec, journal: Journal | undefined, path: string): Promise<string> {
  const saved = journal?.originals[path];
  if (saved !== undefined) return saved ?? "";
  return (await host.read(path)) ?? "";
}

export async function wantedFile(host: NodeExec, journal: Journal | undefined, file: FileEntry): Promise<WantedFile> {
  const content = file.append ? (await original(host, journal, file.path)) + decode(file) : decode(file);
  return { path: file.path, content, owner: file.owner ?? "root:root", permissions: file.permissions ?? "0644" };
}

export async function fileIsThere(host: NodeExec, wanted: WantedFile): Promise<boolean> {
  if ((await host.read(wanted.path)) !== wanted.content) return false;
  const is = await host.attributes(wanted.path);
  return is?.owner === wanted.owner && is.permissions === wanted.permissions;
}

/** Files taken from Secrets and compressed ones are written at first boot only: they are never covered, so they are left alone. */
export const writable = (files: readonly FileEntry[]): readonly FileEntry[] =>
  files.filter((f) => f.contentFrom === undefined && (f.encoding === undefined || f.encoding === "" || f.encoding === "base64"));
