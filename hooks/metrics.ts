// Metrics of hook calls. Here: their names and the seam. Not here: the registry that keeps them. Source: client.md, section 9.

export interface HookCallLabels {
  readonly host: string;
  readonly group: string;
  readonly version: string;
  readonly hook: string;
  /** HTTP status, or `<error>`. */
  readonly code: string;
  /** What the answer said, or `Unknown`. */
  readonly status: string;
}

export interface HookMetrics {
  /** After each call, good or bad. */
  called(labels: HookCallLabels, seconds: number): void;
}

/** Anything that counts and observes, such as the runtime's registry. */
export interface MetricsSink {
  add(metric: typeof REQUESTS_TOTAL, labels: Readonly<Record<string, string>>): void;
  observe(metric: typeof REQUEST_SECONDS, labels: Readonly<Record<string, string>>, value: number): void;
}

const REQUESTS_TOTAL = { name: "capi_runtime_sdk_requests_total", help: "Hook calls", type: "counter" } as const;
const REQUEST_SECONDS = {
  name: "capi_runtime_sdk_request_duration_seconds",
  help: "Length of a hook call, seconds",
  type: "histogram",
  buckets: [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60],
} as const;

export const hookMetrics = (sink: MetricsSink): HookMetrics => ({
  called: ({ code, status, ...labels }, seconds) => {
    sink.add(REQUESTS_TOTAL, { ...labels, code, status });
    sink.observe(REQUEST_SECONDS, labels, seconds);
  },
});
