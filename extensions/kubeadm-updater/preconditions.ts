// What must hold before the first write to a machine. Here: small checks, the first hit decides. Reads only.
// Source: spec/runtime/kubeadm-updater.md section 4.
import type { ClusterAccess, NodeFacts } from "./cluster.ts";
import type { NodeExec } from "./host.ts";
import { kubeletVersion, type Needs } from "./steps.ts";
import { versionIsReachable } from "./rules.ts";
import type { Target } from "./target.ts";
import { compareVersions, parseVersion } from "./version.ts";

export interface Precondition {
  readonly host: NodeExec;
  readonly cluster: ClusterAccess;
  readonly target: Target;
  readonly node: NodeFacts | undefined;
  readonly needs: Needs;
}

/** `wait`: asked again after `seconds`; `fail`: for a person. Texts are from this file only: no names, times or numbers. */
export type Verdict =
  | { readonly kind: "wait"; readonly seconds: number; readonly text: string }
  | { readonly kind: "fail"; readonly text: string };

type Check = (p: Precondition) => Promise<Verdict | undefined> | Verdict | undefined;
const wait = (seconds: number, text: string): Verdict => ({ kind: "wait", seconds, text });
const fail = (text: string): Verdict => ({ kind: "fail", text });

const CHECKS: readonly Check[] = [
  ({ node }) => (node ? undefined : wait(15, "waiting: node object")),
  async ({ host, target, needs }) => {
    if (!needs.version) return undefined;
    const current = parseVersion(await kubeletVersion(host));
    return versionIsReachable(current, parseVersion(target.version))
      ? undefined
      : fail("version step is not supported: at most one minor up, never down");
  },
  async ({ cluster, target, needs }) => {
    if (!needs.version || !target.controlPlane) return undefined;
    return (await cluster.kubeadmConfigVersion()) === target.version ? undefined : wait(15, "waiting: kubeadm-config at the new version");
  },
  async ({ cluster, target, needs }) => {
    if (!needs.version || target.controlPlane) return undefined;
    const wanted = parseVersion(target.version);
    const older = (await cluster.apiServerVersions()).some((v) => {
      const version = parseVersion(v);
      return version && wanted && compareVersions(version, wanted) < 0;
    });
    return older ? wait(30, "waiting: API servers older than the kubelet would be") : undefined;
  },
];

export async function firstVerdict(p: Precondition): Promise<Verdict | undefined> {
  for (const check of CHECKS) {
    const verdict = await check(p);
    if (verdict) return verdict;
  }
  return undefined;
}
