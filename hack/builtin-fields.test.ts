import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { createTypeSet } from "../apiserver/builtin/types.ts";
import { builtinFields } from "./builtin-fields.ts";

it("the field table of built-in kinds is what the models say (else: node hack/builtin-fields.ts)", () => {
  const written = readFileSync(new URL("../apiserver/builtin/fields.data.ts", import.meta.url), "utf8");
  expect(builtinFields() === written).toBe(true);
});

it("every table of facts speaks of types and fields that exist", async () => {
  const facts = await import("../apiserver/builtin/facts.ts");
  const types = createTypeSet();
  const known = new Set(types.keys());
  const wrong: string[] = [];
  for (const table of [facts.PRESENCE, facts.LISTS, facts.QUANTITIES, facts.LOOSE]) {
    for (const line of table.trim().split("\n")) {
      const [key = "", ...words] = line.split(" ");
      if (!known.has(key)) wrong.push(key);
      else {
        const fields = types.get(key).fields;
        for (const word of words) if (!fields.has(word.replace(/[!?~#]$|=.*$/, ""))) wrong.push(`${key} ${word}`);
      }
    }
  }
  for (const key of facts.ATOMIC.trim().split(/\s+/)) if (!known.has(key)) wrong.push(key);
  expect(wrong).toEqual([]);
});
