// The API server in process: `node test/bench/in-process.ts [apply|machines|create|watch|memory]...`, all without arguments.
// A profile: `node --cpu-prof --cpu-prof-dir=/tmp/prof test/bench/in-process.ts apply`. Not here: HTTPS (https.ts), starting (ready.ts).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { ApiRequest, UserInfo } from "../../api/meta/transport.ts";
import { ensureCrds } from "../../apiserver/crd/index.ts";
import { readCrds } from "../../apiserver/real/crd-files.ts";
import type { ApiServer } from "../../apiserver/server.ts";
import { standardServer } from "../../apiserver/standard.ts";
import { seededRandom } from "../../runtime/base/random.ts";
import { systemClock } from "../../runtime/base/real/system-clock.ts";
import { costRow, printMachine, type Rate, rateOf, rateRow, row } from "./measure.ts";

const ADMIN: UserInfo = { username: "admin", groups: ["system:masters", "system:authenticated"] };
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const MACHINES = "/apis/cluster.x-k8s.io/v1beta2/namespaces/default/machines";
const ROUNDS = 5;
/** Enough for the engine to have compiled what is hot. */
const APPLIES = 20_000;
const root = join(import.meta.dirname, "../..");

let yardstick = 1;

function told(name: string, rate: Rate): void {
  rateRow(name, rate);
  costRow(rate, yardstick);
}

async function newServer(): Promise<ApiServer> {
  const server = standardServer({ clock: systemClock, random: seededRandom(1), backgroundControllers: false });
  await server.start();
  await ensureCrds(server, readCrds([join(root, "manifests/crd")]));
  return server;
}

async function send(
  server: ApiServer,
  method: string,
  path: string,
  body?: object,
  query = "",
  type = "application/json",
): Promise<object> {
  const request: ApiRequest = {
    method,
    path,
    query,
    headers: { "content-type": type },
    user: ADMIN,
    ...(body === undefined ? {} : { body }),
  };
  const answer = await server.handle(request);
  if (answer.kind !== "object" || answer.status > 201) throw new Error(`${method} ${path}: ${JSON.stringify(answer).slice(0, 500)}`);
  return answer.object;
}

const applyTo = (server: ApiServer, path: string, body: object, manager: string): Promise<object> =>
  send(server, "PATCH", path, body, `fieldManager=${manager}&force=true`, "application/apply-patch+yaml");

const configMap = (name: string, data: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data,
});

/** Applies that each change one value, over 100 objects. */
async function applies(): Promise<void> {
  const server = await newServer();
  let value = 0;
  const rate = await rateOf(ROUNDS, async () => {
    for (let i = 0; i < APPLIES; i++) {
      const name = `c${i % 100}`;
      await applyTo(server, `${CONFIG_MAPS}/${name}`, configMap(name, { a: "1", b: "2", value: String(value++) }), "bench");
    }
    return APPLIES;
  });
  told("apply a small ConfigMap, one value changes", rate);
  const same = await rateOf(ROUNDS, async () => {
    for (let i = 0; i < APPLIES; i++)
      await applyTo(server, `${CONFIG_MAPS}/same`, configMap("same", { a: "1", b: "2", value: "x" }), "bench");
    return APPLIES;
  });
  told("apply a small ConfigMap, nothing changes", same);
}

const machine = (name: string, version: string) => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Machine",
  metadata: {
    name,
    namespace: "default",
    labels: { "cluster.x-k8s.io/cluster-name": "c", "cluster.x-k8s.io/set-name": "s", "cluster.x-k8s.io/deployment-name": "d" },
    annotations: { "example.com/a": "b" },
  },
  spec: {
    clusterName: "c",
    version,
    bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name } },
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevMachine", name },
    deletion: { nodeDrainTimeoutSeconds: 10, nodeDeletionTimeoutSeconds: 10 },
  },
});

async function machines(): Promise<void> {
  const server = await newServer();
  let value = 0;
  const rate = await rateOf(ROUNDS, async () => {
    for (let i = 0; i < 2_000; i++) {
      const name = `m${i % 100}`;
      await applyTo(server, `${MACHINES}/${name}`, machine(name, `v1.35.${value++ % 1000}`), "bench");
    }
    return 2_000;
  });
  told("apply a Machine, one value changes", rate);
}

