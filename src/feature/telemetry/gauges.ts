/** Gauges of running work, waiting work and free disk space, read at each scrape of `/metrics`. */
import { statfsSync, statSync } from "node:fs";
import type { Metrics } from "../../http/metrics.ts";
import type { Store } from "../../store/store.ts";

export function gaugeWork(metrics: Pick<Metrics, "gauge">, { statement, sqlite }: Store, root: string): void {
  const count = (sql: string) => () => statement<number>(sql).pluck().get([]) ?? 0;
  metrics.gauge(
    "runs_unfinished",
    "Runs that have not ended.",
    count("SELECT count(*) FROM runs WHERE status IN ('queued', 'running', 'waiting')"),
  );
  metrics.gauge(
    "runs_waiting",
    "Runs that wait for a person.",
    count("SELECT count(*) FROM runs WHERE status = 'waiting'"),
  );
  metrics.gauge(
    "executions_running",
    "Agents at work.",
    count("SELECT count(*) FROM executions WHERE status = 'running'"),
  );
  metrics.gauge(
    "executions_queued",
    "Work that waits for its turn.",
    count("SELECT count(*) FROM executions WHERE status = 'queued'"),
  );
  metrics.gauge("disk_free_bytes", "Room on the disk of the data folder.", () => {
    const { bavail, bsize } = statfsSync(root);
    return bavail * bsize;
  });
  metrics.gauge("database_bytes", "Size of the database.", () => statSync(sqlite.name).size);
}
