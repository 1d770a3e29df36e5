import { describe, expect, it } from "@jest/globals";
import { type Effect, type Link, newLink, type Signal, step } from "./connection.ts";

const show = (effects: readonly Effect[]): string =>
  effects.map((e) => (e.do === "retryAfter" ? `retryAfter ${e.delayMs / 1000}` : e.do)).join(", ") || "-";

/** Runs signals and tells phase, failures and effects after each. */
function follow(...signals: readonly Signal[]): string[] {
  let link: Link = newLink;
  return signals.map((signal) => {
    const { link: next, effects } = step(link, signal);
    link = next;
    return `${signal.type} -> ${link.phase} ${link.consecutiveFailures}: ${show(effects)}`;
  });
}
const at = (type: "dialled" | "dialFailed" | "probeGood" | "probeBad" | "unauthorized", atMs = 0): Signal => ({ type, atMs });

describe("connection", () => {
  it("dials once, however often it is asked for", () => {
    expect(follow({ type: "connect" }, { type: "connect" }, at("dialled"))).toEqual([
      "connect -> dialling 0: dial",
      "connect -> dialling 0: -",
      "dialled -> connected 0: -",
    ]);
  });

  it("asks soon at first, then every 30 s, and at once after a hint", () => {
    const failing: Signal[] = [{ type: "connect" }];
    for (let i = 0; i < 7; i++) failing.push(at("dialFailed"), { type: "retryDue" });
    const waits = follow(...failing)
      .filter((line) => line.startsWith("dialFailed"))
      .map((line) => line.slice(line.indexOf("retryAfter") + 11));
    expect(waits).toEqual(["1", "2", "4", "8", "16", "30", "30"]);
    expect(follow({ type: "connect" }, at("dialFailed"), { type: "hint" }, at("dialFailed")).slice(2)).toEqual([
      "hint -> dialling 1: cancelRetry, dial",
      "dialFailed -> waiting 2: retryAfter 1",
    ]);
  });

  it("drops after five failed probes in a row, and dials again", () => {
    const bad = Array.from({ length: 5 }, () => at("probeBad"));
    const lines = follow({ type: "connect" }, at("dialled"), at("probeBad"), at("probeGood"), ...bad);
    expect(lines.slice(3)).toEqual([
      "probeGood -> connected 0: -",
      "probeBad -> connected 1: -",
      "probeBad -> connected 2: -",
      "probeBad -> connected 3: -",
      "probeBad -> connected 4: -",
      "probeBad -> dialling 5: drop, dial",
    ]);
  });

  it("dials anew at once when the server refuses the credentials", () => {
    expect(follow({ type: "connect" }, at("dialled"), at("unauthorized"))[2]).toBe("unauthorized -> dialling 0: drop, dial");
  });

  it("does nothing with signals that come too late", () => {
    const lines = follow({ type: "connect" }, { type: "forget" }, at("dialled"), at("dialFailed"), at("probeBad"), { type: "retryDue" });
    expect(lines.slice(1)).toEqual([
      "forget -> idle 0: cancelRetry, drop",
      "dialled -> idle 0: -",
      "dialFailed -> idle 0: -",
      "probeBad -> idle 0: -",
      "retryDue -> idle 0: -",
    ]);
  });

  it("keeps the time of the last good probe over failures", () => {
    let link = step(step(newLink, { type: "connect" }).link, at("dialled", 1_000)).link;
    link = step(link, at("probeBad", 11_000)).link;
    expect(link).toMatchObject({ lastProbeMs: 11_000, lastProbeSuccessMs: 1_000, consecutiveFailures: 1, connected: true });
  });
});
