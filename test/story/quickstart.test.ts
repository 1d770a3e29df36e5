// The golden copy of the story, and what must hold whatever the order. UPDATE_GOLDEN=1 rewrites the copy: then read the difference.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import { kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import { eventResource } from "../../api/core/index.ts";
import { findCondition } from "../../runtime/conditions.ts";
import { bringUp, configsHold, identities, isAtVersion, isUpToDate, openStory, sampleFile, type Story, tell } from "./quickstart.ts";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const GOLDEN = path.join(HERE, "quickstart.log");
const LIMIT_MS = 120_000;

const run = (seed: number, timeZone: string): string => {
  const done = spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", path.join(HERE, "quickstart.ts"), String(seed)], {
    env: { ...process.env, TZ: timeZone, NODE_OPTIONS: "" },
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (done.status !== 0 || !done.stdout.endsWith("# the end\n")) throw new Error(`the story broke off: ${done.stderr}`);
  return done.stdout;
};

describe("the story of the README on virtual time", () => {
  it(
    "gives the golden log in processes of different time zones",
    () => {
      const [here, there] = [run(1, "America/St_Johns"), run(1, "Asia/Kathmandu")];
      expect(there).toBe(here);
      if (process.env.UPDATE_GOLDEN || !existsSync(GOLDEN)) writeFileSync(GOLDEN, here);
      expect(here.split("\n")).toEqual(readFileSync(GOLDEN, "utf8").split("\n"));
    },
    LIMIT_MS,
  );

  it(
    "gives another order and the same end for another seed",
    async () => {
      const [one, two] = [await tell(1), await tell(2)];
      expect(two).not.toEqual(one);
      const marks = (lines: readonly string[]) => lines.filter((l) => l.startsWith("# "));
      expect(marks(two)).toEqual(marks(one));
      expect(marks(one)).toContain("# the same Machines, by name and UID");
      expect(marks(one).some((m) => m.startsWith("# other Machines"))).toBe(false);
    },
    LIMIT_MS,
  );
});

const conditionOf = async (story: Story, type: string): Promise<readonly string[]> => {
  const kcp = await story.user.get(kubeadmControlPlaneResource, { namespace: "default", name: "quickstart-control-plane" });
  const md = await story.user.get(machineDeploymentResource, { namespace: "default", name: "quickstart-workers" });
  return [kcp, md].map((o) => findCondition(o.status?.conditions, type)?.message ?? "");
};
const eventTexts = async (story: Story): Promise<readonly string[]> =>
  (await story.user.list(eventResource, { namespace: "default" })).items.map((e) => `${e.involvedObject.kind} ${e.reason}: ${e.message}`);

describe.each([7])("with seed %i", (seed) => {
  it(
    "a changed file reaches the same Machines, one at a time",
    async () => {
      const story = await openStory({ seed });
      await bringUp(story);
      const before = identities(await story.machines());
      const { path: file, content } = sampleFile();
      let together = 0;
      await story.apply("quickstart-file-change");
      await story.virtual.until("the file everywhere", async () => {
        const updating = (await story.machines()).filter((m) => findCondition(m.status?.conditions, "Updating")?.status === "True");
        for (const part of ["control-plane", "workers"])
          together = Math.max(together, updating.filter((m) => m.metadata.name?.includes(part)).length);
        return (await story.machines()).every(isUpToDate) && (await configsHold(story, file, content));
      });
      expect(together).toBe(1);
      expect(identities(await story.machines())).toEqual(before);
      expect((await story.fileOnHosts(file)).map(([, text]) => text)).toEqual(Array(6).fill(content));
      story.virtual.stop();
    },
    LIMIT_MS,
  );

  it(
    "a new version reaches the same Machines and their Nodes",
    async () => {
      const story = await openStory({ seed });
      await bringUp(story);
      const before = identities(await story.machines());
      // Each sample builds on those before it.
      await story.apply("quickstart-file-change");
      await story.apply("quickstart-version");
      await story.untilMachines("the new version", isAtVersion("v1.36.0"));
      expect(identities(await story.machines())).toEqual(before);
      story.virtual.stop();
    },
    LIMIT_MS,
  );

  it(
    "with the gate off Machines are replaced",
    async () => {
      const story = await openStory({ seed, gates: { InPlaceUpdates: false } });
      await bringUp(story);
      const before = new Set(identities(await story.machines()));
      await story.apply("quickstart-file-change");
      await story.untilMachines("all replaced", (m) => isUpToDate(m) && !before.has(`${m.metadata.name} ${m.metadata.uid}`));
      story.virtual.stop();
    },
    LIMIT_MS,
  );

  it(
    "a change that the updater does not cover replaces Machines and says why",
    async () => {
      const story = await openStory({ seed });
      await bringUp(story);
      const before = new Set(identities(await story.machines()));
      await story.apply("quickstart-file-change");
      await story.apply("quickstart-version");
      await story.untilMachines("the new version", isAtVersion("v1.36.0"));
      await story.apply("quickstart-replace");
      await story.virtual.until("a reason before the first delete", async () =>
        (await conditionOf(story, "RollingOut")).some((text) => text.includes("backend.inMemory")),
      );
      await story.untilMachines(
        "workers replaced",
        (m) => isUpToDate(m) && before.has(`${m.metadata.name} ${m.metadata.uid}`) === m.metadata.name?.includes("control-plane"),
      );
      expect((await eventTexts(story)).join("\n")).toMatch(/MachineDeployment .*backend\.inMemory/);
      story.virtual.stop();
    },
    LIMIT_MS,
  );
});
