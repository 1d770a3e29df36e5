// How the update extension of a scenario behaves: what it covers, how long it takes, how often it fails first.
// Here: a wrapper of the hook transport. Not here: the updater behind it (extensions/kubeadm-updater), faults of the way to it (../faults).
import { declines, failed, working } from "../../hooks/answers.ts";
import type { HookCall, HookTransport } from "../../hooks/transport.ts";
import type { Clock } from "../../runtime/base/clock.ts";
import type { ScenarioSpec } from "./schema.ts";

interface Update {
  readonly sinceMs: number;
  failures: number;
}

const isHook = ({ url }: HookCall, hook: string): boolean => url.toLowerCase().includes(`/${hook.toLowerCase()}/`);

const answer = (hook: string, body: object) => ({
  status: 200,
  body: { apiVersion: "hooks.runtime.cluster.x-k8s.io/v1alpha1", kind: `${hook}Response`, ...body },
});

/** @param clock asked only during calls: the world's clock exists after its hooks */
export function behaving(next: HookTransport, updater: ScenarioSpec["updater"], clock: () => Pick<Clock, "nowMs">): HookTransport {
  if (!updater) return next;
  const { covers = "Usual", durationSeconds = 0, failTimes = 0 } = updater;
  const updates = new Map<string, Update>();
  return async (call) => {
    if (covers === "Nothing") {
      for (const hook of ["CanUpdateMachineSet", "CanUpdateMachine"])
        if (isHook(call, hook)) return answer(hook, declines("this scenario's updater covers nothing"));
    }
    if (!isHook(call, "UpdateMachine")) return next(call);
    const machine = (call.body as { desired?: { machine?: { metadata?: { name?: string } } } }).desired?.machine?.metadata?.name ?? "";
    const update = updates.get(machine) ?? { sinceMs: clock().nowMs(), failures: 0 };
    updates.set(machine, update);
    if (update.failures < failTimes) {
      update.failures++;
      return answer("UpdateMachine", failed(`failure ${update.failures} of ${failTimes}, as the scenario wants it`));
    }
    const leftMs = update.sinceMs + durationSeconds * 1_000 - clock().nowMs();
    if (leftMs > 0) return answer("UpdateMachine", working("the scenario's updater takes its time", leftMs / 1_000));
    const answered = await next(call);
    const { status, retryAfterSeconds = 0 } = answered.body as { status?: string; retryAfterSeconds?: number };
    if (status === "Success" && retryAfterSeconds === 0) updates.delete(machine);
    return answered;
  };
}
