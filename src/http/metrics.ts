/** Prometheus metrics of the process. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface Metrics {
  request(method: string, route: string, status: number, seconds: number): void;
  /** A value read at each scrape. */
  gauge(name: string, help: string, read: () => number): void;
  render(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "skep_" });
  const labelNames = ["method", "route", "status"] as const;
  const requests = new Counter({
    name: "skep_http_requests_total",
    help: "Requests answered.",
    labelNames,
    registers: [registry],
  });
  const durations = new Histogram({
    name: "skep_http_request_seconds",
    help: "Time to the answer.",
    labelNames: ["route"] as const,
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  });
  return {
    request(method, route, status, seconds) {
      requests.inc({ method, route, status: String(status) });
      durations.observe({ route }, seconds);
    },
    gauge(name, help, read) {
      new Gauge({
        name: `skep_${name}`,
        help,
        registers: [registry],
        collect() {
          this.set(read());
        },
      });
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
