// Bootstrap data as an Ignition config (spec 2.3.0). Here: one pure function from parts to JSON text. Not here: where the parts come from (data.ts).
// Source: spec/controllers/kubeadmconfig.md section 7; the Ignition configuration specification v2.3.0. Gate KubeadmBootstrapFormatIgnition.
import { parse } from "yaml";
import { toBase64 } from "../workload/secrets.ts";
import { type BootstrapParts, type DataFile, type DataUser, kubeadmCommand, KUBEADM_PATHS } from "./cloud-config.ts";
import { BootstrapInputInvalid } from "./errors.ts";

const SCRIPT_PATH = "/etc/kubeadm.sh";
/** Files under /run would be gone: Ignition writes before the machine boots its system. */
const DOCUMENT_PATH = "/etc/kubeadm.yml";
const UNIT = `[Unit]
Description=kubeadm
# Runs once: the script moves the file away when it has succeeded.
ConditionPathExists=${DOCUMENT_PATH}
After=network.target
[Service]
Type=oneshot
ExecStart=${SCRIPT_PATH}
[Install]
WantedBy=multi-user.target
`;

interface IgnitionFile {
  readonly filesystem: string;
  readonly path: string;
  readonly append?: boolean;
  readonly mode?: number;
  readonly user?: object;
  readonly group?: object;
  readonly contents: { readonly source: string; readonly verification: object };
}

/** @throws BootstrapInputInvalid for what Ignition cannot say */
export function ignitionConfig(parts: BootstrapParts): string {
  const { files, users, spec, kubeadmDocument } = parts;
  const own: readonly DataFile[] = [
    { path: DOCUMENT_PATH, content: kubeadmDocument, permissions: "0600" },
    { path: SCRIPT_PATH, content: script(parts), permissions: "0700" },
  ];
  const additional = additionalConfig(spec.ignition?.containerLinuxConfig?.additionalConfig);
  const ntp = spec.ntp?.enabled ? [ntpFile(spec.ntp.servers ?? [])] : [];
  return JSON.stringify({
    ignition: { version: "2.3.0" },
    ...(users.length > 0 || additional.users.length > 0 ? { passwd: { users: [...users.map(ignitionUser), ...additional.users] } } : {}),
    storage: { ...disks(spec.diskSetup), files: [...[...files, ...own, ...ntp].map(ignitionFile), ...additional.files] },
    systemd: {
      units: [
        { name: "kubeadm.service", enabled: true, contents: UNIT },
        ...(spec.ntp?.enabled ? [{ name: "systemd-timesyncd.service", enabled: true }] : []),
        ...(spec.mounts ?? []).map(mountUnit),
        ...additional.units,
      ],
    },
  });
}

function script({ mode, spec }: BootstrapParts): string {
  const command = kubeadmCommand(mode, spec.verbosity).replace(KUBEADM_PATHS[mode], DOCUMENT_PATH);
  const [kubeadm, marker] = command.split(" && ");
  return [
    "#!/bin/bash",
    "set -e",
    ...(spec.preKubeadmCommands ?? []),
    "",
    kubeadm,
    `mkdir -p /run/cluster-api && ${marker}`,
    `mv ${DOCUMENT_PATH} /tmp/`,
    ...(spec.postKubeadmCommands ?? []),
    "",
  ].join("\n");
}

const dataUrl = (file: DataFile): string => {
  if (file.encoding === undefined) return `data:;base64,${toBase64(file.content)}`;
  if (file.encoding === "base64") return `data:;base64,${file.content.replace(/\s/g, "")}`;
  throw new BootstrapInputInvalid(`file ${file.path} is encoded as ${file.encoding}: with the format ignition only base64 is possible`);
};

function ignitionFile(file: DataFile): IgnitionFile {
  const [user, group] = (file.owner ?? "").split(":");
  return {
    filesystem: "root",
    path: file.path,
    ...(file.append ? { append: true } : {}),
    ...(file.permissions ? { mode: Number.parseInt(file.permissions, 8) } : {}),
    ...(user ? { user: { name: user } } : {}),
    ...(group ? { group: { name: group } } : {}),
    contents: { source: dataUrl(file), verification: {} },
  };
}

