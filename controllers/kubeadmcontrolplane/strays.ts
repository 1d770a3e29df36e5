// etcd members that belong to no Machine, left by machines that failed while joining or went without us. Here: pure plan.
// Source: spec/controllers/kubeadmcontrolplane.md 13.4.
import type { Machine } from "../../api/machine.ts";
import type { EtcdAlarm, EtcdMember } from "../workload/seam.ts";
import { compareText, nodeNameOf } from "./machines.ts";
import { etcdStays } from "./targets.ts";

export interface StraysInput {
  readonly machines: readonly Machine[];
  readonly members: readonly EtcdMember[];
  readonly alarms: readonly EtcdAlarm[];
  /** EtcdClusterHealthy is True. */
  readonly etcdHealthy: boolean;
}

export type StrayStep =
  | { readonly do: "nothing"; readonly because?: string }
  | { readonly do: "remove"; readonly member: EtcdMember }
  | { readonly do: "fail"; readonly because: string };

export function planStrays({ machines, members, alarms, etcdHealthy }: StraysInput): StrayStep {
  if (machines.length === 0 || members.length === 0 || etcdHealthy) return { do: "nothing" };
  const known = new Set(machines.map(nodeNameOf));
  const strays = members.filter((m) => m.name === "" || !known.has(m.name));
  const [stray] = [...strays].sort((a, b) => compareText(a.name, b.name) || compareText(a.id, b.id));
  if (!stray) return { do: "nothing" };
  const label = stray.name === "" ? stray.id : stray.name;
  if (known.has(undefined)) return { do: "nothing", because: `etcd member ${label} may belong to a Machine that has no Node yet` };
  if (stray.name === "") return { do: "remove", member: stray };
  const verdict = etcdStays({ members, alarms, machines, without: stray.name, added: 0 });
  if (verdict.safe) return { do: "remove", member: stray };
  return { do: "fail", because: `etcd member ${label} belongs to no Machine and cannot be removed: ${verdict.because}` };
}
