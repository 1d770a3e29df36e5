// A small server in process for tests of plugins. Here: its parts and requests as some user.
import type { ApiRequest, UserInfo } from "../api/meta/transport.ts";
import { seededRandom } from "../runtime/base/random.ts";
import { VirtualClock } from "../runtime/base/virtual-clock.ts";
import { builtinTypes, type BuiltinOptions } from "./builtin/index.ts";
import { type ApiServer, type ApiServerOptions, createApiServer } from "./server.ts";

export const START_MS = Date.parse("2026-08-21T10:00:00Z");

export interface TestServer {
  readonly server: ApiServer;
  readonly clock: VirtualClock;
  /** @returns status code and body; `as` undefined leaves the request to the authenticator */
  send(as: UserInfo | undefined, method: string, path: string, body?: object, headers?: ApiRequest["headers"]): Promise<Answer>;
  /** Lets timers that are due run, and what they start. */
  settle(): Promise<void>;
}

export interface Answer {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of all kinds are looked into.
  readonly body: any;
  readonly warnings: string;
}

export const ADMIN: UserInfo = { username: "admin", groups: ["system:masters", "system:authenticated"] };
export const someone = (username: string, ...groups: readonly string[]): UserInfo => ({
  username,
  groups: [...groups, "system:authenticated"],
});

export async function testServer(
  options: Partial<ApiServerOptions> = {},
  kinds: BuiltinOptions = {},
  clock = new VirtualClock(START_MS),
): Promise<TestServer> {
  const server = createApiServer({ clock, random: seededRandom(1), types: builtinTypes(kinds), ...options });
  await server.start();
  const send: TestServer["send"] = async (user, method, path, body, headers = {}) => {
    const [bare = "", query = ""] = path.split("?");
    const request: ApiRequest = { method, path: bare, query, headers, ...(body === undefined ? {} : { body }), ...(user ? { user } : {}) };
    const answer = await server.handle(request);
    const found = answer.kind === "object" ? answer.object : answer.kind === "bytes" ? new TextDecoder().decode(answer.bytes) : undefined;
    return { code: answer.status, body: found, warnings: answer.headers.warning ?? "" };
  };
  return {
    server,
    clock,
    send,
    async settle() {
      for (let round = 0; round < 20; round++) {
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        while ((clock.nextDueMs() ?? Number.POSITIVE_INFINITY) <= clock.nowMs()) clock.runNext();
      }
    },
  };
}
