// Prometheus' text format 0.0.4: families of samples as lines.

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  labels?: Labels;
  value: number;
}

export interface HistogramSample {
  labels: Labels;
  /** So many in each bucket, not summed; the last has no upper bound. */
  buckets: readonly number[];
  sum: number;
}

export type MetricFamily =
  | { name: string; help: string; type: "counter" | "gauge"; samples: readonly Sample[] }
  | { name: string; help: string; type: "histogram"; bounds: readonly number[]; samples: readonly HistogramSample[] };

export const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Contract: a family without samples is left out; names are given once each. */
export const exposition = (families: readonly MetricFamily[]): string =>
  families
    .filter(({ samples }) => samples.length > 0)
    .flatMap((family) => [
      `# HELP ${family.name} ${escapedHelp(family.help)}`,
      `# TYPE ${family.name} ${family.type}`,
      ...linesOf(family),
    ])
    .map((line) => `${line}\n`)
    .join("");

function linesOf(family: MetricFamily): string[] {
  if (family.type !== "histogram")
    return family.samples.map(({ labels = {}, value }) => `${family.name}${labelText(labels)} ${numberText(value)}`);
  const { name, bounds } = family;
  return family.samples.flatMap(({ labels, buckets, sum }) => {
    let count = 0;
    const lines = buckets.map((inBucket, i) => {
      count += inBucket;
      const le = i < bounds.length ? numberText(bounds[i]!) : "+Inf";
      return `${name}_bucket${labelText({ ...labels, le })} ${count}`;
    });
    return [
      ...lines,
      `${name}_sum${labelText(labels)} ${numberText(sum)}`,
      `${name}_count${labelText(labels)} ${count}`,
    ];
  });
}

const labelText = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapedLabel(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
};

const escapedLabel = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');

const escapedHelp = (help: string): string => help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");

const numberText = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
