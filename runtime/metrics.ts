// Metrics: counters, gauges and histograms that pure code may use. Here: seam and an in-memory registry.
// Not here: the Prometheus text and its HTTP endpoint (real/metrics.ts).

export type Labels = Readonly<Record<string, string>>;

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** Upper bounds of a histogram's buckets, ascending. */
  readonly buckets?: readonly number[];
}

export interface Sample {
  readonly labels: Labels;
  /** A counter's or gauge's value; a histogram's sum. */
  value: number;
  /** Histogram only: how many were observed, and per bucket (not cumulative, one more than bounds). */
  count: number;
  readonly counts: number[];
}

export interface MetricsRegistry {
  /** Adds to a counter (or gauge). */
  add(metric: Metric, labels: Labels, by?: number): void;
  set(metric: Metric, labels: Labels, value: number): void;
  observe(metric: Metric, labels: Labels, value: number): void;
  /** Current value of a counter or gauge, the count of a histogram; 0 when never touched. */
  value(metric: Metric, labels: Labels): number;
  /** Every metric with its samples, sorted by name and labels. */
  collect(): readonly { readonly metric: Metric; readonly samples: readonly Sample[] }[];
}

export function createMetrics(): MetricsRegistry {
  const families = new Map<string, { metric: Metric; samples: Map<string, Sample> }>();
  const sampleOf = (metric: Metric, labels: Labels): Sample => {
    let family = families.get(metric.name);
    if (!family) {
      family = { metric, samples: new Map() };
      families.set(metric.name, family);
    }
    const key = textOf(labels);
    let sample = family.samples.get(key);
    if (!sample) {
      sample = { labels, value: 0, count: 0, counts: metric.buckets ? new Array(metric.buckets.length + 1).fill(0) : [] };
      family.samples.set(key, sample);
    }
    return sample;
  };
  return {
    add(metric, labels, by = 1) {
      sampleOf(metric, labels).value += by;
    },
    set(metric, labels, value) {
      sampleOf(metric, labels).value = value;
    },
    observe(metric, labels, value) {
      const sample = sampleOf(metric, labels);
      const bounds = metric.buckets ?? [];
      const at = bounds.findIndex((b) => value <= b);
      const slot = at < 0 ? bounds.length : at;
      sample.value += value;
      sample.count++;
      sample.counts[slot] = (sample.counts[slot] ?? 0) + 1;
    },
    value(metric, labels) {
      const sample = families.get(metric.name)?.samples.get(textOf(labels));
      return sample === undefined ? 0 : metric.type === "histogram" ? sample.count : sample.value;
    },
    collect: () =>
      [...families.values()]
        .sort((a, b) => (a.metric.name < b.metric.name ? -1 : 1))
        .map(({ metric, samples }) => ({
          metric,
          samples: [...samples].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sample]) => sample),
        })),
  };
}

const textOf = (labels: Labels): string =>
  Object.keys(labels)
    .sort()
    .map((k) => `${k}=${labels[k]}`)
    .join("\u0000");
