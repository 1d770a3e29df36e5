// The server with everything it has, in process: kinds, discovery, OpenAPI, RBAC, CRDs, background controllers. Here: the usual set of parts.
// Not here: the parts, sockets and credentials (real/start.ts).
import type { AdmissionPlugin } from "./admission-seam.ts";
import { namespaceLifecycle } from "./admission/index.ts";
import { aggregateClusterRoles, type Authorization, createAuthorization, defaultRbac } from "./auth/index.ts";
import { backgroundControllers } from "./background/index.ts";
import { type BuiltinOptions, builtinTypes } from "./builtin/index.ts";
import type { ServerContext } from "./context.ts";
import { crdController, crdStrategy } from "./crd/index.ts";
import { discoveryPaths } from "./discovery/index.ts";
import { openApiPaths } from "./openapi/index.ts";
import type { ResourceType } from "./registry.ts";
import { type ApiServer, type ApiServerOptions, createApiServer } from "./server.ts";

export interface StandardOptions extends Omit<ApiServerOptions, "types" | "authorizer" | "admission" | "objects" | "background" | "paths"> {
  /** Run between namespace lifecycle and the check of RBAC grants. */
  readonly admission?: (server: ServerContext) => readonly AdmissionPlugin[];
  /** Default RBAC. */
  readonly authorizationMode?: "RBAC" | "AlwaysAllow";
  /** Garbage collection, namespace clean-up and the like. CRDs are served without too. Default true. */
  readonly backgroundControllers?: boolean;
  /** Signs tokens of service accounts; without it they cannot be asked for. */
  readonly issueToken?: BuiltinOptions["issueToken"];
}

const typesWith = (issueToken?: BuiltinOptions["issueToken"]): readonly ResourceType[] =>
  builtinTypes({ issueToken, strategies: { CustomResourceDefinition: crdStrategy } });

/** Descriptors hold no state: all servers of a process share them, and with them what is compiled from their schemas. */
let sharedTypes: readonly ResourceType[] | undefined;

export function standardServer(options: StandardOptions): ApiServer {
  const { authorizationMode = "RBAC", backgroundControllers: withBackground = true, issueToken } = options;
  let authorization: Authorization | undefined;
  if (!issueToken) sharedTypes ??= typesWith();
  return createApiServer({
    ...options,
    types: issueToken ? typesWith(issueToken) : (sharedTypes ?? []),
    paths: [...discoveryPaths, ...openApiPaths],
    authorizer: (core) => {
      authorization = createAuthorization(core, [authorizationMode]);
      return authorization.authorizer;
    },
    admission: (core) => [namespaceLifecycle(core), ...(options.admission?.(core) ?? []), ...(authorization?.admission ?? [])],
    objects: defaultRbac(),
    // CRDs belong to the server itself, as in kube-apiserver.
    background: [crdController, ...(withBackground ? [aggregateClusterRoles, ...backgroundControllers] : [])],
  });
}
