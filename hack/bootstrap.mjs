// Set-up and start, on any Node from 20 on and with nothing installed yet: plain JavaScript, Node's own modules only.
// Here: install exactly what package-lock.json names (once), find or install a Node that is new enough, run a command with it.
// Not here: the commands (cmd/, hack/test.ts, hack/check.ts).
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

// Runs the sources by stripping their types; older versions cannot. The package has no install script and brings the binary itself.
const NODE_PINNED = "24.22.3";
const NODE_MIN = [22, 19];

const root = realpathSync(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const modules = path.join(root, "node_modules");
const stampFile = path.join(modules, ".theseus-set-up");
const lockFolder = path.join(root, ".set-up-lock");
const say = (text) => process.stderr.write(`theseus: ${text}\n`);

function fail(text) {
  say(text);
  process.exit(1);
}

const newEnough = (version) => {
  const [major, minor] = version.replace(/^v/, "").split(".").map(Number);
  return major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
};

const binFolder = path.join(modules, ".bin");
const pinnedNode = path.join(binFolder, process.platform === "win32" ? "node.exe" : "node");
// npm scripts find the pinned Node before the machine's own; it must not count as the latter.
const ownNodeServes = newEnough(process.version) && !realpathSync(process.execPath).startsWith(modules + path.sep);
const nodeBinary = () => (ownNodeServes ? process.execPath : pinnedNode);

const wanted = () =>
  createHash("sha256")
    .update(readFileSync(path.join(root, "package-lock.json")))
    .update(ownNodeServes ? "own node" : NODE_PINNED)
    .digest("hex");

const isSetUp = () => existsSync(stampFile) && readFileSync(stampFile, "utf8") === wanted() && existsSync(nodeBinary());

const pathWithout = (folder) =>
  (process.env.PATH ?? "")
    .split(path.delimiter)
    .filter((entry) => path.resolve(entry) !== folder)
    .join(path.delimiter);

function npm(...args) {
  const done = spawnSync("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    // With the machine's own Node: the pinned one may be replaced by this very call.
    env: { ...process.env, PATH: pathWithout(binFolder) },
    shell: process.platform === "win32",
  });
  if (done.error) fail(`npm could not be started (${done.error.message}); install Node.js with npm and try again`);
  if (done.status !== 0)
    fail(`npm ${args.join(" ")} failed; see the lines above, mend the cause (often the network or a proxy) and run again`);
}

// In a folder of its own, so that npm does not look at all packages again; linked to where npm scripts look first.
function installNode() {
  const platform = process.platform === "win32" ? "win" : process.platform;
  // Published under a longer name, since the short one was taken.
  const prefix = platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node";
  const name = `${prefix}-${platform}-${process.arch}`;
  const folder = path.join(modules, ".node");
  mkdirSync(folder, { recursive: true });
  npm("install", "--no-save", "--prefix", folder, `${name}@${NODE_PINNED}`);
  const binary = path.join(folder, "node_modules", name, "bin", path.basename(pinnedNode));
  rmSync(pinnedNode, { force: true });
  if (process.platform === "win32") copyFileSync(binary, pinnedNode);
  else symlinkSync(path.relative(path.dirname(pinnedNode), binary), pinnedNode);
}

// Two commands started at once in a fresh clone must not install into each other.
function withLock(task) {
  const giveUpAtMs = Date.now() + 10 * 60_000;
  for (;;) {
    try {
      mkdirSync(lockFolder);
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (lockIsDead()) rmSync(lockFolder, { recursive: true, force: true });
      else if (Date.now() > giveUpAtMs) fail(`another set-up holds ${lockFolder}; remove that folder if none runs`);
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    }
  }
  writeFileSync(path.join(lockFolder, "pid"), String(process.pid));
  try {
    task();
  } finally {
    rmSync(lockFolder, { recursive: true, force: true });
  }
}

function lockIsDead() {
  try {
    process.kill(Number(readFileSync(path.join(lockFolder, "pid"), "utf8")), 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

function setUp() {
  if (isSetUp()) return;
  withLock(() => {
    if (isSetUp()) return;
    say("installing packages (once)");
    npm("ci");
    if (!ownNodeServes) {
      say(`Node ${process.version} is older than ${NODE_MIN.join(".")}: installing Node ${NODE_PINNED} beside it`);
      installNode();
    }
    writeFileSync(stampFile, wanted());
  });
}

function run(args) {
  const env = { ...process.env, NODE_COMPILE_CACHE: path.join(modules, ".cache", "theseus") };
  env.PATH = `${binFolder}${path.delimiter}${env.PATH ?? ""}`;
  const child = spawn(nodeBinary(), ["--disable-warning=ExperimentalWarning", ...args], { stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(`${nodeBinary()} could not be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 1);
  });
}

const targets = {
  dev: (args) => [path.join(root, "cmd/main.ts"), "dev", ...args],
  run: (args) => [path.join(root, "cmd/main.ts"), ...args],
  test: (args) => [path.join(root, "hack/test.ts"), ...args],
  check: (args) => [path.join(root, "hack/check.ts"), ...args],
  node: (args) => args,
};

const [target, ...args] = process.argv.slice(2);
if (!Object.hasOwn(targets, target ?? "")) fail(`usage: node hack/bootstrap.mjs ${Object.keys(targets).join("|")} ARGS`);
if (!newEnough(process.version) && Number(process.versions.node.split(".")[0]) < 20)
  fail(`Node ${process.version} is too old; install Node 20 or newer`);
setUp();
run(targets[target](args));
