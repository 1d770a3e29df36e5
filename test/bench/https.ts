// The API server over HTTPS from 16 connections: `node test/bench/https.ts [writes|lists|watches]...`, against the built package where dist/ is there.
// Figures of a kube-apiserver on such a machine stand beside ours. Not here: the server in process (in-process.ts), starting (ready.ts).
import { randomBytes } from "node:crypto";
import https from "node:https";
import { costRow, cpuSecondsOf, printMachine, rateOf, rateRow, row } from "./measure.ts";
import { type Running, startBuilt } from "./server.ts";

/** On two busy cores, 16 connections, etcd without fsync (figures of the conformance recordings). */
const KUBE_APISERVER = { createsPerSecond: 2_400, appliesPerSecond: 800, listMs: 143, eventsMs: 1_000 };
const CONNECTIONS = 16;
const ROUNDS = 3;
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const CONFIGS = "/apis/bootstrap.cluster.x-k8s.io/v1beta2/namespaces/default/kubeadmconfigs";

const agent = (ca: string): https.Agent => new https.Agent({ keepAlive: true, maxSockets: CONNECTIONS, ca });

function request(running: Running, agent: https.Agent, method: string, path: string, body?: object, type = "application/json") {
  return new Promise<{ readonly status: number; readonly bytes: Buffer }>((resolve, reject) => {
    const headers = { "content-type": type, authorization: `Bearer ${running.token}` };
    const sent = https.request(`${running.url}${path}`, { method, agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const bytes = Buffer.concat(chunks);
        if ((response.statusCode ?? 500) > 201) reject(new Error(`${method} ${path}: ${bytes.toString().slice(0, 300)}`));
        else resolve({ status: response.statusCode ?? 0, bytes });
      });
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** `total` calls, as many at once as there are connections. */
async function shared(total: number, call: (i: number) => Promise<unknown>): Promise<number> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < total) await call(next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return total;
}

const text = randomBytes(1_500).toString("base64");
const configMap = (name: string, data: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data,
});
const config = (name: string, commands: readonly string[]) => ({
  apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
  kind: "KubeadmConfig",
  metadata: { name, namespace: "default" },
  spec: { preKubeadmCommands: commands, files: [{ path: "/etc/a", content: text.slice(0, 500) }] },
});

async function writes(running: Running, connections: https.Agent): Promise<void> {
  let next = 0;
  const serverCpu = (): number => cpuSecondsOf(running.pid);
  const creates = await rateOf(
    ROUNDS,
    () => shared(1_000, () => request(running, connections, "POST", CONFIG_MAPS, configMap(`c${next++}`, { text }))),
    serverCpu,
  );
  rateRow("create a ConfigMap of 2 KB", creates);
  costRow(creates, yardstick);
  row("  against kube-apiserver", creates.perSecond / KUBE_APISERVER.createsPerSecond, "x", "goal 2");

  const apply = (name: string, manager: string, body: object): Promise<unknown> =>
    request(running, connections, "PATCH", `${CONFIGS}/${name}?fieldManager=${manager}&force=true`, body, "application/apply-patch+yaml");
  for (let i = 0; i < 50; i++) {
    await apply(`k${i}`, "one", config(`k${i}`, ["a"]));
    for (const manager of ["two", "three"]) {
      await apply(`k${i}`, manager, {
        apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
        kind: "KubeadmConfig",
        metadata: { name: `k${i}`, namespace: "default", labels: { [manager]: "x" } },
      });
    }
  }
  let value = 0;
  const applies = await rateOf(
    ROUNDS,
    () => shared(1_000, (i) => apply(`k${i % 50}`, "one", config(`k${i % 50}`, [`run ${value++}`]))),
    serverCpu,
  );
  rateRow("apply that changes a custom resource of 3 managers", applies);
  costRow(applies, yardstick);
  row("  against kube-apiserver", applies.perSecond / KUBE_APISERVER.appliesPerSecond, "x", "goal 5");
}

async function lists(running: Running, connections: https.Agent): Promise<void> {
  const namespace = "/api/v1/namespaces";
  await request(running, connections, "POST", namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "many" } });
  const path = CONFIGS.replace("default", "many");
  await shared(5_000, (i) => {
    const object = config(`k${i}`, ["a"]);
    return request(running, connections, "POST", path, { ...object, metadata: { name: `k${i}` } });
  });
  let size = 0;
  const rate = await rateOf(
    5,
    async () => {
      size = (await request(running, connections, "GET", path)).bytes.byteLength;
      return 1;
    },
    () => cpuSecondsOf(running.pid),
  );
  row(
    "list of 5,000 custom resources",
    1_000 / rate.perSecond,
    "ms",
    `${(size / 1e6).toFixed(1)} MB, spread ${Math.round(rate.spread * 100)}%`,
  );
  row("  CPU time of the server", 1_000 / rate.perCpuSecond, "ms");
  row("  against kube-apiserver", 1_000 / rate.perSecond / KUBE_APISERVER.listMs, "x its time", "goal 0.5");
}

