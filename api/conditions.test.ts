import { describe, expect, it } from "@jest/globals";
import { compareConditionTypes } from "./conditions.ts";

const sorted = (...types: string[]) => types.sort(compareConditionTypes).join(" ");

describe("order of conditions", () => {
  it.each([
    [
      "known ones have their place",
      sorted("UpToDate", "Ready", "Available", "Updating", "NodeReady"),
      "Available Ready UpToDate NodeReady Updating",
    ],
    [
      "others come by name, before the last two",
      sorted("Deleting", "Paused", "zeta", "Alpha", "WorkerMachinesUpToDate"),
      "WorkerMachinesUpToDate Alpha zeta Paused Deleting",
    ],
    [
      "types of other kinds count as others",
      sorted("Paused", "VMProvisioned", "NodeProvisioned", "Ready"),
      "Ready NodeProvisioned VMProvisioned Paused",
    ],
    [
      "scaling down before up",
      sorted("ScalingUp", "ScalingDown", "Remediating", "RollingOut"),
      "RollingOut Remediating ScalingDown ScalingUp",
    ],
  ])("%s", (_rule, got, expected) => expect(got).toBe(expected));

  it("equal types are equal", () => expect(compareConditionTypes("Foo", "Foo")).toBe(0));
});
