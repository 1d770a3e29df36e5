// The server on a port: protocols, identities, limits, restart. What requests mean is tested in process (../requests).
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http2 from "node:http2";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "@jest/globals";
import { systemClock } from "../../runtime/base/real/system-clock.ts";
import { createNodePki } from "../../runtime/base/real/node-pki.ts";
import { FlagError, parseApiServerFlags, serveApiServer, startOptions } from "./serve.ts";
import { type RunningApiServer, startApiServer } from "./start.ts";
import { parseTokenFile } from "./token-file.ts";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
const newDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "theseus-apiserver-"));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};
async function started(options: Parameters<typeof startApiServer>[0] = {}): Promise<RunningApiServer> {
  const running = await startApiServer({ backgroundControllers: false, ...options });
  cleanups.push(() => running.stop());
  return running;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
  json(): {
    readonly kind?: string;
    readonly reason?: string;
    readonly metadata?: { readonly name?: string; readonly uid?: string };
    readonly status?: unknown;
  };
}
interface Sent {
  readonly method?: string;
  readonly body?: string | object;
  readonly headers?: Record<string, string>;
  readonly tls?: https.RequestOptions;
}

function send(server: RunningApiServer, path: string, { method = "GET", body, headers = {}, tls = {} }: Sent = {}): Promise<Answer> {
  const withToken = tls.cert || headers.authorization !== undefined ? headers : { authorization: `Bearer ${server.token}`, ...headers };
  return new Promise((resolve, reject) => {
    const request = https.request(
      server.url + path,
      { method, ca: server.ca, agent: false, headers: { "content-type": "application/json", ...withToken }, ...tls },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const bytes = Buffer.concat(chunks);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, json: () => JSON.parse(bytes.toString()) });
        });
      },
    );
    request.on("error", reject);
    request.end(typeof body === "object" ? JSON.stringify(body) : body);
  });
}
const configMap = (name: string, data: Record<string, string> = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

describe("identities", () => {
  it("come from the admin's token and certificate, token files, and certificates of a further CA", async () => {
    const pki = createNodePki({ clock: systemClock });
    const ca = pki.createCa("others", 3_600_000, "ECDSA-P256");
    const stranger = pki.createCa("strangers", 3_600_000, "ECDSA-P256");
    const client = (from: typeof ca) => {
      const pair = pki.issue(from, {
        commonName: "jane",
        organizations: ["dev"],
        usages: ["client"],
        validForMs: 3_600_000,
        algorithm: "ECDSA-P256",
      });
      return { cert: pair.certificate, key: pair.key };
    };
    const server = await started({ clientCa: ca.certificate, tokens: parseTokenFile('t1,joe,7,"a,b"\n') });
    const whoami = async (sent: Sent): Promise<unknown> => {
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
      const answer = await send(server, "/apis/authentication.k8s.io/v1/selfsubjectreviews", { method: "POST", body, ...sent });
      return answer.status === 201 ? (answer.json().status as { userInfo: unknown }).userInfo : answer.status;
    };
    expect(await whoami({})).toMatchObject({ username: "kubernetes-admin", groups: expect.arrayContaining(["system:masters"]) });
    expect(await whoami({ headers: { authorization: "Bearer t1" } })).toMatchObject({
      username: "joe",
      uid: "7",
      groups: ["a", "b", "system:authenticated"],
    });
    expect(await whoami({ tls: client(ca) })).toMatchObject({ username: "jane", groups: ["dev", "system:authenticated"] });
    const [, cert = "", key = ""] = /client-certificate-data: (\S+)\s+client-key-data: (\S+)/.exec(server.adminKubeconfig) ?? [];
    const admin = { cert: Buffer.from(cert, "base64"), key: Buffer.from(key, "base64") };
    expect(await whoami({ tls: admin })).toMatchObject({ username: "kubernetes-admin" });
    expect(await whoami({ tls: client(stranger) })).toBe(401);
    expect(await whoami({ headers: { authorization: "Bearer wrong" } })).toBe(401);
  });
});

describe("protocols", () => {
  it("HTTP/2 and HTTP/1.1 are on one port", async () => {
    const server = await started();
    await send(server, CONFIG_MAPS, { method: "POST", body: configMap("a", { k: "é" }) });
    const session = http2.connect(server.url, { ca: server.ca });
    cleanups.push(() => session.close());
    const [status, text] = await new Promise<[number, string]>((resolve, reject) => {
      const stream = session.request({ ":path": `${CONFIG_MAPS}/a`, authorization: `Bearer ${server.token}` });
      let body = "";
      let code = 0;
      stream.setEncoding("utf8");
      stream.on("response", (headers) => {
        code = Number(headers[":status"]);
      });
      stream.on("data", (chunk: string) => {
        body += chunk;
      });
      stream.on("end", () => resolve([code, body]));
      stream.on("error", reject);
      stream.end();
    });
    expect([status, JSON.parse(text)]).toMatchObject([200, { data: { k: "é" } }]);
  });

  it("large answers are packed when the client takes that", async () => {
    const server = await started();
    await send(server, CONFIG_MAPS, { method: "POST", body: configMap("big", { a: "x".repeat(200_000) }) });
    const packed = await send(server, `${CONFIG_MAPS}/big`, { headers: { "accept-encoding": "gzip" } });
    expect([packed.headers["content-encoding"], packed.bytes.byteLength < 10_000]).toEqual(["gzip", true]);
    expect(JSON.parse(gunzipSync(packed.bytes).toString())).toMatchObject({ metadata: { name: "big" } });
    expect((await send(server, `${CONFIG_MAPS}/big`)).headers["content-encoding"]).toBeUndefined();
  });

  it("several warnings are several headers", async () => {
    const server = await started();
    const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"w"},"data":{"a":"1","a":"2"},"b":1}';
    const answer = await send(server, CONFIG_MAPS, { method: "POST", body });
    expect(answer.headers.warning).toBe('299 - "duplicate field \\"data.a\\"", 299 - "unknown field \\"b\\""');
  });

  it("a watch answers at once and sends a line per event", async () => {
    const server = await started();
    const lines = await new Promise<string[]>((resolve, reject) => {
      const headers = { authorization: `Bearer ${server.token}` };
      const request = https.get(`${server.url}${CONFIG_MAPS}?watch=true`, { ca: server.ca, agent: false, headers }, (response) => {
        void send(server, CONFIG_MAPS, { method: "POST", body: configMap("late") }); // nothing existed: only the head came
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
          if (!text.endsWith("\n")) return;
          request.destroy();
          resolve(text.trim().split("\n"));
        });
      });
      request.on("error", reject);
    });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ type: "ADDED", object: { metadata: { name: "late" } } }]);
  });
});

