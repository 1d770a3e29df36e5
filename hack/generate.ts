// Writes what follows from the sources: manifests/crd, manifests/webhooks and docs/reference. With --verify: writes nothing, exits 1 when they differ.
import { fileURLToPath } from "node:url";
import { crdFiles } from "./generate/crds.ts";
import { drift, write } from "./generate/files.ts";
import { referenceFiles } from "./generate/reference.ts";
import { webhookFiles } from "./generate/webhooks.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const files = [...crdFiles(), ...webhookFiles(), ...referenceFiles()];
const [flag, ...rest] = process.argv.slice(2);

if ((flag !== undefined && flag !== "--verify") || rest.length > 0) {
  console.error(`generate: unknown argument "${flag === "--verify" ? rest[0] : flag}"; the only one is --verify`);
  process.exitCode = 64;
} else if (flag === "--verify") {
  const differences = drift(root, files);
  for (const difference of differences) console.error(difference);
  if (differences.length > 0) console.error("run: npm run generate");
  process.exitCode = differences.length > 0 ? 1 : 0;
} else {
  write(root, files);
}
