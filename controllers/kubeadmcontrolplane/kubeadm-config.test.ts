import { describe, expect, it } from "@jest/globals";
import type { KubeadmConfigSpec } from "../../api/kubeadmconfig.ts";
import { compareConfig, desiredConfigSpec, featureGatesFor } from "./kubeadm-config.ts";
import { controlPlane } from "./testing.ts";

const wanted = (kubeadmConfigSpec: KubeadmConfigSpec = {}, version = "v1.36.0") => controlPlane({ version, kubeadmConfigSpec });
const joined = (spec: KubeadmConfigSpec = {}): KubeadmConfigSpec => ({ joinConfiguration: { controlPlane: {} }, ...spec });

describe("desired config", () => {
  const spec: KubeadmConfigSpec = { initConfiguration: { skipPhases: ["a"] }, joinConfiguration: { skipPhases: ["b"] } };
  it("a join config has the control plane section and no init part", () => {
    expect(desiredConfigSpec(wanted(spec), "join")).toEqual({ joinConfiguration: { skipPhases: ["b"], controlPlane: {} } });
  });
  it("an init config has no join part", () => {
    expect(desiredConfigSpec(wanted(spec), "init")).toEqual({ initConfiguration: { skipPhases: ["a"] } });
  });
  it.each([
    ["v1.30.9", undefined, undefined],
    ["v1.31.0", undefined, { ControlPlaneKubeletLocalMode: true }],
    ["v1.35.9", { A: true }, { A: true, ControlPlaneKubeletLocalMode: true }],
    ["v1.35.0", { ControlPlaneKubeletLocalMode: false }, { ControlPlaneKubeletLocalMode: false }],
    ["v1.36.0-rc.0", undefined, undefined],
  ])("feature gates of %s with %j are %j", (version, gates, expected) => {
    expect(featureGatesFor(version, gates)).toEqual(expected);
  });
});

describe("is the config up to date", () => {
  const rows: [string, KubeadmConfigSpec, KubeadmConfigSpec, boolean][] = [
    ["equal join configs", joined(), {}, true],
    ["an init config that only became one", {}, {}, true],
    [
      "what the bootstrap controller fills in",
      joined({
        clusterConfiguration: { controlPlaneEndpoint: "10.0.0.1:6443" },
        joinConfiguration: { controlPlane: {}, discovery: { bootstrapToken: { token: "a.b" } } },
      }),
      {},
      true,
    ],
    [
      "an old join config without the control plane section",
      { joinConfiguration: { discovery: { bootstrapToken: { token: "a.b" } } } },
      {},
      true,
    ],
    ["an old join config whose registration differs", { joinConfiguration: { nodeRegistration: { criSocket: "x" } } }, {}, false],
    ["other files", joined({ files: [{ path: "/a" }] }), { files: [{ path: "/b" }] }, false],
    ["files that are gone", joined({ files: [{ path: "/a" }] }), {}, false],
    ["an empty list is no list", joined({ users: [] }), {}, true],
    ["an explicit default is the default", joined({ format: "cloud-config" }), {}, true],
    [
      "no taints differ from the default taint",
      joined({ joinConfiguration: { controlPlane: {}, nodeRegistration: { taints: [] } } }),
      {},
      false,
    ],
    ["dns is no difference", joined({ clusterConfiguration: { dns: { imageTag: "v1.9.0" } } }), {}, true],
    [
      "the health check time is no difference",
      joined({ joinConfiguration: { controlPlane: {}, timeouts: { controlPlaneComponentHealthCheckSeconds: 9 } } }),
      {},
      true,
    ],
    [
      "another time limit is one",
      joined({ joinConfiguration: { controlPlane: {}, timeouts: { kubeletHealthCheckSeconds: 9 } } }),
      {},
      false,
    ],
    [
      "init settings that match the join settings",
      { initConfiguration: { nodeRegistration: { criSocket: "x" }, localAPIEndpoint: { bindPort: 1 } } },
      {
        initConfiguration: { nodeRegistration: { criSocket: "other" } },
        joinConfiguration: { nodeRegistration: { criSocket: "x" }, controlPlane: { localAPIEndpoint: { bindPort: 1 } } },
      },
      true,
    ],
    [
      "init settings that match the init settings only",
      { initConfiguration: { nodeRegistration: { criSocket: "x" } } },
      { initConfiguration: { nodeRegistration: { criSocket: "x" } }, joinConfiguration: { nodeRegistration: { criSocket: "y" } } },
      true,
    ],
    [
      "init settings that match neither",
      { initConfiguration: { nodeRegistration: { criSocket: "z" } } },
      { initConfiguration: { nodeRegistration: { criSocket: "x" } }, joinConfiguration: { nodeRegistration: { criSocket: "y" } } },
      false,
    ],
    ["the path of the CA is taken from the wish", {}, { joinConfiguration: { caCertPath: "/x" } }, true],
  ];
  it.each(rows)("%s", (_what, current, kubeadmConfigSpec, upToDate) => {
    expect(compareConfig(current, wanted(kubeadmConfigSpec)).upToDate).toBe(upToDate);
  });

  it("an extension sees both in join form, with defaults and without tokens", () => {
    const current = { initConfiguration: { bootstrapTokens: [{ token: "a.b" }] } };
    const { current: shown, desired } = compareConfig(current, wanted({ files: [{ path: "/a" }] }, "v1.34.0"));
    expect(shown).toEqual({
      format: "cloud-config",
      initConfiguration: { nodeRegistration: { imagePullPolicy: "IfNotPresent" } },
      joinConfiguration: { nodeRegistration: { imagePullPolicy: "IfNotPresent" }, controlPlane: {} },
    });
    expect(desired.files).toEqual([{ path: "/a" }]);
    expect(desired.clusterConfiguration).toEqual({ featureGates: { ControlPlaneKubeletLocalMode: true } });
  });
});