/** Resolves when every watcher has seen `events` objects of its namespace. */
async function watchRound(running: Running, connections: https.Agent, watchers: number, events: number): Promise<number> {
  const watching = agent(running.ca);
  watching.maxSockets = watchers;
  let done = (): void => {};
  const allSeen = new Promise<void>((resolve) => {
    done = resolve;
  });
  let seen = 0;
  const streams = await Promise.all(
    Array.from(
      { length: watchers },
      () =>
        new Promise<{ destroy(): void }>((resolve, reject) => {
          const headers = { authorization: `Bearer ${running.token}` };
          const sent = https.request(
            `${running.url}${CONFIG_MAPS}?watch=true&resourceVersion=${newest}`,
            { agent: watching, headers },
            (response) => {
              response.on("data", (chunk: Buffer) => {
                for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen += 1;
                if (seen >= watchers * events) done();
              });
              resolve(sent);
            },
          );
          sent.on("error", reject);
          sent.end();
        }),
    ),
  );
  const startedAt = performance.now();
  await shared(events, (i) =>
    request(running, connections, "PUT", `${CONFIG_MAPS}/w${i % 100}`, configMap(`w${i % 100}`, { i: String(i), at: String(startedAt) })),
  );
  await allSeen;
  const took = performance.now() - startedAt;
  for (const stream of streams) stream.destroy();
  watching.destroy();
  return took;
}

let newest = "0";
let yardstick = 1;

async function watches(running: Running, connections: https.Agent): Promise<void> {
  // A create of what is there already is refused: these are the watched ones alone.
  await shared(100, (i) => request(running, connections, "POST", CONFIG_MAPS, configMap(`w${i}`, {})));
  const times: number[] = [];
  const cpu: number[] = [];
  for (const watchers of [10, 10, 100]) {
    const list = JSON.parse((await request(running, connections, "GET", `${CONFIG_MAPS}?limit=1`)).bytes.toString()) as {
      metadata: { resourceVersion: string };
    };
    newest = list.metadata.resourceVersion;
    const cpuBefore = cpuSecondsOf(running.pid);
    times.push(await watchRound(running, connections, watchers, 2_000));
    cpu.push(cpuSecondsOf(running.pid) - cpuBefore);
  }
  const [, ten = 0, hundred = 0] = times;
  const [, cpuTen = 0, cpuHundred = 0] = cpu;
  row("20,000 events to 10 watchers, 16 writers", ten, "ms", `2,000 writes within; ${cpuTen.toFixed(2)} s of the server's CPU time`);
  row("  against kube-apiserver", ten / KUBE_APISERVER.eventsMs, "x its time", "goal 0.5");
  row(
    "200,000 events to 100 watchers, 16 writers",
    hundred,
    "ms",
    `ten times the events for ${(cpuHundred / cpuTen).toFixed(1)}x the CPU time`,
  );
}

const parts = { writes, lists, watches } as const;
const names = process.argv.slice(2);
yardstick = await printMachine();
const running = await startBuilt();
const connections = agent(running.ca);
try {
  process.stdout.write(`server: ${running.what}\n`);
  for (const [name, part] of Object.entries(parts)) if (names.length === 0 || names.includes(name)) await part(running, connections);
} finally {
  connections.destroy();
  await running.stop();
}
