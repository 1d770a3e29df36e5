// The package as npm packs and installs it, in an empty folder: content, exports, declarations, the command.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");
const LIMIT_MS = 300_000;
const BUILD_SETTINGS = "tsconfig.build.json";

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Three lines of a user's script, and one request to see that it answers. */
const SERVER_SCRIPT = `
import { startApiServer } from "theseus-capi/apiserver";
const api = await startApiServer();
console.log(api.url);

import https from "node:https";
https.get(api.url + "/version", { ca: api.ca, headers: { authorization: "Bearer " + api.token } }, (answer) => {
  console.log(answer.statusCode);
  answer.resume().on("end", () => api.stop());
});
`;

const HOOKS_SCRIPT = `
import { CanUpdateMachine, coversMachine, extension } from "theseus-capi/hooks";
import { serveExtension } from "theseus-capi/hooks/server";
const e = extension("mine").on(CanUpdateMachine, (request) => coversMachine(request, { machine: [".spec.version"] }));
const side = (version) => ({ machine: { spec: { version } }, infrastructureMachine: {}, bootstrapConfig: {} });
const answer = await e.call(CanUpdateMachine, { current: side("v1.35.0"), desired: side("v1.36.0") });
console.log(answer.status, typeof serveExtension, Buffer.from(answer.machinePatch.patch, "base64").toString());
`;

const SIMULATOR_SCRIPT = `
import { adminClient, allKinds, startSimulation } from "theseus-capi/simulator";
const simulation = await startSimulation({ seed: 1 });
const kind = allKinds.find((k) => k.resource.kind === "ExtensionConfig");
const user = adminClient(simulation.server, "me");
await simulation.until("the updater is discovered", async () =>
  (await user.list(kind.resource)).items.some((c) => (c.status?.handlers ?? []).length > 0),
);
simulation.stop();
console.log("discovered", new Date(simulation.clock.nowMs()).getUTCFullYear());
`;

const TYPES = `
import { type RunningApiServer, startApiServer } from "theseus-capi/apiserver";
import { CanUpdateMachine, coversMachine, done, type Extension, extension, UpdateMachine, working } from "theseus-capi/hooks";
import { type RunningExtension, serveExtension } from "theseus-capi/hooks/server";
import { startSimulation, type Virtual } from "theseus-capi/simulator";

const mine: Extension = extension("mine")
  .on(CanUpdateMachine, (request) => coversMachine(request, { machine: [".spec.version"] }))
  .on(UpdateMachine, ({ desired }) => (desired.machine.metadata.name === "a" ? done("it is a") : working("not yet", 10)));
export const served: Promise<RunningExtension> = serveExtension(mine, { port: 0 });
export const api: Promise<RunningApiServer> = startApiServer({ port: 0 });
export const simulation: Promise<Virtual> = startSimulation({ seed: 1, featureGates: "InPlaceUpdates=false" });
// @ts-expect-error a port is a number
startApiServer({ port: "6443" });
// @ts-expect-error no hook of this name
extension("mine").on("CanUpdateMachines", () => done("never"));
`;

describe("the package", () => {
  let folder = "";
  let packed: Packed;
  // Tools of ours run with this Node; npm_* variables of the run that tests us are not for them.
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))),
    PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH ?? ""}`,
    NODE_OPTIONS: "",
  };

  function run(where: string, command: string, ...args: string[]): string {
    const done = spawnSync(command, args, { cwd: where, env, encoding: "utf8", timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 });
    if (done.status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${done.status}:\n${done.stdout}\n${done.stderr}`);
    return done.stdout;
  }
  const script = (name: string, text: string): readonly string[] => {
    writeFileSync(path.join(folder, "user", name), text);
    return run(path.join(folder, "user"), process.execPath, name).trim().split("\n");
  };

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "theseus-package-"));
    const [stage, user] = [path.join(folder, "stage"), path.join(folder, "user")];
    for (const made of [stage, user]) mkdirSync(made);
    run(ROOT, path.join(ROOT, "node_modules/.bin/tsc"), "-p", BUILD_SETTINGS, "--outDir", path.join(stage, "dist"));
    for (const name of ["package.json", "manifests", "README.md", "LICENSE"])
      if (existsSync(path.join(ROOT, name))) cpSync(path.join(ROOT, name), path.join(stage, name), { recursive: true });
    packed = (JSON.parse(run(stage, "npm", "pack", "--json", "--ignore-scripts")) as readonly Packed[])[0] as Packed;
    writeFileSync(path.join(user, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
    run(user, "npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", path.join(stage, packed.filename));
  }, LIMIT_MS);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("holds what was built and the manifests; no sources, tests or settings", () => {
    const paths = packed.files.map((f) => f.path);
    expect([...new Set(paths.map((p) => p.split("/")[0]))].sort()).toEqual(["LICENSE", "README.md", "dist", "manifests", "package.json"]);
    expect(paths.filter((p) => /(?<!\.d)\.ts$|\.test\.|testing|\.contract\./.test(p))).toEqual([]);
    for (const wanted of [
      "dist/cmd/main.js",
      "dist/apiserver/real/index.d.ts",
      "manifests/manager/rbac.yaml",
      "manifests/samples/README.md",
    ])
      expect(paths).toContain(wanted);
  });

  it("exports files that are there", () => {
    const { exports, bin } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
      exports: Record<string, Record<string, string>>;
      bin: Record<string, string>;
    };
    const paths = packed.files.map((f) => `./${f.path}`);
    const named = [...Object.values(exports).flatMap((e) => [e.types ?? "", e.default ?? ""]), ...Object.values(bin)];
    expect(named.filter((file) => !paths.includes(file))).toEqual([]);
    // The sources are for the repository's own tools, which ask for them by this condition.
    for (const conditions of Object.values(exports)) expect(Object.keys(conditions)).toEqual(["source", "types", "default"]);
  });

  it("starts the server in three lines", () => {
    const [url, status] = script("server.js", SERVER_SCRIPT);
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(status).toBe("200");
  });

  it("has the extension SDK", () => {
    const [line] = script("hooks.js", HOOKS_SCRIPT);
    expect(line).toMatch(/^Success function .*"\/spec\/version"|^Success function .*v1\.36\.0/);
  });

  it("has the simulator, which runs in virtual time", () => {
    expect(script("simulator.js", SIMULATOR_SCRIPT)).toEqual(["discovered 2026"]);
  });

  it("has declarations that a strict user's compiler takes", () => {
    const user = path.join(folder, "user");
    writeFileSync(path.join(user, "types.ts"), TYPES);
    const compilerOptions = {
      target: "ES2024",
      lib: ["ES2024", "DOM"],
      module: "nodenext",
      strict: true,
      noEmit: true,
      types: ["node"],
      typeRoots: [path.join(ROOT, "node_modules/@types")],
    };
    writeFileSync(path.join(user, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["types.ts"] }));
    expect(run(user, path.join(ROOT, "node_modules/.bin/tsc"), "-p", ".")).toBe("");
  });

  it("has the command theseus", () => {
    const user = path.join(folder, "user");
    const { version } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { version: string };
    expect(run(user, "npx", "--no-install", "theseus", "version")).toBe(`theseus ${version} (Node.js ${process.version})\n`);
    expect(run(user, "npx", "--no-install", "theseus", "install")).toContain("name: machines.cluster.x-k8s.io");
  });
});
