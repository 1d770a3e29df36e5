// The server with everything it has, in process: kinds, discovery, OpenAPI, background controllers. Here: the usual set of parts.
// Not here: the parts, sockets and credentials (real/start.ts).
import { backgroundControllers } from "./background/index.ts";
import { builtinTypes } from "./builtin/index.ts";
import { crdController, crdStrategy } from "./crd/index.ts";
import { discoveryPaths } from "./discovery/index.ts";
import { openApiPaths } from "./openapi/index.ts";
import { type ApiServer, type ApiServerOptions, createApiServer } from "./server.ts";

/** @param options what differs from the usual set; `background` and `paths` come on top of it */
export function standardServer(options: Omit<ApiServerOptions, "types">): ApiServer {
  return createApiServer({
    ...options,
    types: builtinTypes({ strategies: { CustomResourceDefinition: crdStrategy } }),
    background: [crdController, ...backgroundControllers, ...(options.background ?? [])],
    paths: [...discoveryPaths, ...openApiPaths, ...(options.paths ?? [])],
  });
}
