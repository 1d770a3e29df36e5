// ExtensionConfig: rule by rule, as spec/api/extensionconfig.md section 4 numbers them.
import { describe } from "@jest/globals";
import { extensionConfigRules } from "./extensionconfig.ts";
import type { Draft } from "./rule-set.ts";
import { type Changes, defaultTable, table } from "./table.testing.ts";

const base: Draft = {
  apiVersion: "runtime.cluster.x-k8s.io/v1beta2",
  kind: "ExtensionConfig",
  metadata: { name: "ext" },
  ...{ spec: { clientConfig: { url: "https://host:9443" }, namespaceSelector: {} } },
};
const url = (text: string): Changes => ({ "/spec/clientConfig/url": text });
const service = (fields: object): Changes => ({ "/spec/clientConfig": { service: { name: "a", namespace: "b", ...fields } } });
const C = "spec.clientConfig";

describe("ExtensionConfig", () => {
  table(
    extensionConfigRules,
    base,
    [
      ["valid", {}, ""],
      ["0 gate", { "/metadata/name": "a.b" }, "403", { gates: [] }],
      ["1 no dots", { "/metadata/name": "a.b" }, "Invalid metadata.name"],
      ["1 length", { "/metadata/name": "a".repeat(64) }, "Invalid metadata.name"],
      ["2 url or service", { "/spec/clientConfig": {} }, `Required ${C}`],
      ["3 not both", { "/spec/clientConfig/service": { name: "a", namespace: "b" } }, `Forbidden ${C}`],
      ["4 http", url("http://host"), `Invalid ${C}.url`],
      ["4 no URL", url("host"), `Invalid ${C}.url`],
      ["4 a path", url("/path"), `Invalid ${C}.url`],
      ["4 user and query", url("https://u:p@host/x?y#z"), ""],
      ["5 name", service({ name: "" }), `Required ${C}.service.name`],
      ["5 name begins with a letter", service({ name: "1a" }), `Invalid ${C}.service.name`],
      ["6 namespace", service({ namespace: "" }), `Required ${C}.service.namespace`],
      ["6 namespace's form", service({ namespace: "a.b" }), `Invalid ${C}.service.namespace`],
      ["7 path", service({ path: "/a" }), ""],
      ["7 a word", service({ path: "a" }), `Invalid ${C}.service.path; Invalid ${C}.service.path`],
      ["8 port", service({ port: 0 }), `Invalid ${C}.service.port`],
      ["8 port's bound", service({ port: 65_536 }), `Invalid ${C}.service.port`],
      ["9 selector", { "/spec/namespaceSelector": { matchExpressions: [{ key: "a", operator: "Is" }] } }, "Invalid spec.namespaceSelector"],
    ],
    { gates: ["RuntimeSDK"] },
  );
  defaultTable(
    extensionConfigRules,
    base,
    [
      ["1 selector", { "/spec/namespaceSelector": undefined }, { "/spec/namespaceSelector": {} }],
      ["2 port", service({}), { "/spec/clientConfig/service/port": 443 }],
    ],
    { gates: ["RuntimeSDK"] },
  );
});
