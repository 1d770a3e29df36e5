import { describe, expect, it } from "@jest/globals";
import { defaultFeatureGates, developmentFeatureGates, featureGateNames, parseFeatureGates } from "./feature-gates.ts";

const on = (text: string) => {
  const gates = parseFeatureGates(text);
  return featureGateNames.filter((gate) => gates[gate] !== defaultFeatureGates[gate]).join(" ");
};

describe("feature gates", () => {
  it.each([
    ["", ""],
    ["RuntimeSDK=true", "RuntimeSDK"],
    [" RuntimeSDK = TRUE , InPlaceUpdates=true,", "InPlaceUpdates RuntimeSDK"],
    ["InPlaceUpdates=true,RuntimeSDK=true", "InPlaceUpdates RuntimeSDK"],
    ["MachineSetPreflightChecks=false", "MachineSetPreflightChecks"],
    ["AllAlpha=true,ClusterTopology=false", "InPlaceUpdates KubeadmBootstrapFormatIgnition MachineTaintPropagation RuntimeSDK"],
    ["ClusterTopology=false,AllAlpha=true", "InPlaceUpdates KubeadmBootstrapFormatIgnition MachineTaintPropagation RuntimeSDK"],
    ["AllBeta=false", "MachinePool MachineSetPreflightChecks MachineWaitForVolumeDetachConsiderVolumeAttachments"],
    ["PriorityQueue=true", ""],
  ])("%s changes: %s", (text, changed) => expect(on(text)).toBe(changed));

  it.each([
    ["InPlaceUpdates=true", /needs RuntimeSDK: add RuntimeSDK=true/],
    ["InplaceUpdates=true", /unknown feature gate "InplaceUpdates"; known are .*InPlaceUpdates/],
    ["RuntimeSDK", /write it as Name=true/],
    ["RuntimeSDK=yes", /write it as Name=true/],
    ["RuntimeSDK=true=false", /write it as Name=true/],
    ["PriorityQueue=false", /cannot be switched off/],
  ])("%s is refused", (text, message) => expect(() => parseFeatureGates(text)).toThrow(message));

  it("flags go over what holds already", () => {
    expect(parseFeatureGates("ClusterTopology=false", developmentFeatureGates)).toMatchObject({
      ClusterTopology: false,
      InPlaceUpdates: true,
      RuntimeSDK: true,
      MachineTaintPropagation: false,
    });
    expect(() => parseFeatureGates("RuntimeSDK=false", developmentFeatureGates)).toThrow(/InPlaceUpdates needs RuntimeSDK/);
  });
});
