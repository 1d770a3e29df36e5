import { describe } from "@jest/globals";
import { builtinTypes } from "../apiserver/builtin/index.ts";
import { startApiServer } from "../apiserver/real/start.ts";
import { createApiServer } from "../apiserver/server.ts";
import { seededRandom } from "./base/random.ts";
import { VirtualClock } from "./base/virtual-clock.ts";
import { clientContract, type Opened } from "./client.contract.ts";
import { connectKubeConfig } from "./real/kube-config.ts";
import { transportClient } from "./transport-client.ts";

const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

async function inProcess(): Promise<Opened> {
  const server = createApiServer({ clock: new VirtualClock(1_700_000_000_000), random: seededRandom(1), types: builtinTypes() });
  server.start();
  const client = transportClient({ transport: server.handle, fieldManager: "test" });
  const namespace = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
  await client.create(namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }).catch(() => {});
  return { client, arrive: turn, close: async () => server.stop() };
}

async function overHttps(): Promise<Opened> {
  const server = await startApiServer({});
  const connection = await connectKubeConfig({ text: server.adminKubeconfig });
  const client = transportClient({ transport: connection.transport, fieldManager: "test" });
  const arrive = async (until: () => boolean): Promise<void> => {
    for (let i = 0; i < 200 && !until(); i++) await new Promise((done) => setTimeout(done, 10));
  };
  return {
    client,
    arrive,
    close: async () => {
      await connection.close();
      await server.stop();
    },
  };
}

describe("in process", () => clientContract(inProcess));
describe("over HTTPS", () => clientContract(overHttps));
