// For tests: a server with the built-in kinds in process, on a virtual clock. Not for products.
import type { ApiRequest } from "../../../api/meta/transport.ts";
import { seededRandom } from "../../../runtime/base/random.ts";
import { VirtualClock } from "../../../runtime/base/virtual-clock.ts";
import { discoveryPaths } from "../../discovery/index.ts";
import { openApiPaths } from "../../openapi/index.ts";
import { type ApiServer, type ApiServerOptions, createApiServer } from "../../server.ts";
import { builtinTypes } from "../index.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // Tests look into answers of every kind.
  // biome-ignore lint/suspicious/noExplicitAny: a test reads fields that it expects
  readonly body: any;
}

export interface TestServer {
  readonly server: ApiServer;
  readonly clock: VirtualClock;
  /** A request of an administrator. @param headers e.g. `{ "content-type": "application/merge-patch+json" }` */
  call(method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Runs timers that are due within `withinMs`, and all that follows from them. */
  settle(withinMs?: number): Promise<void>;
}

const START_MS = Date.parse("2026-01-01T00:00:00Z");
const ADMIN = { username: "admin", groups: ["system:masters", "system:authenticated"] };

export async function testServer(options: Partial<ApiServerOptions> = {}): Promise<TestServer> {
  const clock = new VirtualClock(START_MS);
  const server = createApiServer({
    clock,
    random: seededRandom(1),
    types: builtinTypes(),
    paths: [...discoveryPaths, ...openApiPaths],
    ...options,
  });
  await server.start();
  const turn = (): Promise<void> => new Promise((done) => setImmediate(done));
  return {
    server,
    clock,
    async call(method, path, body, headers = {}) {
      const [where = "", query = ""] = path.split("?");
      const request: ApiRequest = { method, path: where, query, headers, user: ADMIN, ...(body ? { body } : {}) };
      const response = await server.handle(request);
      if (response.kind === "object")
        return { status: response.status, headers: response.headers, body: JSON.parse(JSON.stringify(response.object)) };
      if (response.kind !== "bytes") return { status: response.status, headers: {}, body: undefined };
      const text = new TextDecoder().decode(response.bytes);
      return { status: response.status, headers: response.headers, body: text.startsWith("{") ? JSON.parse(text) : text };
    },
    async settle(withinMs = 0) {
      const untilMs = clock.nowMs() + withinMs;
      await turn();
      for (let due = clock.nextDueMs(); due !== undefined && due <= untilMs; due = clock.nextDueMs()) {
        clock.runNext();
        await turn();
      }
    },
  };
}
