/**
 * A counter for `/metrics` with labels. The number of its series is limited; further ones are counted together as
 * `other`.
 */
import { LIMITS } from "../core/limits.ts";

type Labels = Readonly<Record<string, string>>;
/** Adds to one series, 1 by default. A counter always has the same label names. */
export type Counter = (labels: Labels, by?: number) => void;

/** Quotes a label value for Prometheus's text format. */
export const quotedLabel = (value: string): string =>
  `"${value.replace(/[\\\n"]/g, (sign) => (sign === "\n" ? "\\n" : `\\${sign}`))}"`;

const seriesOf = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${quotedLabel(value)}`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
};
const othersOf = (labels: Labels): Labels => Object.fromEntries(Object.keys(labels).map((name) => [name, "other"]));

export function createCounter(name: string, help: string): { add: Counter; asText(): string } {
  const values = new Map<string, number>();
  return {
    add(labels, by = 1) {
      const own = seriesOf(labels);
      const series = values.has(own) || values.size < LIMITS.metricSeries ? own : seriesOf(othersOf(labels));
      values.set(series, (values.get(series) ?? 0) + by);
    },
    asText() {
      const lines = [...values].map(([series, value]) => `${name}${series} ${value}`);
      return [`# HELP ${name} ${help}`, `# TYPE ${name} counter`, ...lines, ""].join("\n");
    },
  };
}
