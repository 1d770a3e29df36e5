// One call of one handler. Here: request, limits, failure policy, what an answer must be, metrics. Not here: choosing the handler (client.ts).
// Source: client.md, sections 6 and 9; hooks.md, section 2.
import {
  type HookName,
  type HookRequestOf,
  type HookResponse,
  type HookResponseOf,
  hookBodyBytesMax,
  hookCatalog,
  hooksApiVersion,
} from "../api/hooks/index.ts";
import { hooksGroup, hooksVersion } from "../api/groups.ts";
import type { Clock } from "../runtime/base/clock.ts";
import type { Logger } from "../runtime/base/log.ts";
import { type Endpoint, hookUrl } from "./endpoint.ts";
import { HookError, subject, textOf } from "./errors.ts";
import type { HookMetrics } from "./metrics.ts";
import type { HookAnswer, HookTransport } from "./transport.ts";

export interface CallTools {
  readonly transport: HookTransport;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: HookMetrics;
}

/** Who is called and how. */
export interface Callee {
  /** Registered name, for texts. */
  readonly name: string;
  readonly shortName: string;
  readonly config: string;
  readonly endpoint: Endpoint;
  readonly timeoutSeconds: number;
  readonly failurePolicy: "Fail" | "Ignore";
  readonly settings: Readonly<Record<string, string>>;
}

/** Text taken from a refusal. */
const REFUSAL_LENGTH_MAX = 512;

/** @throws HookError HookCallFailed (policy Fail), HookAnswerFailure, HookAnswerInvalid */
export async function callHandler<H extends HookName>(
  tools: CallTools,
  callee: Callee,
  hook: H,
  request: Omit<HookRequestOf<H>, "apiVersion" | "kind">,
): Promise<HookResponseOf<H>> {
  const who = subject(hook, callee.name, callee.config);
  const settings = { ...callee.settings, ...request.settings };
  const body = {
    ...request,
    apiVersion: hooksApiVersion,
    kind: `${hook}Request`,
    ...(Object.keys(settings).length > 0 ? { settings } : { settings: undefined }),
  };
  let answer: unknown;
  try {
    answer = await exchange(tools, callee, hook, body);
  } catch (e) {
    if (callee.failurePolicy === "Ignore") {
      tools.log.warn("hook failed, ignored as its failurePolicy says", { hook, handler: callee.name, error: textOf(e) });
      const ignored = { apiVersion: hooksApiVersion, kind: `${hook}Response`, status: "Success", message: "" };
      return (hookCatalog[hook].retries ? { ...ignored, retryAfterSeconds: 0 } : ignored) as HookResponseOf<H>;
    }
    throw new HookError("HookCallFailed", `${who} could not be called: ${textOf(e)}`);
  }
  return checked(hook, who, answer as HookResponse);
}

async function exchange(tools: CallTools, callee: Callee, hook: HookName, body: object): Promise<unknown> {
  const { clock, metrics } = tools;
  const labels = { host: callee.endpoint.host, group: hooksGroup, version: hooksVersion, hook };
  const startedMs = clock.nowMs();
  let code = "<error>";
  let status = "Unknown";
  try {
    const answer = await tools.transport({
      url: hookUrl(callee.endpoint, hook, hook === "Discovery" ? "" : callee.shortName, callee.timeoutSeconds),
      ...(callee.endpoint.caBundle === undefined ? {} : { caBundle: callee.endpoint.caBundle }),
      timeoutMs: callee.timeoutSeconds * 1_000,
      body,
    });
    code = String(answer.status);
    const parsed = parsedAnswer(answer);
    const said = (parsed as { status?: unknown }).status;
    if (said === "Success" || said === "Failure") status = said;
    return parsed;
  } finally {
    metrics?.called({ ...labels, code, status }, (clock.nowMs() - startedMs) / 1_000);
  }
}

const decoder = new TextDecoder();

function parsedAnswer({ status, body }: HookAnswer): object {
  if (status !== 200) {
    const text = body instanceof Uint8Array ? decoder.decode(body) : JSON.stringify(body);
    const short = text.length > REFUSAL_LENGTH_MAX ? `${text.slice(0, REFUSAL_LENGTH_MAX)}...` : text;
    throw new Error(`the server answered HTTP ${status}${short.trim() === "" ? "" : `: ${short.trim()}`}`);
  }
  if (!(body instanceof Uint8Array)) return body;
  if (body.length > hookBodyBytesMax) throw new Error(`the answer is larger than ${hookBodyBytesMax} bytes`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(decoder.decode(body));
  } catch {
    throw new Error("the answer is not JSON");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) throw new Error("the answer is not a JSON object");
  return parsed;
}

function checked<H extends HookName>(hook: H, who: string, answer: HookResponse): HookResponseOf<H> {
  if (answer.status === "Failure")
    throw new HookError("HookAnswerFailure", `${who} answered Failure: ${answer.message || "without a message"}`);
  if (answer.status !== "Success") {
    throw new HookError(
      "HookAnswerInvalid",
      `${who} answered status ${JSON.stringify(answer.status ?? "")}, wanted "Success" or "Failure"`,
    );
  }
  if (!hookCatalog[hook].retries) return answer as HookResponseOf<H>;
  const seconds = (answer as { retryAfterSeconds?: unknown }).retryAfterSeconds ?? 0;
  if (!Number.isInteger(seconds) || (seconds as number) < 0) {
    throw new HookError("HookAnswerInvalid", `${who} answered retryAfterSeconds ${JSON.stringify(seconds)}, wanted a whole number from 0`);
  }
  return { ...answer, retryAfterSeconds: seconds } as HookResponseOf<H>;
}
