// ExtensionConfig: an extension server and the hooks it serves. Here: type, schema, columns. Source: spec/api/extensionconfig.md.
import { runtimeGroup } from "./groups.ts";
import { ageColumn, conditionColumn, defineKind, pausedColumn } from "./kind.ts";
import type { KubeObject } from "./meta/object.ts";
import { bytes, int32, listMap, must, object, oneOf, someOf, stringMap, text, type TypeOf } from "./shape.ts";
import { conditions, deprecated, labelSelector } from "./shared.ts";

const extensionConfigSpec = object(
  {
    clientConfig: must(
      someOf(
        {
          url: text(1, 512, "URL of the server, https only."),
          service: object(
            {
              namespace: must(text(1, 63, "Namespace of the Service.")),
              name: must(text(1, 63, "Name of the Service.")),
              path: text(1, 512, "Path in front of the hooks; starts with a slash."),
              port: int32("Port of the Service; filled with 443 at admission when unset."),
            },
            "Service in front of the server.",
          ),
          caBundle: bytes("CA certificates in PEM that the server's certificate must come from.", { minLength: 1, maxLength: 51200 }),
        },
        "How the server is reached: exactly one of url and service.",
      ),
    ),
    namespaceSelector: labelSelector("Namespaces whose objects the hooks are called for; empty: all."),
    settings: stringMap("Settings sent with each call."),
  },
  "An extension server.",
);
export type ExtensionConfigSpec = TypeOf<typeof extensionConfigSpec>;

const extensionHandler = object(
  {
    name: must(text(1, 512, "Registered name: `<handler>.<name of the ExtensionConfig>`.")),
    requestHook: must(
      object(
        {
          apiVersion: must(text(1, 512, "Group and version of the hook.")),
          hook: must(text(1, 256, "Name of the hook.")),
        },
        "The hook it serves.",
      ),
    ),
    timeoutSeconds: int32("Limit for one call, in seconds.", { minimum: 1 }),
    failurePolicy: oneOf(["Ignore", "Fail"], "What a server that cannot be reached means."),
  },
  "One handler of the server.",
);
export type ExtensionHandler = TypeOf<typeof extensionHandler>;

const extensionConfigStatus = someOf(
  {
    conditions,
    handlers: listMap(["name"], extensionHandler, { max: 512 }, "Handlers, as the server announced them."),
    deprecated,
  },
  "What is known about the server.",
);
export type ExtensionConfigStatus = TypeOf<typeof extensionConfigStatus>;

export interface ExtensionConfig extends KubeObject {
  readonly spec: ExtensionConfigSpec;
  readonly status?: ExtensionConfigStatus;
}

export const extensionConfigKind = defineKind<ExtensionConfig>(
  runtimeGroup,
  {
    kind: "ExtensionConfig",
    plural: "extensionconfigs",
    description: "An extension server and the hooks it serves.",
    shortNames: ["ext"],
    namespaced: false,
    columns: [pausedColumn, conditionColumn("Discovered", "Discovered", "Whether the server has told its handlers."), ageColumn],
  },
  extensionConfigSpec,
  extensionConfigStatus,
);
export const extensionConfigResource = extensionConfigKind.resource;
