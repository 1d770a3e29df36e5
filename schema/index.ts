// The public surface of the folder: what a schema means. Server-side apply has its own (apply/).
export { type CompiledSchema, type CompileOptions, type CompileSchema, type PruneOptions } from "./compile.ts";
export * from "./field.ts";
export type { CrdSchemaOptions, ValidateCrdSchema } from "./crd-schema.ts";
