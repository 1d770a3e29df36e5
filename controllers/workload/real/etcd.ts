// etcd's client API through its JSON gateway, which kubeadm's etcd serves on the client port beside gRPC.
// Here: five calls and their faults. Not here: how the member is reached. Source: spec/controllers/workload-cluster.md section 5.4.
import { Agent, request } from "undici";
import type { EtcdApi, EtcdCredentials } from "../seam.ts";
import type { Tunnel } from "./port-forward.ts";

const DIAL_TIMEOUT_MS = 10_000;
const CALL_TIMEOUT_MS = 15_000;
/** gRPC codes by number, for `code` of an error. */
const CODES: Readonly<Record<number, string>> = {
  4: "DEADLINE_EXCEEDED",
  5: "NOT_FOUND",
  9: "FAILED_PRECONDITION",
  14: "UNAVAILABLE",
  16: "UNAUTHENTICATED",
};

class EtcdCallFailed extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

interface Header {
  readonly header?: { readonly cluster_id?: string; readonly member_id?: string };
}
interface Member {
  readonly ID?: string;
  readonly name?: string;
  readonly peerURLs?: readonly string[];
  readonly clientURLs?: readonly string[];
  readonly isLearner?: boolean;
}

/** @param serverName what the member's certificate is asked for; its host name is not checked, its CA is */
export function etcdOverGateway(tunnel: Tunnel, serverName: string, credentials: EtcdCredentials): EtcdApi {
  const agent = new Agent({
    connect: {
      ca: credentials.ca,
      cert: credentials.client.certificate,
      key: credentials.client.key,
      servername: serverName,
      checkServerIdentity: () => undefined,
      timeout: DIAL_TIMEOUT_MS,
    },
  });
  const call = async <T>(path: string, body: object): Promise<T> => {
    const answer = await request(`https://127.0.0.1:${tunnel.port}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
      dispatcher: agent,
      headersTimeout: CALL_TIMEOUT_MS,
      bodyTimeout: CALL_TIMEOUT_MS,
    });
    const read = (await answer.body.json()) as T & { readonly code?: number; readonly message?: string };
    if (answer.statusCode !== 200)
      throw new EtcdCallFailed(CODES[read.code ?? 0] ?? "UNKNOWN", read.message ?? `etcd answered ${answer.statusCode}`);
    return read;
  };
  return {
    async status() {
      const s = await call<Header & { version?: string; leader?: string; errors?: readonly string[]; isLearner?: boolean }>(
        "/v3/maintenance/status",
        {},
      );
      return {
        leader: s.leader ?? "0",
        memberId: s.header?.member_id ?? "0",
        version: s.version ?? "",
        isLearner: s.isLearner ?? false,
        errors: s.errors ?? [],
      };
    },
    async memberList() {
      const list = await call<Header & { members?: readonly Member[] }>("/v3/cluster/member/list", { linearizable: true });
      const members = (list.members ?? []).map((m) => ({
        id: m.ID ?? "0",
        name: m.name ?? "",
        isLearner: m.isLearner ?? false,
        peerUrls: m.peerURLs ?? [],
        clientUrls: m.clientURLs ?? [],
      }));
      return { clusterId: list.header?.cluster_id ?? "0", members };
    },
    memberRemove: async (id) => void (await call("/v3/cluster/member/remove", { ID: id })),
    moveLeader: async (targetId) => void (await call("/v3/maintenance/transfer-leadership", { targetID: targetId })),
    async alarms() {
      const answer = await call<{ alarms?: readonly { memberID?: string; alarm?: "NOSPACE" | "CORRUPT" }[] }>("/v3/maintenance/alarm", {
        action: "GET",
        memberID: "0",
        alarm: "NONE",
      });
      return (answer.alarms ?? []).flatMap((a) => (a.alarm ? [{ memberId: a.memberID ?? "0", type: a.alarm }] : []));
    },
    close() {
      void agent.close();
      tunnel.close();
    },
  };
}
