// The public entry of the package: an embedded Kubernetes API server on a port.
export { type RunningApiServer, type StartOptions, startApiServer } from "./start.ts";
