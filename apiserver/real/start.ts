// A whole server on a port: credentials, store, kinds, pipeline, HTTPS. Here: putting it together and taking it apart.
// Not here: flags (serve.ts), each part.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { UserInfo } from "../../api/meta/transport.ts";
import { type Logger, silentLogger } from "../../runtime/base/log.ts";
import type { KeyPair } from "../../runtime/base/pki.ts";
import { cryptoRandom } from "../../runtime/base/real/crypto-random.ts";
import { systemClock } from "../../runtime/base/real/system-clock.ts";
import { webhookPlugin } from "../admission/index.ts";
import type { AdmissionPlugin } from "../admission-seam.ts";
import { authenticators, serviceAccountTokens, staticTokens, tokenIssuer } from "../auth/index.ts";
import type { ServerContext } from "../context.ts";
import { ensureCrds } from "../crd/index.ts";
import type { ApiServer } from "../server.ts";
import { standardServer } from "../standard.ts";
import type { Store } from "../store/store.ts";
import { createMemoryStore } from "../store/memory.ts";
import { createWebhookCaller } from "./call-webhook.ts";
import { readCrds } from "./crd-files.ts";
import { type Credentials, loadCredentials } from "./credentials.ts";
import { openFileStore } from "./file-store.ts";
import { type Front, listen } from "./https-front.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import { createTokenSigner } from "./token-signer.ts";

export interface StartOptions {
  /** 0 = any free port. Default 0. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly bindAddress?: string;
  /** Keeps objects, CA and keys over restarts. Default: nothing is kept. */
  readonly dataDir?: string;
  /** Users by bearer token, beside the admin's own token. */
  readonly tokens?: ReadonlyMap<string, UserInfo>;
  /** PEM of a CA whose client certificates name users, beside the server's own. */
  readonly clientCa?: string;
  /** Serving certificate instead of one from the own CA. */
  readonly serving?: KeyPair;
  /** Default RBAC. */
  readonly authorizationMode?: "RBAC" | "AlwaysAllow";
  /** Directories of CustomResourceDefinitions (YAML or JSON) that are served when this returns. */
  readonly crdDirs?: readonly string[];
  /** Plugins that run before webhooks outside are asked, such as webhook functions in the same process. */
  readonly admission?: (server: ServerContext) => readonly AdmissionPlugin[];
  /** Garbage collection, namespace clean-up and the like. Default true. */
  readonly backgroundControllers?: boolean;
  readonly log?: Logger;
}

export interface RunningApiServer {
  readonly url: string;
  readonly port: number;
  /** PEM that clients trust. */
  readonly ca: string;
  /** Text of a kubeconfig of a user in system:masters. */
  readonly adminKubeconfig: string;
  /** Bearer token of the same user. */
  readonly token: string;
  /** The server in process. */
  readonly server: ApiServer;
  stop(): Promise<void>;
}

const ADMIN: UserInfo = { username: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };

const hostForUrl = (address: string): string => {
  if (address === "0.0.0.0" || address === "::" || address === "") return "127.0.0.1";
  return address.includes(":") ? `[${address}]` : address;
};

export async function startApiServer(options: StartOptions = {}): Promise<RunningApiServer> {
  const bindAddress = options.bindAddress ?? "127.0.0.1";
  if (options.dataDir !== undefined) mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  const log = options.log ?? silentLogger;
  // The store's lock also guards the credentials beside it.
  const store: Store =
    options.dataDir === undefined ? createMemoryStore() : openFileStore({ directory: join(options.dataDir, "store"), log });
  let server: ApiServer | undefined;
  try {
    const credentials = loadCredentials({
      clock: systemClock,
      directory: options.dataDir === undefined ? undefined : join(options.dataDir, "pki"),
      names: namesFor(bindAddress),
      serving: options.serving,
    });
    server = assemble(options, credentials, store, log);
    await server.start();
    await ensureCrds(server, readCrds(options.crdDirs ?? []));
    const front = await listen({
      handle: server.handle,
      host: bindAddress,
      port: options.port ?? 0,
      certificate: credentials.serving.certificate,
      key: credentials.serving.key,
      clientCas: [credentials.ca.certificate, ...(options.clientCa === undefined ? [] : [options.clientCa])],
      log,
    });
    return running(options, bindAddress, credentials, server, front);
  } catch (error) {
    server?.stop();
    store.close();
    throw error;
  }
}

function assemble(options: StartOptions, credentials: Credentials, store: Store, log: Logger): ApiServer {
  const tokens = { signer: createTokenSigner(credentials.serviceAccountKey.privateKey), random: cryptoRandom };
  const users = staticTokens(new Map([...(options.tokens ?? []), [credentials.adminToken, ADMIN]]));
  return standardServer({
    clock: systemClock,
    random: cryptoRandom,
    store,
    log,
    authenticator: (core) => authenticators(users, serviceAccountTokens(tokens)(core)),
    issueToken: tokenIssuer(tokens),
    authorizationMode: options.authorizationMode,
    backgroundControllers: options.backgroundControllers,
    admission: (core) => [...(options.admission?.(core) ?? []), webhookPlugin(core, createWebhookCaller(core))],
  });
}

function running(options: StartOptions, bindAddress: string, credentials: Credentials, server: ApiServer, front: Front): RunningApiServer {
  const url = `https://${hostForUrl(bindAddress)}:${front.port}`;
  const ca = options.serving ? options.serving.certificate : credentials.ca.certificate;
  return {
    url,
    port: front.port,
    ca,
    adminKubeconfig: kubeconfigText({ url, ca, client: credentials.admin }),
    token: credentials.adminToken,
    server,
    async stop() {
      server.stop();
      await front.close();
      server.store.close();
    },
  };
}

const namesFor = (bindAddress: string): readonly string[] => {
  const names = [
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "127.0.0.1",
    "::1",
  ];
  return bindAddress === "" || bindAddress === "0.0.0.0" || bindAddress === "::" || names.includes(bindAddress)
    ? names
    : [...names, bindAddress];
};
