// An extension that answers garbage, cannot be reached, or fails: the rollout waits, says who, and deletes nothing; then it goes on.
import { describe, expect, it } from "@jest/globals";
import { kubeadmControlPlaneResource } from "../../api/kubeadmcontrolplane.ts";
import { machineDeploymentResource } from "../../api/machinedeployment.ts";
import type { HookTransport } from "../../hooks/transport.ts";
import { findCondition } from "../../runtime/conditions.ts";
import { bringUp, configsHold, identities, isUpToDate, openStory, sampleFile, type Story } from "./quickstart.ts";

const LIMIT_MS = 180_000;
const WAIT_MS = 900_000;

type Broken = (hook: string) => ReturnType<HookTransport> | undefined;

const answer = (body: object): ReturnType<HookTransport> => Promise.resolve({ status: 200, body });

async function openBroken(broken: Broken): Promise<{ readonly story: Story; mend(): void; readonly calls: string[] }> {
  let on = false;
  const calls: string[] = [];
  const story = await openStory({
    seed: 3,
    hooks: (updater) => (call) => {
      const hook = /\/v1alpha1\/([a-z]+)/.exec(call.url)?.[1] ?? "";
      calls.push(hook);
      return (on && broken(hook)) || updater(call);
    },
  });
  await bringUp(story);
  on = true;
  const mend = (): void => {
    on = false;
  };
  return { story, calls, mend };
}

async function rollouts(story: Story): Promise<readonly string[]> {
  const key = (name: string) => ({ namespace: "default", name });
  const kcp = await story.user.get(kubeadmControlPlaneResource, key("quickstart-control-plane"));
  const md = await story.user.get(machineDeploymentResource, key("quickstart-workers"));
  return [kcp, md].map((o) => {
    const condition = findCondition(o.status?.conditions, "RollingOut");
    return `${condition?.status}: ${condition?.message}`;
  });
}

async function everyThing(story: Story): Promise<readonly string[]> {
  return (await story.machines()).map((m) => `${m.metadata.uid} ${m.metadata.deletionTimestamp ?? "lives"}`).sort();
}

const isAsk = (hook: string): boolean => hook.startsWith("canupdate");

describe("an extension that cannot be asked", () => {
  it.each<[string, Broken, RegExp]>([
    ["answers garbage", (hook) => (isAsk(hook) ? answer({ status: "banana", retryAfterSeconds: "soon" }) : undefined), /kubeadm-updater/],
    [
      "answers with a patch that does not apply",
      (hook) =>
        isAsk(hook)
          ? answer({
              status: "Success",
              machinePatch: { patchType: "JSONPatch", patch: "e30=" },
              machineSetPatch: { patchType: "JSONPatch", patch: "e30=" },
            })
          : undefined,
      /kubeadm-updater/,
    ],
    [
      "answers Failure",
      (hook) => (isAsk(hook) ? answer({ status: "Failure", message: "no licence" }) : undefined),
      /kubeadm-updater.*no licence/s,
    ],
    [
      "cannot be reached",
      (hook) => (isAsk(hook) ? Promise.reject(new Error("connect ECONNREFUSED")) : undefined),
      /kubeadm-updater.*ECONNREFUSED/s,
    ],
  ])(
    "that %s leaves everything as it is, and goes on when it is back",
    async (_, broken, told) => {
      const { story, mend } = await openBroken(broken);
      const before = await everyThing(story);
      await story.apply("quickstart-file-change");
      await story.virtual.pass(WAIT_MS);
      expect(await everyThing(story)).toEqual(before);
      for (const text of await rollouts(story)) expect(text).toMatch(new RegExp(`^True: .*${told.source}`, "s"));
      mend();
      const { path, content } = sampleFile();
      await story.virtual.until(
        "the file everywhere",
        async () => (await story.machines()).every(isUpToDate) && configsHold(story, path, content),
      );
      expect(await everyThing(story)).toEqual(before);
      story.virtual.stop();
    },
    LIMIT_MS,
  );
});

describe("an extension that fails to update", () => {
  it(
    "leaves the Machine in its update with the reason, calls with back-off, and goes on when it is back",
    async () => {
      const { story, mend, calls } = await openBroken((hook) =>
        hook === "updatemachine" ? answer({ status: "Failure", message: "disk is full", retryAfterSeconds: 0 }) : undefined,
      );
      const before = identities(await story.machines());
      await story.apply("quickstart-file-change");
      calls.length = 0;
      await story.virtual.pass(WAIT_MS);
      expect(identities(await story.machines())).toEqual(before);
      const updating = (await story.machines())
        .map((m) => findCondition(m.status?.conditions, "Updating"))
        .filter((c) => c?.status === "True");
      // One control plane Machine and one worker.
      expect(updating.map((c) => c?.reason)).toEqual(["InPlaceUpdateFailed", "InPlaceUpdateFailed"]);
      for (const condition of updating) expect(condition?.message).toMatch(/kubeadm-updater.*disk is full/s);
      expect(calls.filter((c) => c === "updatemachine").length).toBeLessThanOrEqual(40);
      mend();
      const { path, content } = sampleFile();
      await story.virtual.until(
        "the file everywhere",
        async () => (await story.machines()).every(isUpToDate) && configsHold(story, path, content),
      );
      expect(identities(await story.machines())).toEqual(before);
      story.virtual.stop();
    },
    LIMIT_MS,
  );
});