describe("limits", () => {
  it("bodies over 3 MiB are 413, endless URLs are refused", async () => {
    const server = await started();
    const large = await send(server, CONFIG_MAPS, { method: "POST", body: configMap("big", { a: "x".repeat(3_200_000) }) });
    expect([large.status, large.json().reason]).toEqual([413, "RequestEntityTooLarge"]);
    const long = await send(server, `${CONFIG_MAPS}?labelSelector=${"a".repeat(100_000)}`);
    expect(long.status).toBeGreaterThanOrEqual(400);
  });

  it("more writes at once than allowed are 429 with Retry-After", async () => {
    let release = (): void => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    const server = await started({
      admission: () => [{ name: "slow", validate: ({ type }) => (type.plural === "configmaps" ? held : undefined) }],
    });
    const session = http2.connect(server.url, { ca: server.ca });
    cleanups.push(() => session.destroy());
    const retryAfter: unknown[] = [];
    const write = (i: number): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = {
          ":method": "POST",
          ":path": CONFIG_MAPS,
          authorization: `Bearer ${server.token}`,
          "content-type": "application/json",
        };
        const stream = session.request(headers);
        stream.on("response", (response) => {
          const status = Number(response[":status"]);
          if (status === 429 && retryAfter.push(response["retry-after"]) === 5) release();
          resolve(status);
        });
        stream.on("error", reject);
        stream.resume();
        stream.end(JSON.stringify(configMap(`c${i}`)));
      });
    const statuses = await Promise.all(Array.from({ length: 205 }, (_, i) => write(i)));
    expect([statuses.filter((s) => s === 201).length, retryAfter]).toEqual([200, Array(5).fill("1")]);
  });
});

describe("a data directory", () => {
  it("brings back objects, CA and keys; without it all is fresh", async () => {
    const dataDir = newDirectory();
    const first = await startApiServer({ dataDir, backgroundControllers: false });
    const created = await send(first, CONFIG_MAPS, { method: "POST", body: configMap("kept") });
    await first.stop();
    const second = await started({ dataDir });
    expect([second.ca, second.token]).toEqual([first.ca, first.token]);
    expect((await send(second, `${CONFIG_MAPS}/kept`)).json().metadata?.uid).toBe(created.json().metadata?.uid);
    await expect(startApiServer({ dataDir })).rejects.toThrow(/held by process/);
    expect((await started()).ca).not.toBe(first.ca);
  });

  it("is free again after a start that failed", async () => {
    const dataDir = newDirectory();
    const { port } = await started();
    await expect(startApiServer({ dataDir, port })).rejects.toThrow(/is in use; choose another/);
    await started({ dataDir });
  });
});

describe("flags", () => {
  it.each([
    [["--nonsense"], /known flags/],
    [["--secure-port=many"], /0 \(any free port\)/],
    [["--authorization-mode=ABAC"], /RBAC, AlwaysAllow/],
    [["--tls-cert-file=x"], /both or neither/],
    [["--background-controllers=maybe"], /true, false/],
  ])("%j is refused with a hint", (args, hint) => {
    const parse = (): unknown => startOptions(parseApiServerFlags(args));
    expect(parse).toThrow(FlagError);
    let given = "";
    try {
      parse();
    } catch (error) {
      given = (error as FlagError).hint;
    }
    expect(given).toMatch(hint);
  });

  it("a missing file is named", () => {
    expect(() => startOptions(parseApiServerFlags(["--token-auth-file=/nowhere/t.csv"]))).toThrow(
      /cannot read \/nowhere\/t.csv of --token-auth-file: ENOENT/,
    );
  });

  it("serve with tokens, a kubeconfig and one line", async () => {
    const directory = newDirectory();
    const file = join(directory, "tokens.csv");
    writeFileSync(file, 'secret,ops,1,"system:masters"\n');
    const printed: string[] = [];
    const running = await serveApiServer(
      ["--secure-port=0", `--token-auth-file=${file}`, `--kubeconfig-out=${join(directory, "kc")}`],
      (line) => printed.push(line),
    );
    cleanups.push(() => running.stop());
    expect(printed).toEqual([`ready ${running.url}`]);
    expect((await send(running, "/api/v1/nodes", { headers: { authorization: "Bearer secret" } })).status).toBe(200);
  });
});
