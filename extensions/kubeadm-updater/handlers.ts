// The three in-place hooks as functions of their requests. Here: wire form of coverage and progress. Not here: transport (hooks/), rules, engine.
// Source: spec/runtime/hooks.md section 5, kubeadm-updater.md sections 3, 8.
import type {
  AnySpecObject,
  CanUpdateMachineRequest,
  CanUpdateMachineResponse,
  CanUpdateMachineSetRequest,
  CanUpdateMachineSetResponse,
  HookPatch,
  UpdateMachineRequest,
  UpdateMachineResponse,
} from "../../api/hooks/index.ts";
import { type Cover, cover } from "./coverage.ts";
import type { Engine } from "./engine.ts";
import { bootstrapRules, infrastructureRules, machineRules, type RuleContext, type Settings } from "./rules.ts";
import { type BootstrapObject, type MachineObject, targetOf } from "./target.ts";
import { parseVersion } from "./version.ts";

const CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane";
// What core compares of a Machine; everything else it propagates by itself.
const MACHINE_FIELDS = ["version", "failureDomain"];
const OBJECT = ["spec"];
const TEMPLATE = ["spec", "template", "spec"];

interface Parts {
  readonly machine: AnySpecObject;
  readonly infrastructure?: AnySpecObject;
  readonly bootstrap?: AnySpecObject;
}

interface Covers {
  readonly machine: Cover;
  readonly infrastructure: Cover;
  readonly bootstrap: Cover;
}

const NOTHING: Cover = { patch: [], refused: [] };

const versionIn = (object: AnySpecObject, base: readonly string[]): string | undefined =>
  base.reduce<{ readonly [key: string]: unknown } | undefined>((v, key) => v?.[key] as never, object as never)?.version as
    | string
    | undefined;

function covers(current: Parts, desired: Parts, base: readonly string[], controlPlane: boolean, settings: Settings): Covers {
  const context: RuleContext = {
    controlPlane,
    settings,
    currentVersion: parseVersion(versionIn(current.machine, base)),
    desiredVersion: parseVersion(versionIn(desired.machine, base)),
  };
  const of = (a: AnySpecObject | undefined, b: AnySpecObject | undefined, kinds: readonly string[], rules: typeof bootstrapRules): Cover =>
    a && b ? cover(a, b, base, kinds.includes(b.kind) ? rules : [], context) : NOTHING;
  return {
    machine: cover(current.machine, desired.machine, base, machineRules, context, MACHINE_FIELDS),
    infrastructure: of(current.infrastructure, desired.infrastructure, ["DevMachine", "DevMachineTemplate"], infrastructureRules),
    bootstrap: of(current.bootstrap, desired.bootstrap, ["KubeadmConfig", "KubeadmConfigTemplate"], bootstrapRules),
  };
}

function encode(patch: Cover["patch"]): HookPatch | undefined {
  if (patch.length === 0) return undefined;
  const bytes = new TextEncoder().encode(JSON.stringify(patch));
  return { patchType: "JSONPatch", patch: btoa(Array.from(bytes, (b) => String.fromCodePoint(b)).join("")) };
}

function refusal(parts: readonly (readonly [kind: string, cover: Cover])[]): string {
  const paths = parts.flatMap(([kind, { refused }]) => refused.map((path) => `${kind} ${path}`));
  return paths.length === 0 ? "" : `not covered: ${paths.sort().join(", ")}`;
}

export function canUpdateMachine({ current, desired, settings = {} }: CanUpdateMachineRequest): CanUpdateMachineResponse {
  const pick = (o: CanUpdateMachineRequest["current"]): Parts => ({
    machine: o.machine,
    infrastructure: o.infrastructureMachine,
    bootstrap: o.bootstrapConfig,
  });
  const controlPlane = desired.machine.metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined;
  const c = covers(pick(current), pick(desired), OBJECT, controlPlane, settings);
  return {
    status: "Success",
    message: refusal([
      ["Machine", c.machine],
      [desired.infrastructureMachine.kind, c.infrastructure],
      [desired.bootstrapConfig?.kind ?? "", c.bootstrap],
    ]),
    machinePatch: encode(c.machine.patch),
    infrastructureMachinePatch: encode(c.infrastructure.patch),
    bootstrapConfigPatch: encode(c.bootstrap.patch),
  } as CanUpdateMachineResponse;
}

export function canUpdateMachineSet({ current, desired, settings = {} }: CanUpdateMachineSetRequest): CanUpdateMachineSetResponse {
  const pick = (o: CanUpdateMachineSetRequest["current"]): Parts => ({
    machine: o.machineSet,
    infrastructure: o.infrastructureMachineTemplate,
    bootstrap: o.bootstrapConfigTemplate,
  });
  const c = covers(pick(current), pick(desired), TEMPLATE, false, settings);
  return {
    status: "Success",
    message: refusal([
      ["MachineSet", c.machine],
      [desired.infrastructureMachineTemplate.kind, c.infrastructure],
      [desired.bootstrapConfigTemplate?.kind ?? "", c.bootstrap],
    ]),
    machineSetPatch: encode(c.machine.patch),
    infrastructureMachineTemplatePatch: encode(c.infrastructure.patch),
    bootstrapConfigTemplatePatch: encode(c.bootstrap.patch),
  } as CanUpdateMachineSetResponse;
}

export const updateMachine =
  (engine: Engine) =>
  async ({ desired, settings = {} }: UpdateMachineRequest): Promise<UpdateMachineResponse> => {
    const target = targetOf(desired.machine as MachineObject, desired.bootstrapConfig as BootstrapObject | undefined, settings);
    const answer = await engine.update(target);
    return answer.kind === "progress"
      ? ({ status: "Success", message: answer.message, retryAfterSeconds: answer.seconds } as UpdateMachineResponse)
      : ({ status: "Failure", message: answer.message, retryAfterSeconds: 0 } as UpdateMachineResponse);
  };
