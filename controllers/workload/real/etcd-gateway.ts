// etcd's client API over its JSON gateway, on any byte stream. Here: TLS, requests, answers as the seam wants them.
// Not here: how the stream is made (port-forward.ts). Source: spec/controllers/workload-cluster.md sections 5.1 and 5.4.
import { Agent, request } from "node:http";
import type { Duplex } from "node:stream";
import { connect, type TLSSocket } from "node:tls";
import type { EtcdAlarm, EtcdApi, EtcdCredentials, EtcdMember } from "../seam.ts";

const DIAL_LIMIT_MS = 10_000;
const CALL_LIMIT_MS = 15_000;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** An answer of etcd that is a refusal. `code` is the name of the gRPC code. */
class EtcdError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = "EtcdError";
    this.code = code;
  }
}

const CODES: Readonly<Record<number, string>> = {
  3: "INVALID_ARGUMENT",
  4: "DEADLINE_EXCEEDED",
  5: "NOT_FOUND",
  9: "FAILED_PRECONDITION",
  13: "INTERNAL",
  14: "UNAVAILABLE",
  16: "UNAUTHENTICATED",
};

/** Zero and empty fields are left out of answers; 64-bit numbers are texts. */
interface Header {
  readonly cluster_id?: string;
  readonly member_id?: string;
}
interface StatusAnswer {
  readonly header?: Header;
  readonly version?: string;
  readonly leader?: string;
  readonly isLearner?: boolean;
  readonly errors?: readonly string[];
}
interface ListAnswer {
  readonly header?: Header;
  readonly members?: readonly {
    readonly ID?: string;
    readonly name?: string;
    readonly isLearner?: boolean;
    readonly peerURLs?: readonly string[];
    readonly clientURLs?: readonly string[];
  }[];
}
interface AlarmAnswer {
  readonly alarms?: readonly { readonly memberID?: string; readonly alarm?: string }[];
}

/** @param stream to the member's client port  @param serverName name of its Pod, for SNI; the certificate must only chain to the CA */
export async function etcdOverStream(stream: Duplex, serverName: string, credentials: EtcdCredentials): Promise<EtcdApi> {
  const socket = await secured(stream, serverName, credentials);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => socket;
  const post = <T>(path: string, body: object): Promise<T> => call<T>(agent, serverName, path, body);
  return {
    async status() {
      const { header, version = "", leader = "0", isLearner = false, errors = [] } = await post<StatusAnswer>("/v3/maintenance/status", {});
      return { leader, memberId: header?.member_id ?? "0", version, isLearner, errors };
    },
    async memberList() {
      const { header, members = [] } = await post<ListAnswer>("/v3/cluster/member/list", { linearizable: true });
      return { clusterId: header?.cluster_id ?? "0", members: members.map(memberOf) };
    },
    memberRemove: async (id) => void (await post("/v3/cluster/member/remove", { ID: id })),
    moveLeader: async (targetId) => void (await post("/v3/maintenance/transfer-leadership", { targetID: targetId })),
    async alarms() {
      const { alarms = [] } = await post<AlarmAnswer>("/v3/maintenance/alarm", { action: "GET", memberID: "0", alarm: "NONE" });
      return alarms.flatMap((a): EtcdAlarm[] =>
        a.alarm === "NOSPACE" || a.alarm === "CORRUPT" ? [{ memberId: a.memberID ?? "0", type: a.alarm }] : [],
      );
    },
    close() {
      agent.destroy();
      socket.destroy();
      stream.destroy();
    },
  };
}

type WireMember = NonNullable<ListAnswer["members"]>[number];
const memberOf = (m: WireMember): EtcdMember => ({
  id: m.ID ?? "0",
  name: m.name ?? "",
  isLearner: m.isLearner ?? false,
  peerUrls: m.peerURLs ?? [],
  clientUrls: m.clientURLs ?? [],
});

function secured(stream: Duplex, serverName: string, { ca, client }: EtcdCredentials): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      socket: stream,
      servername: serverName,
      ca,
      cert: client.certificate,
      key: client.key,
      ALPNProtocols: ["http/1.1"],
      // The certificate names the machine's addresses, not the Pod: that it chains to the etcd CA is what counts.
      checkServerIdentity: () => undefined,
    });
    const fail = (cause: Error): void => {
      clearTimeout(limit);
      socket.destroy();
      reject(cause);
    };
    const limit = setTimeout(() => fail(new Error(`no TLS connection to ${serverName} within ${DIAL_LIMIT_MS / 1000} s`)), DIAL_LIMIT_MS);
    socket.once("error", fail);
    socket.once("secureConnect", () => {
      clearTimeout(limit);
      socket.off("error", fail);
      // Later errors reach the request that runs; an idle connection that breaks is found out by the next one.
      socket.on("error", () => {});
      resolve(socket);
    });
  });
}

function call<T>(agent: Agent, serverName: string, path: string, body: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const payload = JSON.stringify(body);
    const sent = request({
      agent,
      host: serverName,
      method: "POST",
      path,
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(payload) },
      timeout: CALL_LIMIT_MS,
    });
    sent.once("timeout", () => sent.destroy(new Error(`etcd did not answer ${path} within ${CALL_LIMIT_MS / 1000} s`)));
    sent.once("error", reject);
    sent.once("response", (answer) => {
      const chunks: Buffer[] = [];
      let size = 0;
      answer.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > ANSWER_BYTES_MAX) answer.destroy(new Error(`etcd's answer to ${path} is larger than ${ANSWER_BYTES_MAX} bytes`));
        else chunks.push(chunk);
      });
      answer.once("error", reject);
      answer.once("end", () => {
        try {
          resolve(answerOf<T>(answer.statusCode ?? 0, Buffer.concat(chunks).toString("utf8")));
        } catch (e) {
          reject(e);
        }
      });
    });
    sent.end(payload);
  });
}

/** @throws EtcdError for a refusal */
function answerOf<T>(status: number, text: string): T {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new EtcdError("UNKNOWN", `etcd answered HTTP ${status} without JSON: ${text.slice(0, 200)}`);
  }
  if (status === 200) return parsed as T;
  const { code, message, error } = parsed as { readonly code?: number; readonly message?: string; readonly error?: string };
  throw new EtcdError(CODES[code ?? 2] ?? "UNKNOWN", message ?? error ?? `etcd answered HTTP ${status}`);
}
