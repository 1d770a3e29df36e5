// The log of a simulation: every write and every hook call, one line each, in order. Two runs of one seed give the same bytes.
// Here: recording transports and the form of a line. Not here: what a change means (describe.ts), files (test/).
import type { KubeEvent } from "../../api/core/index.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import type { ApiRequest, ApiResponse, Transport } from "../../api/meta/transport.ts";
import type { HookTransport } from "../../hooks/transport.ts";
import type { Clock } from "../../runtime/base/clock.ts";
import { describeChange } from "./describe.ts";

export interface SequenceLog {
  readonly lines: readonly string[];
  /** A remark of the scenario itself. */
  say(text: string): void;
  /** A transport that records the writes going through it. @param place shown before each object, for workload clusters */
  records(transport: Transport, place?: string): Transport;
  recordsHooks(transport: HookTransport): HookTransport;
}

const VERBS: Readonly<Record<string, string>> = { POST: "create", PUT: "update", DELETE: "delete" };
const PATCHES: Readonly<Record<string, string>> = {
  "application/apply-patch+yaml": "apply",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/json-patch+json": "json-patch",
};
const SUBRESOURCE = /\/(status|scale|eviction|finalize|token)$/;

const verbOf = (r: ApiRequest): string =>
  r.method === "PATCH" ? (PATCHES[r.headers["content-type"] ?? ""] ?? "patch") : (VERBS[r.method] ?? r.method.toLowerCase());

const isObject = (value: unknown): value is KubeObject =>
  typeof value === "object" && value !== null && "metadata" in value && "kind" in value;
const eventText = ({ involvedObject: { kind, name }, reason, message, type, count }: KubeEvent): string =>
  `Event ${type === "Warning" ? "warning " : ""}${kind} ${name}: ${reason}${(count ?? 1) > 1 ? ` x${count}` : ""} (${(message ?? "").replaceAll("\n", " ")})`;
const nameOf = (o: KubeObject): string => `${o.kind} ${o.metadata.name ?? ""}`;

export function sequenceLog(clock: Clock, startMs: number): SequenceLog {
  const lines: string[] = [];
  const known = new Map<string, KubeObject>();
  const add = (who: string, text: string): void =>
    void lines.push(`${((clock.nowMs() - startMs) / 1000).toFixed(3).padStart(9)}  ${who.padEnd(34)} ${text}`);

  const write = (request: ApiRequest, response: ApiResponse, place: string): void => {
    const query = new URLSearchParams(request.query);
    const dryRun = query.get("dryRun") !== null;
    const subresource = SUBRESOURCE.exec(request.path)?.[1];
    const verb = `${verbOf(request)}${subresource ? `/${subresource}` : ""}${dryRun ? " (dry run)" : ""}`.padEnd(16);
    const who = `${place}${query.get("fieldManager") ?? request.user?.username ?? "-"}`;
    const answer = response.kind === "object" ? response.object : undefined;
    if (response.status >= 400) {
      add(
        who,
        `${verb} ${request.path.split("/").slice(-2).join("/")} refused: ${response.status} ${(answer as { reason?: string } | undefined)?.reason ?? ""}`,
      );
    } else if (!isObject(answer) || answer.kind === "Status" || request.method === "DELETE") {
      add(who, `${verb} ${request.path.split("/").slice(-2).join("/")}`);
    } else {
      add(who, `${verb} ${told(answer, place, dryRun)}`);
    }
  };

  /** The object, its version and what this write changed about it. */
  const told = (object: KubeObject, place: string, dryRun: boolean): string => {
    const version = `rv=${object.metadata.resourceVersion ?? "-"}`;
    if (object.kind === "Event") return `${eventText(object as KubeEvent)} ${version}`;
    const id = `${place}${object.kind}/${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    const before = known.get(id);
    if (dryRun) return `${nameOf(object)} ${version}`;
    known.set(id, object);
    const unchanged = before?.metadata.resourceVersion === object.metadata.resourceVersion && before?.metadata.uid === object.metadata.uid;
    const facts = unchanged ? "nothing changed" : describeChange(before, object).join("; ");
    return `${nameOf(object)} ${version}${facts ? `: ${facts}` : ""}`;
  };

  return {
    lines,
    say: (text) => void lines.push("", `# ${text}`),
    records:
      (transport, place = "") =>
      async (request) => {
        const response = await transport(request);
        const isWrite = request.method !== "GET" && request.method !== "HEAD" && request.method !== "OPTIONS";
        if (isWrite) write(request, response, place);
        return response;
      },
    recordsHooks: (transport) => async (call) => {
      const hook = /\/v1alpha1\/([a-z]+)(?:\/|\?|$)/.exec(call.url)?.[1] ?? "hook";
      const subject = subjectOf(call.body);
      try {
        const answer = await transport(call);
        add("hook", `${hook.padEnd(16)} ${subject}: ${answerText(answer.body)}`);
        return answer;
      } catch (error) {
        add("hook", `${hook.padEnd(16)} ${subject}: unreachable, ${error instanceof Error ? error.message : String(error)}`);
        throw error;
      }
    },
  };
}

interface HookBody {
  readonly desired?: { readonly machine?: KubeObject; readonly machineSet?: KubeObject };
  readonly current?: { readonly machineSet?: KubeObject };
}

function subjectOf(body: object): string {
  const { desired, current } = body as HookBody;
  if (desired?.machineSet) return `${current?.machineSet?.metadata.name} -> ${desired.machineSet.metadata.name}`;
  return desired?.machine?.metadata.name ?? "-";
}

function answerText(body: Uint8Array | object): string {
  const answer = (body instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(body)) : body) as {
    status?: string;
    message?: string;
    retryAfterSeconds?: number;
    [key: string]: unknown;
  };
  const patches = Object.keys(answer).filter((k) => k.endsWith("Patch") && answer[k] !== undefined);
  const parts = [
    answer.status ?? "?",
    answer.message ? `"${answer.message}"` : "",
    answer.retryAfterSeconds ? `again in ${answer.retryAfterSeconds} s` : "",
    ...patches,
  ];
  return parts.filter((p) => p !== "").join(", ");
}
