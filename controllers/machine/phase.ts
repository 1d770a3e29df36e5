// Phase of a Machine: rough, for people. The last rule that holds wins. Source: spec/controllers/machine.md section 7.9.
import type { Machine, MachinePhase } from "../../api/machine.ts";
import { hasStatus } from "../../runtime/conditions.ts";
import { isDeleting } from "./view.ts";

/** @param machine with the status of this run, conditions included */
export function phaseOf({ spec, status, ...machine }: Machine): MachinePhase {
  const started = status?.initialization;
  const rules: readonly (readonly [boolean, MachinePhase])[] = [
    [!status?.phase, "Pending"],
    [spec.bootstrap.dataSecretName !== undefined && !started?.infrastructureProvisioned, "Provisioning"],
    [spec.providerID !== undefined, "Provisioned"],
    [status?.nodeRef !== undefined && started?.infrastructureProvisioned === true, "Running"],
    [hasStatus(status?.conditions, "Updating", "True"), "Updating"],
    [isDeleting({ spec, status, ...machine }), "Deleting"],
  ];
  return rules.reduce((phase, [holds, next]) => (holds ? next : phase), status?.phase ?? "Pending");
}
