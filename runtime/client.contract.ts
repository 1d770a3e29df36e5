// What every Client must do, whatever carries it. Here: stories over ConfigMaps and Leases. Not here: who opens the client (client.test.ts).
import { describe, expect, it } from "@jest/globals";
import type { KubeObject } from "../api/meta/object.ts";
import { metadataOf, resource } from "../api/meta/resource.ts";
import { isAlreadyExists, isConflict, isExpired, isNotFound } from "../api/meta/status.ts";
import type { Client, WatchHandle } from "./client.ts";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
const ConfigMaps = resource<ConfigMap>("", "v1", "ConfigMap", "configmaps");

export interface Opened {
  readonly client: Client;
  /** Lets what was sent arrive: a turn in process, some time over sockets. */
  readonly arrive: (until: () => boolean) => Promise<void>;
  readonly close: () => Promise<void>;
}

export function clientContract(open: () => Promise<Opened>): void {
  const map = (name: string, data?: Record<string, string>, labels?: Record<string, string>): ConfigMap => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default", labels },
    data,
  });
  const at = (name: string) => ({ namespace: "default", name });
  const story = (title: string, run: (opened: Opened) => Promise<void>): void => {
    it(title, async () => {
      const opened = await open();
      try {
        await run(opened);
      } finally {
        await opened.close();
      }
    });
  };

  describe("client contract", () => {
    story("creates, reads, updates and deletes; answers are whole and read-only", async ({ client }) => {
      const made = await client.create(ConfigMaps, map("a", { x: "1" }));
      expect(made).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { x: "1" } });
      expect(Object.isFrozen((await client.get(ConfigMaps, at("a"))).data)).toBe(true);
      const updated = await client.update(ConfigMaps, { ...made, data: { x: "2" } });
      expect(updated.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion);
      await client.delete(ConfigMaps, at("a"));
      await expect(client.get(ConfigMaps, at("a"))).rejects.toMatchObject({ code: 404, reason: "NotFound" });
    });

    story("refusals are told apart by reason", async ({ client }) => {
      const made = await client.create(ConfigMaps, map("a"));
      const failure = (p: Promise<unknown>): Promise<unknown> =>
        p.then(
          () => undefined,
          (e: unknown) => e,
        );
      expect(isAlreadyExists(await failure(client.create(ConfigMaps, map("a"))))).toBe(true);
      expect(isNotFound(await failure(client.delete(ConfigMaps, at("b"))))).toBe(true);
      await client.update(ConfigMaps, { ...made, data: { x: "1" } });
      expect(isConflict(await failure(client.update(ConfigMaps, { ...made, data: { x: "2" } })))).toBe(true);
      const precondition = client.delete(ConfigMaps, at("a"), { preconditions: { uid: "another" } });
      expect(isConflict(await failure(precondition))).toBe(true);
    });

    story("patches by merge and by JSON patch", async ({ client }) => {
      await client.create(ConfigMaps, map("a", { x: "1", y: "1" }));
      await client.patch(ConfigMaps, at("a"), { type: "merge", body: { data: { x: null, z: "3" } } });
      const body = [{ op: "replace", path: "/data/y", value: "2" }];
      expect((await client.patch(ConfigMaps, at("a"), { type: "json", body })).data).toEqual({ y: "2", z: "3" });
    });

    story("applies under a field manager; another needs force", async ({ client }) => {
      await client.as("alice").apply(ConfigMaps, map("a", { x: "1" }));
      const bob = client.as("bob");
      await expect(bob.apply(ConfigMaps, map("a", { x: "2" }))).rejects.toMatchObject({ reason: "Conflict" });
      const forced = await bob.apply(ConfigMaps, map("a", { x: "2" }), { force: true });
      expect(forced.data).toEqual({ x: "2" });
      expect(forced.metadata.managedFields?.find((m) => m.manager === "bob")).toMatchObject({ operation: "Apply" });
    });

    story("a dry run answers and changes nothing", async ({ client }) => {
      const dry = await client.create(ConfigMaps, map("a"), { dryRun: true });
      expect(dry.metadata.uid).toBeDefined();
      await expect(client.get(ConfigMaps, at("a"))).rejects.toMatchObject({ reason: "NotFound" });
    });

    story("lists by label and in pages; items know their kind", async ({ client }) => {
      for (const name of ["a", "b", "c"]) await client.create(ConfigMaps, map(name, {}, { even: String(name === "b"), mine: "" }));
      const even = await client.list(ConfigMaps, { namespace: "default", labelSelector: "even=true" });
      expect(even.items.map((i) => `${i.kind} ${i.metadata.name}`)).toEqual(["ConfigMap b"]);
      const first = await client.list(ConfigMaps, { labelSelector: "mine", limit: 2 });
      const rest = await client.list(ConfigMaps, { labelSelector: "mine", limit: 2, continue: first.metadata.continue });
      expect([...first.items, ...rest.items].map((i) => i.metadata.name)).toEqual(["a", "b", "c"]);
    });

    story("reads and watches metadata alone", async ({ client, arrive }) => {
      const bare = metadataOf(ConfigMaps);
      await client.create(ConfigMaps, map("a", { secret: "x" }, { l: "1" }));
      const list = await client.list(bare, { namespace: "default", labelSelector: "l" });
      const seen: KubeObject[] = [];
      const handle = await client.watch(
        bare,
        { namespace: "default", resourceVersion: list.metadata.resourceVersion },
        { event: (e) => void seen.push(e.object), end: () => {} },
      );
      await client.patch(ConfigMaps, at("a"), { type: "merge", body: { data: { secret: "y" } } });
      await arrive(() => seen.length > 0);
      handle.close();
      for (const object of [await client.get(bare, at("a")), ...list.items, ...seen]) {
        expect(object).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "a", labels: { l: "1" } } });
        expect(object).not.toHaveProperty("data");
      }
      expect(seen).toHaveLength(1);
    });

    story("watches from a version on until closed", async ({ client, arrive }) => {
      const { metadata } = await client.list(ConfigMaps);
      const seen: string[] = [];
      let ends = 0;
      const handle: WatchHandle = await client.watch(
        ConfigMaps,
        { namespace: "default", resourceVersion: metadata.resourceVersion },
        { event: (e) => void seen.push(`${e.type} ${e.object.metadata.name}`), end: () => void ends++ },
      );
      await client.create(ConfigMaps, map("a"));
      await client.patch(ConfigMaps, at("a"), { type: "merge", body: { data: { x: "1" } } });
      await client.delete(ConfigMaps, at("a"));
      await arrive(() => seen.length >= 3);
      handle.close();
      await client.create(ConfigMaps, map("b"));
      await arrive(() => ends > 0);
      expect(seen).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
      expect(ends).toBe(1);
    });

    story("a watch that cannot be is refused, not silent", async ({ client, arrive }) => {
      const causes: unknown[] = [];
      const ended = { event: () => {}, end: (e?: Error) => void causes.push(e) };
      await client.watch(ConfigMaps, { resourceVersion: "garbage" }, ended).catch((e) => causes.push(e));
      await arrive(() => causes.length > 0);
      expect((causes[0] as { code?: number }).code).toBeGreaterThanOrEqual(400);
      expect(isExpired(causes[0])).toBe(false);
    });

    story("reads any path", async ({ client }) => {
      expect(await client.raw("/version")).toMatchObject({ major: "1" });
      await expect(client.raw("/nothing/here")).rejects.toMatchObject({ code: 404 });
    });
  });
}
