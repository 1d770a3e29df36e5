// KubeadmConfigSpec: how one machine is set up. Shared by KubeadmConfig, its template, KubeadmControlPlane and its template.
// Source: spec/api/kubeadmconfig.md section 2.
import { clusterConfiguration } from "./kubeadm-cluster-configuration.ts";
import { initConfiguration, joinConfiguration } from "./kubeadm-node-configuration.ts";
import { boolean, int32, list, must, object, oneOf, plainList, rules, someOf, text, type TypeOf } from "./shape.ts";

const secretKey = (what: string) =>
  object(
    {
      secret: must(
        object(
          { name: must(text(1, 253, "Name of the Secret, in the same namespace.")), key: must(text(1, 256, "Key in the Secret.")) },
          "The Secret.",
        ),
      ),
    },
    `Where ${what} comes from instead.`,
  );

const bootFile = object(
  {
    path: must(text(1, 512, "Path on the machine, unique in the list.")),
    owner: text(1, 256, "Owner, such as `root:root`."),
    permissions: text(1, 16, "Permissions in octal, such as `0640`."),
    encoding: oneOf(["base64", "gzip", "gzip+base64"], "How the content is encoded; unset: not at all."),
    append: boolean("Append to the file if it exists."),
    content: text(1, 10240, "Content of the file; not together with contentFrom."),
    contentFormat: oneOf(["Raw", "Template"], "Template: the content is rendered first. Unset means Raw."),
    contentFrom: secretKey("the content"),
  },
  "One file.",
);
export type BootFile = TypeOf<typeof bootFile>;

const user = object(
  {
    name: must(text(1, 256, "Name of the user.")),
    gecos: text(1, 256, "Full name and the like."),
    groups: text(1, 256, "Further groups, separated by commas."),
    homeDir: text(1, 256, "Home directory."),
    inactive: boolean("Whether the user is disabled."),
    shell: text(1, 256, "Login shell."),
    passwd: text(1, 256, "Hash of the password; not together with passwdFrom."),
    passwdFrom: secretKey("the hash of the password"),
    primaryGroup: text(1, 256, "Primary group."),
    lockPassword: boolean("Whether login with the password is off."),
    sudo: text(1, 256, "Rule for sudo."),
    sshAuthorizedKeys: list(text(1, 2048, "Public key."), { max: 100 }, "Keys that may log in."),
  },
  "One user.",
);

const PARTITION_TYPE =
  "self in ['Linux', 'LinuxSwap', 'LinuxRAID', 'LVM', 'Fat32', 'NTFS', 'LinuxExtended'] || " +
  "self.matches('^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$')";

const partition = object(
  {
    device: must(text(1, 256, "Device to partition.")),
    layout: boolean("true: one partition over the whole device."),
    diskLayout: list(
      object(
        {
          percentage: must(int32("Share of the device, in percent.", { minimum: 1, maximum: 100 })),
          partitionType: text(
            1,
            36,
            "Kind of partition, by name or as a GUID.",
            rules({ rule: PARTITION_TYPE, message: "must be Linux, LinuxSwap, LinuxRAID, LVM, Fat32, NTFS, LinuxExtended or a GUID" }),
          ),
        },
        "One partition.",
      ),
      { min: 1, max: 100 },
      "Partitions in order; all shares together at most 100.",
    ),
    overwrite: boolean("Whether existing partitions are overwritten."),
    tableType: oneOf(["mbr", "gpt"], "Kind of partition table; unset means mbr."),
  },
  "Partitions of one device.",
  rules({ rule: "has(self.layout) != has(self.diskLayout)", message: "exactly one of layout and diskLayout must be set" }),
);

const filesystem = object(
  {
    device: must(text(1, 256, "Device or partition.")),
    filesystem: must(text(1, 128, "Kind of file system.")),
    label: text(1, 512, "Label of the file system."),
    partition: text(1, 128, "Partition to use."),
    overwrite: boolean("Whether an existing file system is overwritten."),
    replaceFS: text(1, 128, "Kind of file system that may be replaced."),
    extraOpts: list(text(1, 256, "Option."), { max: 100 }, "Options of the command that makes the file system."),
  },
  "One file system.",
);

const commands = (when: string) => list(text(1, 10240, "Shell command."), { min: 1, max: 1000 }, `Commands to run ${when}.`);

export const kubeadmConfigSpec = someOf(
  {
    clusterConfiguration,
    initConfiguration,
    joinConfiguration,
    files: list(bootFile, { min: 1, max: 200 }, "Files to write."),
    diskSetup: someOf(
      {
        partitions: list(partition, { max: 100 }, "Partitions to make."),
        filesystems: list(filesystem, { max: 100 }, "File systems to make."),
      },
      "Disks to prepare.",
    ),
    mounts: list(
      plainList(text(1, 512, "Field of the mount."), { min: 1, max: 100 }, "One mount, field by field."),
      { min: 1, max: 100 },
      "File systems to mount.",
    ),
    bootCommands: commands("early in each boot"),
    preKubeadmCommands: commands("before kubeadm"),
    postKubeadmCommands: commands("after kubeadm"),
    users: list(user, { min: 1, max: 100 }, "Users to add."),
    ntp: someOf(
      {
        servers: list(text(1, 512, "Name or address."), { max: 100 }, "Time servers."),
        enabled: boolean("Whether time is synchronised."),
      },
      "Time synchronisation.",
    ),
    format: oneOf(["cloud-config", "ignition"], "Format of the bootstrap data; unset means cloud-config."),
    verbosity: int32("How much kubeadm logs."),
    ignition: someOf(
      {
        containerLinuxConfig: someOf(
          {
            additionalConfig: text(1, 32768, "Further configuration, merged into the generated one."),
            strict: boolean("Whether warnings are errors."),
          },
          "Settings of the Container Linux configuration.",
        ),
      },
      "Settings for the format ignition. Needs the gate KubeadmBootstrapFormatIgnition.",
    ),
  },
  "How the machine is set up.",
);
export type KubeadmConfigSpec = TypeOf<typeof kubeadmConfigSpec>;
