// theseus-capi/simulator: worlds on virtual time for one's own tests. Here: exports only.
export { allKinds } from "../api/index.ts";
export { type ObjectKey, type Resource, resource } from "../api/meta/resource.ts";
export type { HookTransport } from "../hooks/transport.ts";
export type { Client } from "../runtime/client.ts";
export { type HostTimings, INSTANT, REALISTIC } from "./host/exec.ts";
export { type SimulationOptions, startSimulation } from "./real/start.ts";
export { START_MS, type Virtual } from "./virtual.ts";
export { adminClient } from "./world.ts";
