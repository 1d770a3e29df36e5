import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { connect as connectTcp } from "node:net";
import { afterEach, describe, expect, it } from "@jest/globals";
import { createNodePki } from "../../../runtime/base/real/node-pki.ts";
import { systemClock } from "../../../runtime/base/real/system-clock.ts";
import { etcdOverStream } from "./etcd-gateway.ts";
import { servingCertificateExpiryMs } from "./serving-certificate.ts";

const pki = createNodePki({ clock: systemClock });
const YEAR_MS = 365 * 24 * 3_600_000;
const ca = pki.createCa("etcd-ca", YEAR_MS, "ECDSA-P256");
const leaf = (commonName: string, usage: "server" | "client", signer = ca) =>
  pki.issue(signer, { commonName, names: ["10.0.0.1"], usages: [usage], validForMs: YEAR_MS, algorithm: "ECDSA-P256" });

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
});

type Answer = readonly [status: number, body: object];

/** An etcd that answers by path and keeps what it was asked. */
async function serve(answers: Readonly<Record<string, Answer>>, commonName = "etcd") {
  const asked: string[] = [];
  const { certificate, key } = leaf(commonName, "server");
  const server = createServer(
    { cert: certificate, key, ca: ca.certificate, requestCert: true, rejectUnauthorized: commonName === "etcd" },
    (req, res) => {
      let body = "";
      req.on("data", (chunk) => {
        body += chunk;
      });
      req.on("end", () => {
        asked.push(`${req.method} ${req.url} ${body}`);
        const [status, answer] = answers[req.url ?? ""] ?? [404, { code: 5, message: "no such path" }];
        res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
      });
    },
  );
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const stream = () => connectTcp((server.address() as AddressInfo).port, "127.0.0.1");
  return { asked, stream };
}
const credentials = { ca: ca.certificate, client: leaf("cluster-api.x-k8s.io", "client") };

describe("etcd over its JSON gateway", () => {
  it("asks and reads as the seam wants it; ids stay texts", async () => {
    const { asked, stream } = await serve({
      "/v3/maintenance/status": [200, { header: { member_id: "9372538179322589801" }, version: "3.6.4", leader: "9372538179322589801" }],
      "/v3/cluster/member/list": [
        200,
        {
          header: { cluster_id: "17" },
          members: [
            { ID: "9372538179322589801", name: "n1", peerURLs: ["p"] },
            { ID: "2", isLearner: true },
          ],
        },
      ],
      "/v3/maintenance/alarm": [200, { alarms: [{ memberID: "2", alarm: "NOSPACE" }] }],
      "/v3/cluster/member/remove": [200, {}],
      "/v3/maintenance/transfer-leadership": [200, {}],
    });
    const etcd = await etcdOverStream(stream(), "etcd-n1", credentials);
    expect(await etcd.status()).toEqual({
      leader: "9372538179322589801",
      memberId: "9372538179322589801",
      version: "3.6.4",
      isLearner: false,
      errors: [],
    });
    expect((await etcd.memberList()).members).toEqual([
      { id: "9372538179322589801", name: "n1", isLearner: false, peerUrls: ["p"], clientUrls: [] },
      { id: "2", name: "", isLearner: true, peerUrls: [], clientUrls: [] },
    ]);
    expect(await etcd.alarms()).toEqual([{ memberId: "2", type: "NOSPACE" }]);
    await etcd.memberRemove("2");
    await etcd.moveLeader("9372538179322589801");
    etcd.close();
    expect(asked).toEqual([
      "POST /v3/maintenance/status {}",
      'POST /v3/cluster/member/list {"linearizable":true}',
      'POST /v3/maintenance/alarm {"action":"GET","memberID":"0","alarm":"NONE"}',
      'POST /v3/cluster/member/remove {"ID":"2"}',
      'POST /v3/maintenance/transfer-leadership {"targetID":"9372538179322589801"}',
    ]);
  });

  it("tells a refusal by its code", async () => {
    const { stream } = await serve({ "/v3/maintenance/transfer-leadership": [400, { code: 9, message: "etcdserver: not leader" }] });
    const etcd = await etcdOverStream(stream(), "etcd-n1", credentials);
    await expect(etcd.moveLeader("1")).rejects.toMatchObject({ code: "FAILED_PRECONDITION", message: "etcdserver: not leader" });
    etcd.close();
  });

  it("does not talk to a server of another CA", async () => {
    const { stream } = await serve({});
    const stranger = pki.createCa("other", YEAR_MS, "ECDSA-P256");
    await expect(etcdOverStream(stream(), "etcd-n1", { ...credentials, ca: stranger.certificate })).rejects.toThrow();
  });
});

describe("servingCertificateExpiryMs", () => {
  it("reads the end of validity without trusting the server", async () => {
    const { stream } = await serve({}, "kube-apiserver");
    const expiry = await servingCertificateExpiryMs(stream(), "kube-apiserver");
    expect(Math.abs(expiry - Date.now() - YEAR_MS)).toBeLessThan(600_000);
  });
  it("refuses another certificate", async () => {
    const { stream } = await serve({}, "somebody");
    await expect(servingCertificateExpiryMs(stream(), "kube-apiserver")).rejects.toThrow('for "somebody", kube-apiserver was expected');
  });
});
