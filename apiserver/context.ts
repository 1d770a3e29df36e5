// What the parts of one server share, and paths that are no resources. Here: the types for them.
// Not here: who builds the context (server.ts).
import type { ApiRequest, ApiResponse } from "../api/meta/transport.ts";
import type { ServerContext } from "./resource-type.ts";

export type { InternalDeleteOptions, InternalWriteOptions, ObjectAccess, ServerContext } from "./resource-type.ts";

/** A path outside the resources (discovery, OpenAPI, health, page). First match wins; runs after authorization. */
export interface PathHandler {
  /** @param path decoded, without trailing slash (but `/`) */
  readonly matches: (path: string) => boolean;
  /** @returns undefined when the path is none of it after all */
  readonly handle: (request: ApiRequest, path: string, server: ServerContext) => ApiResponse | undefined | Promise<ApiResponse | undefined>;
}
