// The API server with all kinds and their webhooks, in process. Here: starting it, samples, answers as a user sees them.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import type { FeatureGate } from "../../api/feature-gates.ts";
import { kindOf } from "../../api/index.ts";
import type { KindDefinition } from "../../api/kind.ts";
import type { KubeObject } from "../../api/meta/object.ts";
import { pathOf } from "../../api/meta/resource.ts";
import type { Status } from "../../api/meta/status.ts";
import { functionPlugin } from "../../apiserver/admission/index.ts";
import { createMemoryStore } from "../../apiserver/store/memory.ts";
import { silentLogger } from "../../runtime/base/log.ts";
import { seededRandom } from "../../runtime/base/random.ts";
import { VirtualClock } from "../../runtime/base/virtual-clock.ts";
import { managementServer } from "../../simulator/servers.ts";
import { webhookFunctions } from "../../simulator/webhook-functions.ts";
import { START_MS } from "../../simulator/virtual.ts";
import { installKinds } from "../../simulator/world.ts";

/** Those that the samples need. */
const GATES: readonly FeatureGate[] = ["ClusterTopology", "RuntimeSDK", "MachineTaintPropagation", "KubeadmBootstrapFormatIgnition"];
const USER = { username: "admin", groups: ["system:masters", "system:authenticated"] };

export interface Answer {
  readonly code: number;
  readonly object?: KubeObject;
  readonly status?: Status;
}

export interface KindServer {
  /** @param query such as `dryRun=All` */
  send(method: "POST" | "PUT" | "PATCH" | "GET", object: KubeObject, query?: string): Promise<Answer>;
}

export const definitionOf = (object: KubeObject): KindDefinition => {
  const kind = kindOf(object.kind);
  if (!kind) throw new Error(`no kind ${object.kind}`);
  return kind;
};

/** @param webhooks false: schemas alone */
export async function startKinds({ webhooks = true } = {}): Promise<KindServer> {
  const server = managementServer({
    clock: new VirtualClock(START_MS),
    random: seededRandom(1),
    log: silentLogger,
    store: createMemoryStore(),
    admission: (core) => {
      const functions = webhookFunctions(
        (name) => GATES.includes(name),
        () => core,
      );
      return webhooks ? [functionPlugin(core, functions)] : [];
    },
  });
  await server.start();
  await installKinds(server);
  const send: KindServer["send"] = async (method, object, query = "") => {
    const { namespace = "", name = "" } = object.metadata;
    const contentType = method === "PATCH" ? "application/apply-patch+yaml" : "application/json";
    const answer = await server.handle({
      method,
      path: pathOf(definitionOf(object).resource, namespace, method === "POST" ? "" : name),
      query: new URLSearchParams(`fieldManager=test&${query}`).toString(),
      headers: { "content-type": contentType, accept: "application/json" },
      user: USER,
      ...(method === "GET" ? {} : { body: object }),
    });
    const body = answer.kind === "object" ? answer.object : undefined;
    return { code: answer.status, ...(answer.status < 400 ? { object: body as KubeObject } : { status: body as unknown as Status }) };
  };
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "lab" } };
  await server.handle({ method: "POST", path: "/api/v1/namespaces", query: "", headers: {}, user: USER, body: namespace });
  return { send };
}

/** A minimal and a rich object of each kind. */
export function samples(): readonly KubeObject[] {
  const file = path.join(path.dirname(fileURLToPath(import.meta.url)), "samples.yaml");
  return parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as KubeObject);
}
