// Prometheus text format of the in-memory registry. Here: writing it. Not here: the process's own figures (real/metrics.ts).
// Source: Prometheus exposition format 0.0.4.
import type { Labels, Metric, MetricsRegistry, Sample } from "./metrics.ts";

export function metricsText(registry: MetricsRegistry): string {
  return registry
    .collect()
    .map(
      ({ metric, samples }) =>
        `# HELP ${metric.name} ${escaped(metric.help)}\n# TYPE ${metric.name} ${metric.type}\n${samples.map((s) => linesOf(metric, s)).join("")}`,
    )
    .join("");
}

function linesOf(metric: Metric, s: Sample): string {
  if (metric.type !== "histogram") return `${metric.name}${labelText(s.labels)} ${s.value}\n`;
  let total = 0;
  const rows = (metric.buckets ?? []).map((le, i) => {
    total += s.counts[i] ?? 0;
    return `${metric.name}_bucket${labelText({ ...s.labels, le: String(le) })} ${total}\n`;
  });
  const infinite = `${metric.name}_bucket${labelText({ ...s.labels, le: "+Inf" })} ${s.count}\n`;
  return `${rows.join("")}${infinite}${metric.name}_sum${labelText(s.labels)} ${s.value}\n${metric.name}_count${labelText(s.labels)} ${s.count}\n`;
}

const labelText = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value).replace(/"/g, '\\"')}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
};

const escaped = (text: string): string => text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n");
