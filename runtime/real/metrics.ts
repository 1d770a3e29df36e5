// What /metrics answers: the pure registries plus the process's own figures from prom-client. Not here: the endpoint (health-server.ts).
import { collectDefaultMetrics, Registry } from "prom-client";
import type { MetricsRegistry } from "../metrics.ts";
import { metricsText } from "../metrics-text.ts";

export interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

/** Families must not repeat between registries. */
export function prometheusMetrics(...registries: readonly MetricsRegistry[]): MetricsText {
  const own = new Registry();
  collectDefaultMetrics({ register: own });
  return { contentType: own.contentType, text: async () => `${registries.map(metricsText).join("")}${await own.metrics()}` };
}
