// What a machine does with its bootstrap data at first boot. Here: cloud-config to files and kubeadm documents, pure.
// Not here: the host that keeps them (host.ts). Source: cloud-init's write_files module; spec/controllers/kubeadmconfig.md.
import { parse, parseAllDocuments } from "yaml";

export interface HostFile {
  readonly content: string;
  readonly owner: string;
  /** Octal text such as `0644`. */
  readonly permissions: string;
}

export interface BootstrapContent {
  readonly files: Readonly<Record<string, HostFile>>;
  readonly commands: readonly string[];
  /** YAML of kubeadm's ClusterConfiguration, when this data initializes a cluster. */
  readonly clusterConfiguration?: string;
}

interface WriteFile {
  readonly path: string;
  readonly content?: string;
  readonly encoding?: string;
  readonly owner?: string;
  readonly permissions?: string | number;
  readonly append?: boolean;
}

const KUBEADM_INIT_FILE = "/run/kubeadm/kubeadm.yaml";

function decodeContent(file: WriteFile): string {
  const raw = file.content ?? "";
  const encoding = file.encoding ?? "";
  if (encoding === "" || encoding === "text/plain") return raw;
  if (["b64", "base64"].includes(encoding)) return new TextDecoder().decode(Uint8Array.from(atob(raw), (c) => c.charCodeAt(0)));
  // Compressed content stays as it is: what the host is asked for is whether the file is there and unchanged.
  return raw;
}

function clusterConfigurationIn(text: string): string | undefined {
  const found = parseAllDocuments(text)
    .map((d) => ("toJS" in d ? { text: String(d), value: d.toJS() as { kind?: string } | null } : undefined))
    .find((d) => d?.value?.kind === "ClusterConfiguration");
  return found?.text;
}

/** @throws Error when the text is no YAML map */
export function readCloudConfig(text: string): BootstrapContent {
  const document = parse(text) as { write_files?: readonly WriteFile[]; runcmd?: readonly (string | readonly string[])[] } | null;
  if (typeof document !== "object" || document === null) throw new Error("bootstrap data is no cloud-config: a YAML map was expected");
  const files: Record<string, HostFile> = {};
  for (const file of document.write_files ?? []) {
    const content = decodeContent(file);
    files[file.path] = {
      content: file.append ? (files[file.path]?.content ?? "") + content : content,
      owner: file.owner ?? "root:root",
      permissions: String(file.permissions ?? "0644"),
    };
  }
  const commands = (document.runcmd ?? []).map((c) => (typeof c === "string" ? c : c.join(" ")));
  const init = files[KUBEADM_INIT_FILE];
  const clusterConfiguration = init ? clusterConfigurationIn(init.content) : undefined;
  return { files, commands, ...(clusterConfiguration ? { clusterConfiguration } : {}) };
}
