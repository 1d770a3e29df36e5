// Runtime hooks: names, paths and the types of requests and responses.
export * from "./catalog.ts";
export * from "./discovery.ts";
export * from "./inplace.ts";
export type * from "./lifecycle.ts";
export * from "./messages.ts";
export type * from "./topology.ts";
