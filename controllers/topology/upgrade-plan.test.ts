import { describe, expect, it } from "@jest/globals";
import { lowestVersion, type PlanQuestion, upgradePlan, type UpgradePlan } from "./upgrade-plan.ts";

const show = (question: PlanQuestion, given?: UpgradePlan): string => {
  try {
    const { controlPlane, workers } = upgradePlan(question, given);
    return `${controlPlane.join(" ")} | ${workers.join(" ")}`.trim();
  } catch (e) {
    return `refused: ${(e as Error).message}`;
  }
};
const v = (minor: number, patch = 0) => `v1.${minor}.${patch}`;
const list = [v(30), v(31), v(31, 2), v(32), v(33), v(34), v(35)];

describe("a plan without an extension", () => {
  const rows: readonly (readonly [string, PlanQuestion, string])[] = [
    ["one step", { target: v(31), controlPlane: v(30), workers: v(30) }, "v1.31.0 | v1.31.0"],
    ["a patch", { target: v(31, 2), controlPlane: v(31), workers: v(31) }, "v1.31.2 | v1.31.2"],
    ["nothing to do", { target: v(31), controlPlane: v(31), workers: v(31) }, "|"],
    ["no control plane yet", { target: v(31) }, "|"],
    ["workers are behind", { target: v(31), controlPlane: v(31), workers: v(30) }, "| v1.31.0"],
    [
      "the class's last patch of each minor",
      { target: v(33), controlPlane: v(30), workers: v(30), kubernetesVersions: list },
      "v1.31.2 v1.32.0 v1.33.0 | v1.33.0",
    ],
    [
      "workers in steps of three minors",
      { target: v(35), controlPlane: v(30), workers: v(30), kubernetesVersions: list },
      "v1.31.2 v1.32.0 v1.33.0 v1.34.0 v1.35.0 | v1.33.0 v1.35.0",
    ],
    ["no workers", { target: v(31), controlPlane: v(30) }, "v1.31.0 |"],
  ];
  it.each(rows)("%s", (_what, question, expected) => expect(show(question)).toBe(expected));
  it("refuses two minors at once", () => expect(show({ target: v(32), controlPlane: v(30) })).toMatch(/refused: .*skips a minor/));
});

describe("a plan of an extension", () => {
  const ask = { target: v(32), controlPlane: v(30), workers: v(30) };
  const rows: readonly (readonly [string, PlanQuestion, UpgradePlan, RegExp])[] = [
    ["good", ask, { controlPlane: [v(31), v(32)], workers: [v(31), v(32)] }, /^v1.31.0 v1.32.0 \| v1.31.0 v1.32.0$/],
    ["an empty workers' list is filled", ask, { controlPlane: [v(31), v(32)], workers: [] }, /\| v1.32.0$/],
    ["must end at the target", ask, { controlPlane: [v(31)], workers: [] }, /must end at v1.32.0/],
    ["must rise", ask, { controlPlane: [v(31), v(31), v(32)], workers: [] }, /must rise/],
    ["skips", ask, { controlPlane: [v(32)], workers: [] }, /skips a minor/],
    ["control plane is there", { ...ask, controlPlane: v(32) }, { controlPlane: [v(32)], workers: [] }, /must be empty/],
    ["workers where the control plane never is", ask, { controlPlane: [v(31), v(32)], workers: [v(31, 1), v(32)] }, /never is/],
    ["workers at the target", { ...ask, workers: v(32) }, { controlPlane: [v(31), v(32)], workers: [v(32)] }, /must be empty/],
  ];
  it.each(rows)("%s", (_what, question, given, expected) => expect(show(question, given)).toMatch(expected));
});

it("counts another build of the same numbers as behind", () => {
  expect(lowestVersion(["v1.30.0+b", "v1.30.0+a"], "v1.30.0+a")).toBe("v1.30.0+b");
  expect(lowestVersion([v(31), v(30)], v(31))).toBe(v(30));
  expect(lowestVersion([], v(31))).toBeUndefined();
});
