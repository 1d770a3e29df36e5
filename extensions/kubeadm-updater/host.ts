// NodeExec: what the updater may do on a machine. Here: the seam. Not here: adapters (ssh and container in real/, simulated in the simulator).
// Source: spec/runtime/kubeadm-updater.md section 2.

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  /** For the log and the journal only: it never reaches a condition. */
  readonly stderr: string;
}

export interface FileAttributes {
  /** `user:group`. */
  readonly owner: string;
  /** Octal text such as `0644`. */
  readonly permissions: string;
}

export interface NodeExec {
  /** Runs one command to its end; a command that cannot be started rejects. */
  run(command: readonly string[], stdin?: string): Promise<CommandResult>;
  /** Text of a file; undefined when it is absent. */
  read(path: string): Promise<string | undefined>;
  attributes(path: string): Promise<FileAttributes | undefined>;
  /** Whole or not at all: written beside, synced, renamed. Parents are made with 0755. */
  write(path: string, content: string, attributes: FileAttributes): Promise<void>;
  /** Puts kubeadm, kubelet and kubectl of a version under `/opt/inplace/<version>/bin`. May take long; repeating it is harmless. */
  stageBinaries(version: string): Promise<void>;
  /** Changes at each boot. */
  bootId(): Promise<string>;
  close(): void;
}

export interface HostTarget {
  readonly namespace: string;
  readonly name: string;
  readonly clusterName: string;
  readonly providerId: string;
}

/** @throws HostUnreachable */
export type OpenHost = (target: HostTarget) => Promise<NodeExec>;

export class HostUnreachable extends Error {
  readonly code = "HostUnreachable";
}
