// What webhooks read, through a client. Here: reads to requests. Not here: which reads (webhooks/), when they are repeated (webhooks/reading.ts).
import { isNotFound } from "../api/meta/status.ts";
import { selectorText } from "../controllers/ownership/selector.ts";
import type { Client } from "../runtime/client.ts";
import type { ObjectReader } from "../webhooks/reading.ts";

export const clientReader = (client: Client): ObjectReader => ({
  get: ({ resource, key }) => client.get(resource, key).catch((e: unknown) => (isNotFound(e) ? undefined : Promise.reject(e))),
  async list({ resource, namespace, labels }) {
    const inNamespace = namespace === undefined ? {} : { namespace };
    const withLabels = labels === undefined ? {} : { labelSelector: selectorText(labels) };
    return (await client.list(resource, { ...inNamespace, ...withLabels })).items;
  },
});
