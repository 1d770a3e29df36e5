// The kubeadm updater as an extension: three hooks over one engine. Here: names and limits of the handlers.
// Not here: what they do (handlers.ts, engine.ts), the server (hooks/real).
import { type Extension, extension } from "../../hooks/index.ts";
import { createEngine, type Engine, type EngineParts } from "./engine.ts";
import { canUpdateMachine, canUpdateMachineSet, updateMachine } from "./handlers.ts";

export interface KubeadmUpdater {
  readonly extension: Extension;
  readonly engine: Engine;
}

export const updaterExtension = (engine: Engine): Extension =>
  extension("kubeadm-updater")
    .on("CanUpdateMachine", canUpdateMachine, { timeoutSeconds: 10 })
    .on("CanUpdateMachineSet", canUpdateMachineSet, { timeoutSeconds: 10 })
    .on("UpdateMachine", updateMachine(engine), { timeoutSeconds: 10 });

export function kubeadmUpdater(parts: EngineParts): KubeadmUpdater {
  const engine = createEngine(parts);
  return { engine, extension: updaterExtension(engine) };
}
