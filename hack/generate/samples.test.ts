// Everything under manifests/samples fits the schemas as it stands there, before any webhook.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { parseAllDocuments } from "yaml";
import { allKinds } from "../../api/index.ts";
import { apiVersionOf } from "../../api/meta/resource.ts";
import { compileSchema } from "../../schema/compile.ts";

const folder = fileURLToPath(new URL("../../manifests/samples/", import.meta.url));
const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".yaml"))
  .sort();
const schemas = new Map(allKinds.map((kind) => [`${apiVersionOf(kind.resource)} ${kind.resource.kind}`, compileSchema(kind.schema)]));

describe("samples", () => {
  it("there are some", () => expect(files).toContain("quickstart/cluster.yaml"));

  it.each(files)("%s", (file) => {
    for (const document of parseAllDocuments(readFileSync(folder + file, "utf8"))) {
      expect(document.errors).toEqual([]);
      const object = document.toJS() as { apiVersion: string; kind: string };
      const schema = schemas.get(`${object.apiVersion} ${object.kind}`);
      if (!schema) continue; // a built-in kind
      const unknown: string[] = [];
      const kept = schema.defaultAndPrune(object, { onUnknown: (path) => unknown.push(path) });
      expect([object.kind, unknown, schema.validate(kept)]).toEqual([object.kind, [], []]);
    }
  });
});
