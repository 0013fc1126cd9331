/** Disk usage: measured when somebody asks, and kept until the next measurement. */

import { Type as t } from "@sinclair/typebox";
import { toTimestamp } from "../../core/clock.ts";
import { messageOf } from "../../core/errors.ts";
import { defineJob } from "../../core/jobs.ts";
import type { Logger } from "../../core/log.ts";
import { ownJson } from "../../core/own-json.ts";
import type { Caller } from "../../http/caller.ts";
import type { DiskAsker, DiskUsage } from "../../store/disk-worker.ts";
import { namesOf } from "../../store/names-of.ts";
import type { Core } from "../feature.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";

const FACT = "disk_usage";

/** What the container engine stores for a project, outside the data folder. */
interface EngineUse {
  kind: "caches" | "set-ups";
  project_id: string;
  count: number;
  bytes: number;
}

/** How many projects' entries are kept, those that use most. */
const MOST_ENGINE_ROWS = 50;

type Measured = DiskUsage & {
  measured_at: string;
  /** Absent in measurements of an earlier version. */
  engine?: EngineUse[] | null;
};

interface DiskUsageDeps extends Pick<Core, "store" | "clock"> {
  jobs: Pick<Jobs, "enqueue">;
  disk: Pick<DiskAsker, "usage">;
  /** The caches of sandboxes. Throws when the engine does not answer. */
  caches(): Promise<readonly { projectId: string; bytes: number }[]>;
  log: Pick<Logger, "debug">;
}

export function createDiskUsage({ store, clock, jobs, disk, caches, log }: DiskUsageDeps) {
  const setUps = store.statement<Omit<EngineUse, "kind">>(
    "SELECT project_id, count(*) AS count, sum(image_bytes) AS bytes FROM project_setups WHERE image IS NOT NULL GROUP BY project_id",
  );
  /** Null when the engine does not answer: the rest of the measurement is useful without it. */
  async function measureEngine(): Promise<EngineUse[] | null> {
    try {
      const byProject = Map.groupBy(await caches(), ({ projectId }) => projectId);
      const found = [...byProject].map(([project_id, some]): EngineUse => {
        const bytes = some.reduce((sum, one) => sum + one.bytes, 0);
        return { kind: "caches", project_id, count: some.length, bytes };
      });
      const made = setUps.all().map((row): EngineUse => ({ kind: "set-ups", ...row }));
      return [...found, ...made].sort((a, b) => b.bytes - a.bytes).slice(0, MOST_ENGINE_ROWS);
    } catch (error) {
      log.debug({ err: error }, `the container engine was not measured: ${messageOf(error)}`);
      return null;
    }
  }
  const definition = defineJob("measure_disk", t.Object({}), async (_, { signal }) => {
    const [usage, engine] = await Promise.all([disk.usage(signal), measureEngine()]);
    const measured: Measured = { ...usage, engine, measured_at: toTimestamp(clock.now()) };
    store.write(() =>
      store.statement("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)").run(FACT, JSON.stringify(measured)),
    );
    return { total_bytes: measured.total_bytes };
  });
  return {
    definition,
    /** Starts a measurement. While one is under way, a second call returns its job. */
    measure: ({ userId }: Caller): Job => jobs.enqueue(definition, {}, { key: "disk", userId }),
    /** The last measurement, with the current names of users and runs. */
    last() {
      const value = store.statement<string>("SELECT value FROM facts WHERE name = ?").pluck().get([FACT]);
      if (value === undefined) return null;
      const measured = ownJson<Measured>(value);
      const engine = measured.engine ?? null;
      const ids = [
        ...measured.users.flatMap(({ user_id }) => user_id ?? []),
        ...measured.largest.map(({ id }) => id),
        ...(engine ?? []).map(({ project_id }) => project_id),
      ];
      const nameOf = namesOf(store.statement, ids);
      return {
        ...measured,
        users: measured.users.map((user) => ({ ...user, name: user.user_id && nameOf(user.user_id) })),
        largest: measured.largest.map((one) => ({ ...one, name: nameOf(one.id) })),
        engine: engine?.map((one) => ({ ...one, name: nameOf(one.project_id) })) ?? null,
      };
    },
  };
}

export type DiskUsages = ReturnType<typeof createDiskUsage>;
