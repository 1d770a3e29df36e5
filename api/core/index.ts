// Built-in kinds that controllers touch.
export * from "./core.ts";
export * from "./groups.ts";
