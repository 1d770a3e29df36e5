// The golden copy of the rollouts, and their bounds. `node test/rollouts/stories.ts > test/rollouts/stories.log` writes it anew: then read the difference.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { rollouts, tellRollout, titleOf } from "./stories.ts";

const GOLDEN = path.join(path.dirname(fileURLToPath(import.meta.url)), "stories.log");
const LIMIT_MS = 300_000;

const golden = new Map(
  readFileSync(GOLDEN, "utf8")
    .split(/^(?=# )/m)
    .map((story) => [story.split("\n")[0]?.slice(2), story.trimEnd()] as const),
);

describe("a rollout goes as it did", () => {
  it.each(rollouts.map((settings) => [titleOf(settings), settings] as const))(
    "%s",
    async (title, settings) => {
      expect((await tellRollout(settings)).join("\n").trimEnd()).toBe(golden.get(title));
    },
    LIMIT_MS,
  );
});
