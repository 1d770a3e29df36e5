// Leader election on a Lease: one of several replicas works. Here: acquire, renew, lose, release. Not here: what the leader does.
// Source: client-go leaderelection, observed behaviour: 15 s lease, 10 s to renew, a try every 2 s.
import type { KubeObject } from "../api/meta/object.ts";
import { resource } from "../api/meta/resource.ts";
import { isNotFound } from "../api/meta/status.ts";
import { type Clock, microTimestamp } from "./base/clock.ts";
import type { Logger } from "./base/log.ts";
import type { Random } from "./base/random.ts";
import type { Client } from "./client.ts";

export interface LeaseObject extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export const Lease = resource<LeaseObject>("coordination.k8s.io", "v1", "Lease", "leases");

export interface LeaderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly namespace: string;
  readonly leaseName: string;
  /** Unique per replica. */
  readonly identity: string;
  readonly leaseDurationMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
  readonly onStarted: () => void;
  /** The lease was lost; the program must stop writing at once. Not called by release(). */
  readonly onLost: () => void;
}

export interface LeaderElection {
  start(): void;
  isLeader(): boolean;
  /** Gives the lease up, so that another replica need not wait for it to run out. */
  release(): Promise<void>;
}

const JITTER_MAX = 1.2;

/** The name follows from the controllers a program runs, so that programs with different sets do not shut each other out. */
export const leaseNameFor = (controllers: readonly string[]): string => {
  let hash = 0x811c9dc5;
  for (const c of [...controllers].sort().join(",")) hash = Math.imul(hash ^ c.charCodeAt(0), 0x01000193) >>> 0;
  return `theseus-manager-${hash.toString(16).padStart(8, "0")}`;
};

export function createLeaderElection(options: LeaderOptions): LeaderElection {
  const { client, clock, random, log, identity, onStarted, onLost } = options;
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  const key = { namespace: options.namespace, name: options.leaseName };
  let leading = false;
  let stopped = false;
  let renewedMs = 0;
  // When this replica saw the record change last: other replicas' clocks are not trusted.
  let seen: { readonly record: string; readonly atMs: number } | undefined;

  const spec = (old: LeaseObject | undefined, nowMs: number): LeaseObject["spec"] => {
    const mine = old?.spec?.holderIdentity === identity;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.round(leaseDurationMs / 1_000),
      acquireTime: mine ? old?.spec?.acquireTime : microTimestamp(nowMs),
      renewTime: microTimestamp(nowMs),
      leaseTransitions: (old?.spec?.leaseTransitions ?? 0) + (old && !mine ? 1 : 0),
    };
  };
  const isHeldByOther = (lease: LeaseObject): boolean => {
    const record = JSON.stringify(lease.spec ?? {});
    if (seen?.record !== record) seen = { record, atMs: clock.nowMs() };
    const holder = lease.spec?.holderIdentity;
    const lifeMs = (lease.spec?.leaseDurationSeconds ?? 0) * 1_000;
    return holder !== undefined && holder !== "" && holder !== identity && seen.atMs + lifeMs > clock.nowMs();
  };
  /** @returns true when this replica holds the lease now */
  const tryOnce = async (): Promise<boolean> => {
    const nowMs = clock.nowMs();
    let lease: LeaseObject | undefined;
    try {
      lease = await client.get(Lease, key);
    } catch (e) {
      if (!isNotFound(e)) throw e;
    }
    if (!lease) {
      await client.create(Lease, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: key, spec: spec(undefined, nowMs) });
    } else {
      if (isHeldByOther(lease)) return false;
      // The resourceVersion read above makes two replicas that try at once end in one Conflict.
      await client.update(Lease, { ...lease, spec: spec(lease, nowMs) });
    }
    renewedMs = nowMs;
    return true;
  };
  const step = async (): Promise<void> => {
    if (stopped) return;
    let held = false;
    try {
      held = await tryOnce();
    } catch (e) {
      log.debug("lease not written", { lease: key.name, error: e instanceof Error ? e.message : String(e) });
    }
    if (stopped) return;
    if (held && !leading) {
      leading = true;
      log.info("became leader", { lease: key.name, identity });
      onStarted();
    }
    if (stopped) return;
    clock.after(leading ? retryPeriodMs : retryPeriodMs * (1 + random.next() * JITTER_MAX), () => void step());
  };
  // Its own timer, because a request that hangs must not keep a replica believing that it leads.
  const watchDeadline = (): void => {
    if (stopped) return;
    if (leading && clock.nowMs() - renewedMs >= renewDeadlineMs) {
      leading = false;
      stopped = true;
      log.error("lost the lease", { lease: key.name, identity });
      onLost();
      return;
    }
    clock.after(retryPeriodMs / 2, watchDeadline);
  };

  return {
    start: () => {
      void step();
      watchDeadline();
    },
    isLeader: () => leading,
    release: async () => {
      stopped = true;
      if (!leading) return;
      leading = false;
      const lease = await client.get(Lease, key);
      if (lease.spec?.holderIdentity !== identity) return;
      await client.update(Lease, {
        ...lease,
        spec: { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTimestamp(clock.nowMs()) },
      });
    },
  };
}
