// Extension: handlers of hooks as typed functions. Here: registering, discovery, one request in, one answer out.
// Not here: sockets (real/server.ts), calling other people's extensions (client.ts). Source: spec/runtime/hooks.md, sections 1.1 and 4.
import {
  type DiscoveryResponse,
  type HookName,
  type HookRequestOf,
  type HookResponse,
  type HookResponseOf,
  hookPath,
  hooksApiVersion,
  hookTimeoutSecondsMax,
} from "../api/hooks/index.ts";

/** An answer as a handler gives it: apiVersion and kind are added. */
export type HookResult<H extends HookName> = HookResponseOf<H>;
export type HookFunction<H extends HookName> = (request: HookRequestOf<H>) => HookResult<H> | Promise<HookResult<H>>;

export interface HandlerOptions {
  /** DNS label; absent = the hook's name with dashes: `can-update-machine`. */
  readonly name?: string;
  /** 1 to 30; absent = the caller's default, 10. */
  readonly timeoutSeconds?: number;
  readonly failurePolicy?: "Fail" | "Ignore";
}

interface Handler {
  readonly hook: HookName;
  readonly name: string;
  readonly options: HandlerOptions;
  readonly run: (request: never) => HookResponse | Promise<HookResponse>;
}

/** A set of handlers. Each `on` gives a new one; nothing is shared or started. */
export interface Extension {
  readonly name: string;
  readonly handlers: readonly Handler[];
  /** @throws Error for a second handler of the same hook and name, or a name that is no DNS label */
  on<H extends HookName>(hook: H, run: HookFunction<H>, options?: HandlerOptions): Extension;
  /** Calls a handler as the server would, without a server. Needs `options.name` when the hook has several handlers. */
  call<H extends HookName>(hook: H, request: Omit<HookRequestOf<H>, "apiVersion" | "kind">, name?: string): Promise<HookResponseOf<H>>;
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** `CanUpdateMachine` becomes `can-update-machine`. */
export const dashed = (hook: string): string => hook.replace(/(?!^)([A-Z])/g, "-$1").toLowerCase();

export function extension(name: string, handlers: readonly Handler[] = []): Extension {
  const self: Extension = {
    name,
    handlers,
    on: (hook, run, options = {}) => {
      const handler: Handler = { hook, name: options.name ?? dashed(hook), options, run: run as Handler["run"] };
      check(handler, handlers);
      return extension(name, [...handlers, handler]);
    },
    call: async (hook, request, handlerName) => {
      const found = self.handlers.filter((h) => h.hook === hook && (handlerName === undefined || h.name === handlerName));
      const [only] = found;
      if (hook === "Discovery") return discovery(self) as never;
      if (!only || found.length > 1) {
        throw new Error(
          `extension ${name} has ${found.length} handlers of ${hook}${handlerName ? ` called ${handlerName}` : ""}, wanted one`,
        );
      }
      return (await answer(only, { apiVersion: hooksApiVersion, kind: `${hook}Request`, ...request })) as never;
    },
  };
  return self;
}

function check(handler: Handler, others: readonly Handler[]): void {
  const { timeoutSeconds } = handler.options;
  if (!DNS_LABEL.test(handler.name))
    throw new Error(`handler name "${handler.name}" must be a DNS label: lower case letters, digits and dashes`);
  if (handler.hook === "Discovery") throw new Error("Discovery is answered by the extension itself; register the other hooks only");
  if (timeoutSeconds !== undefined && !(timeoutSeconds >= 0 && timeoutSeconds <= hookTimeoutSecondsMax)) {
    throw new Error(`handler ${handler.name}: timeoutSeconds must be 0 to ${hookTimeoutSecondsMax}`);
  }
  // Names are unique over all hooks: discovery lists them in one list keyed by name.
  if (others.some((h) => h.name === handler.name)) throw new Error(`handler ${handler.name} is registered twice`);
}

/** What Discovery answers: all handlers but itself, in the order they were registered. */
export const discovery = (e: Extension): DiscoveryResponse => ({
  apiVersion: hooksApiVersion,
  kind: "DiscoveryResponse",
  status: "Success",
  handlers: e.handlers.map(({ hook, name, options }) => ({
    name,
    requestHook: { apiVersion: hooksApiVersion, hook },
    ...(options.timeoutSeconds === undefined ? {} : { timeoutSeconds: options.timeoutSeconds }),
    ...(options.failurePolicy === undefined ? {} : { failurePolicy: options.failurePolicy }),
  })),
});

/** One request to an extension. A handler that throws is a Failure with its message, never a broken connection.
 *  @param path without prefix and query  @param body the parsed request; an Error stands for a body that could not be read
 *  @returns 200 for everything a handler was found for, else 404 or 405 */
export async function handleHookRequest(
  e: Extension,
  method: string,
  path: string,
  body: unknown,
): Promise<{ readonly status: number; readonly answer: object }> {
  if (method !== "POST") return { status: 405, answer: failure("", `method ${method} is not allowed: hooks are called with POST`) };
  const at = path.replace(/\/+/g, "/").replace(/(.)\/$/, "$1");
  const isDiscovery = at.endsWith(hookPath("", "Discovery"));
  const handler = e.handlers.find((h) => at.endsWith(hookPath("", h.hook, h.name)));
  if (!isDiscovery && !handler) return { status: 404, answer: failure("", `no handler at ${at}: see ${hookPath("", "Discovery")}`) };
  const hook = handler?.hook ?? "Discovery";
  if (body instanceof Error) return { status: 200, answer: failure(hook, body.message) };
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return { status: 200, answer: failure(hook, "the request body must be a JSON object") };
  }
  return { status: 200, answer: handler ? await answer(handler, body) : discovery(e) };
}

const failure = (hook: string, message: string): HookResponse => ({
  apiVersion: hooksApiVersion,
  ...(hook === "" ? {} : { kind: `${hook}Response` }),
  status: "Failure",
  message,
});

async function answer(handler: Handler, request: object): Promise<HookResponse> {
  try {
    const given = await handler.run(request as never);
    return { ...given, apiVersion: hooksApiVersion, kind: `${handler.hook}Response` };
  } catch (e) {
    return failure(handler.hook, e instanceof Error ? e.message : String(e));
  }
}