async function creates(): Promise<void> {
  const server = await newServer();
  let next = 0;
  const maps = await rateOf(ROUNDS, async () => {
    for (let i = 0; i < 2_000; i++) await send(server, "POST", CONFIG_MAPS, configMap(`c${next++}`, { a: "x".repeat(2_000) }));
    return 2_000;
  });
  told("create a ConfigMap of 2 KB", maps);
  const made = await rateOf(ROUNDS, async () => {
    for (let i = 0; i < 1_000; i++) await send(server, "POST", MACHINES, machine(`m${next++}`, "v1.35.0"));
    return 1_000;
  });
  told("create a Machine", made);
  const pod = parse(readFileSync(join(import.meta.dirname, "pod.yaml"), "utf8")) as { metadata: { name: string } };
  const pods = await rateOf(ROUNDS, async () => {
    const before = next;
    for (let i = 0; i < 1_000; i++) {
      const name = `p${next++}`;
      await send(server, "POST", "/api/v1/namespaces/default/pods", { ...pod, metadata: { ...pod.metadata, name } });
    }
    return next - before;
  });
  told("create a Pod of two containers", pods);
}

/** One update, ten watches of its resource: the time must not grow with the objects beside it. */
async function watches(): Promise<void> {
  let first = 0;
  for (const objects of [100, 1_000, 10_000, 50_000]) {
    const server = await newServer();
    for (let i = 0; i < objects; i++) await send(server, "POST", CONFIG_MAPS, configMap(`c${i}`, { i: String(i) }));
    let events = 0;
    let bytes = 0;
    const stops: (() => void)[] = [];
    for (let i = 0; i < 10; i++) {
      const answer = await server.handle({
        method: "GET",
        path: CONFIG_MAPS,
        query: `watch=true&resourceVersion=${server.store.revision()}`,
        headers: {},
        user: ADMIN,
      });
      if (answer.kind !== "watch") throw new Error("no watch");
      stops.push(
        answer.subscribe({
          event(_event, encoded) {
            events += 1;
            bytes += encoded().byteLength;
            return true;
          },
          end() {},
        }),
      );
    }
    let value = 0;
    const rate = await rateOf(ROUNDS, async () => {
      for (let i = 0; i < 1_000; i++)
        await send(server, "PUT", `${CONFIG_MAPS}/c${i % 100}`, configMap(`c${i % 100}`, { i: `new ${value++}` }));
      return 1_000;
    });
    for (const stop of stops) stop();
    if (events !== value * 10 || bytes === 0) throw new Error(`${events} events of ${value * 10}`);
    if (first === 0) first = rate.perCpuSecond;
    row(
      `update with 10 watches beside ${objects.toLocaleString("en")} objects`,
      rate.perCpuSecond,
      "per CPU second",
      `${(first / rate.perCpuSecond).toFixed(2)}x the cost with 100`,
    );
  }
}

async function memory(): Promise<void> {
  const OBJECTS = 100_000;
  const server = await newServer();
  const collect = globalThis.gc as (() => void) | undefined;
  collect?.();
  const before = process.memoryUsage();
  for (let i = 0; i < OBJECTS; i++) {
    // As from the wire: every object has text of its own.
    const body = JSON.parse(JSON.stringify(configMap(`c${i}`, { a: `${i}`.padEnd(1_000, "x"), b: `${i}`.padEnd(1_000, "y") }))) as object;
    await send(server, "POST", CONFIG_MAPS, body);
  }
  collect?.();
  const { rss, heapUsed } = process.memoryUsage();
  // Asked after the collection, so that the server was in use during it.
  if (server.store.count("configmaps") < OBJECTS) throw new Error("objects are missing");
  row("100,000 objects of 2 KB: resident", rss / 2 ** 20, "MiB", `goal below 1,536; ${Math.round(before.rss / 2 ** 20)} before`);
  row(
    "100,000 objects of 2 KB: heap in use",
    heapUsed / 2 ** 20,
    "MiB",
    collect ? "after a collection" : "run with --expose-gc for a collection",
  );
}

const parts: Readonly<Record<string, () => Promise<void>>> = { apply: applies, machines, create: creates, watch: watches, memory };
const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  process.stderr.write(`no part ${unknown.join(", ")}; there are ${Object.keys(parts).join(", ")}\n`);
  process.exit(64);
}
yardstick = await printMachine();
for (const [name, part] of Object.entries(parts)) if (names.length === 0 || names.includes(name)) await part();