function ignitionUser(user: DataUser): object {
  return {
    name: user.name,
    ...(user.gecos ? { gecos: user.gecos } : {}),
    ...(user.groups ? { groups: user.groups.split(",").map((group) => group.trim()) } : {}),
    ...(user.homeDir ? { homeDir: user.homeDir } : {}),
    ...(user.shell ? { shell: user.shell } : {}),
    ...(user.passwd ? { passwordHash: user.passwd } : {}),
    ...(user.primaryGroup ? { primaryGroup: user.primaryGroup } : {}),
    ...(user.sshAuthorizedKeys ? { sshAuthorizedKeys: user.sshAuthorizedKeys } : {}),
  };
}

const ntpFile = (servers: readonly string[]): DataFile => ({
  path: "/etc/systemd/timesyncd.conf",
  permissions: "0644",
  content: `[Time]\nNTP=${servers.join(" ")}\n`,
});

/** `/var/lib/x` becomes `var-lib-x.mount`, as systemd escapes paths. */
const unitName = (path: string): string =>
  `${path
    .replace(/^\/+|\/+$/g, "")
    .replace(/[^A-Za-z0-9:_./]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`)
    .replaceAll("/", "-")}.mount`;

function mountUnit(mount: readonly string[]): object {
  const [label = "", where = "", type, options] = mount;
  const what = label.startsWith("/") ? label : `/dev/disk/by-label/${label}`;
  const lines = [
    "[Unit]",
    `Description = Mount ${label}`,
    "[Mount]",
    `What=${what}`,
    `Where=${where}`,
    ...(type && type !== "auto" ? [`Type=${type}`] : []),
    ...(options ? [`Options=${options}`] : []),
    "[Install]",
    "WantedBy=multi-user.target",
    "",
  ];
  return { name: unitName(where), enabled: true, contents: lines.join("\n") };
}

type DiskSetup = BootstrapParts["spec"]["diskSetup"];

function disks(setup: DiskSetup): object {
  const all = (setup?.partitions ?? []).map((p) => ({
    device: p.device,
    ...(p.overwrite ? { wipeTable: true } : {}),
    ...(p.layout ? { partitions: [{}] } : {}),
  }));
  const filesystems = (setup?.filesystems ?? []).map((f) => ({
    name: f.label ?? f.device,
    mount: {
      device: f.device,
      format: f.filesystem,
      ...(f.label ? { label: f.label } : {}),
      ...(f.overwrite ? { wipeFilesystem: true } : {}),
      ...(f.extraOpts?.length ? { options: f.extraOpts } : {}),
    },
  }));
  const layout = setup?.partitions?.find((p) => p.diskLayout);
  if (layout) throw new BootstrapInputInvalid(`disk ${layout.device} has a diskLayout: with the format ignition only layout is possible`);
  return { ...(all.length > 0 ? { disks: all } : {}), ...(filesystems.length > 0 ? { filesystems } : {}) };
}

interface Additional {
  readonly units: readonly object[];
  readonly files: readonly object[];
  readonly users: readonly object[];
}

/** Parts of a Container Linux Config that mean the same in Ignition: units, files with inline contents, users. */
function additionalConfig(text: string | undefined): Additional {
  const config = (text === undefined ? {} : parse(text)) as Readonly<Record<string, Readonly<Record<string, unknown>>>> | null;
  const known: Readonly<Record<string, readonly string[]>> = { systemd: ["units"], storage: ["files"], passwd: ["users"] };
  for (const [section, content] of Object.entries(config ?? {})) {
    for (const key of Object.keys(content ?? {})) {
      if (!known[section]?.includes(key)) {
        throw new BootstrapInputInvalid(
          `ignition.containerLinuxConfig.additionalConfig uses ${section}.${key}: only systemd.units, storage.files and passwd.users are possible`,
        );
      }
    }
  }
  const list = (section: string, key: string): readonly Readonly<Record<string, unknown>>[] =>
    (config?.[section]?.[key] ?? []) as readonly Readonly<Record<string, unknown>>[];
  return { units: list("systemd", "units"), files: list("storage", "files").map(additionalFile), users: list("passwd", "users") };
}

function additionalFile(file: Readonly<Record<string, unknown>>): object {
  const inline = (file.contents as { readonly inline?: unknown } | undefined)?.inline;
  if (typeof inline !== "string") throw new BootstrapInputInvalid(`additionalConfig: file ${String(file.path)} needs contents.inline`);
  return { filesystem: "root", ...file, contents: { source: `data:;base64,${toBase64(inline)}`, verification: {} } };
}
