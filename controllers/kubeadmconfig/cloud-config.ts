// Bootstrap data as cloud-config. Here: one pure function from parts to text. Not here: where the parts come from (data.ts).
// Source: spec/controllers/kubeadmconfig.md section 7; cloud-init's documented modules.
import { stringify } from "yaml";
import type { KubeadmConfigSpec } from "../../api/kubeadm-config-spec.ts";

/** A file whose content is at hand. */
export interface DataFile {
  readonly path: string;
  readonly content: string;
  readonly owner?: string;
  readonly permissions?: string;
  readonly encoding?: string;
  readonly append?: boolean;
}

/** A user whose password hash is at hand. */
export type DataUser = Omit<NonNullable<KubeadmConfigSpec["users"]>[number], "passwdFrom">;

export interface BootstrapParts {
  readonly mode: "init" | "join";
  /** In writing order; without kubeadm's own document. */
  readonly files: readonly DataFile[];
  /** YAML for kubeadm. */
  readonly kubeadmDocument: string;
  readonly users: readonly DataUser[];
  readonly spec: Omit<KubeadmConfigSpec, "files" | "users">;
}

export const KUBEADM_PATHS = { init: "/run/kubeadm/kubeadm.yaml", join: "/run/kubeadm/kubeadm-join-config.yaml" } as const;
const SUCCESS_FILE = "/run/cluster-api/bootstrap-success.complete";

const HEADER = "## template: jinja\n#cloud-config\n";

/** The command that a machine runs, with its marker on success. */
export const kubeadmCommand = (mode: "init" | "join", verbosity: number | undefined): string =>
  `kubeadm ${mode} --config ${KUBEADM_PATHS[mode]}${verbosity === undefined ? "" : ` --v ${verbosity}`} && echo success > ${SUCCESS_FILE}`;

export function cloudConfig({ mode, files, kubeadmDocument, users, spec }: BootstrapParts): string {
  const kubeadmFile: DataFile = { path: KUBEADM_PATHS[mode], owner: "root:root", permissions: "0640", content: kubeadmDocument };
  const placeholder: DataFile = {
    path: "/run/cluster-api/placeholder",
    owner: "root:root",
    permissions: "0640",
    content:
      "This placeholder file is used to create the /run/cluster-api sub directory in a way that is compatible with both Linux and Windows (mkdir -p /run/cluster-api does not work with Windows)",
  };
  const sections: Readonly<Record<string, unknown>> = {
    write_files: [...files, kubeadmFile, placeholder].map(writeFile),
    bootcmd: spec.bootCommands,
    runcmd: [...(spec.preKubeadmCommands ?? []), kubeadmCommand(mode, spec.verbosity), ...(spec.postKubeadmCommands ?? [])],
    ntp: spec.ntp && withoutAbsent({ enabled: spec.ntp.enabled, servers: spec.ntp.servers }),
    users: users.length === 0 ? undefined : users.map(user),
    disk_setup: spec.diskSetup?.partitions && Object.fromEntries(spec.diskSetup.partitions.map(partition)),
    fs_setup: spec.diskSetup?.filesystems?.map(filesystem),
    mounts: spec.mounts,
  };
  return `${HEADER}\n${stringify(withoutAbsent(sections), { lineWidth: 0 })}`;
}

function withoutAbsent(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const writeFile = (f: DataFile): object =>
  withoutAbsent({ path: f.path, encoding: f.encoding, owner: f.owner, permissions: f.permissions, append: f.append, content: f.content });

const user = (u: DataUser): object =>
  withoutAbsent({
    name: u.name,
    passwd: u.passwd,
    gecos: u.gecos,
    groups: u.groups,
    homedir: u.homeDir,
    inactive: u.inactive,
    lock_passwd: u.lockPassword,
    shell: u.shell,
    ssh_authorized_keys: u.sshAuthorizedKeys,
    primary_group: u.primaryGroup,
    sudo: u.sudo,
  });

type DiskSetup = NonNullable<KubeadmConfigSpec["diskSetup"]>;
type Partition = NonNullable<DiskSetup["partitions"]>[number];
type Filesystem = NonNullable<DiskSetup["filesystems"]>[number];

const PARTITION_TYPES: Readonly<Record<string, string>> = {
  Linux: "83",
  LinuxSwap: "82",
  LinuxRAID: "fd",
  LVM: "8e",
  Fat32: "0c",
  NTFS: "07",
  LinuxExtended: "85",
};

const partition = (p: Partition): readonly [string, object] => [
  p.device,
  withoutAbsent({
    table_type: p.tableType,
    layout: p.diskLayout
      ? p.diskLayout.map((part) =>
          part.partitionType === undefined ? part.percentage : [part.percentage, PARTITION_TYPES[part.partitionType] ?? part.partitionType],
        )
      : p.layout,
    overwrite: p.overwrite,
  }),
];

const filesystem = (f: Filesystem): object =>
  withoutAbsent({
    label: f.label,
    filesystem: f.filesystem,
    device: f.device,
    partition: f.partition,
    overwrite: f.overwrite,
    replace_fs: f.replaceFS,
    extra_opts: f.extraOpts,
  });
