// The public surface of the folder: admission plugins.
export type { WebhookClientConfig, WebhookRule } from "./configuration.ts";
export { type AdmissionFunction, functionPlugin, type FunctionVerdict } from "./functions.ts";
export { namespaceLifecycle } from "./namespace-lifecycle.ts";
export type { ReviewRequest } from "./review.ts";
export { type CallWebhook, type WebhookCall, webhookPlugin } from "./webhooks.ts";
