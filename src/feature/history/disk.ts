/** Who takes what on the disk: measured when somebody asks, kept until the next measuring. */

import { Type as t } from "@sinclair/typebox";
import { type Clock, timestamp } from "../../core/clock.ts";
import { defineJob } from "../../core/jobs.ts";
import { ownJson } from "../../core/own-json.ts";
import type { Caller } from "../../http/caller.ts";
import type { DiskAsker, DiskUsage } from "../../store/disk-worker.ts";
import { namesOf } from "../../store/names-of.ts";
import type { Store } from "../../store/store.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";

const FACT = "disk_usage";

export type Measured = DiskUsage & { measured_at: string };

export interface DiskUsageDeps {
  store: Store;
  clock: Clock;
  jobs: Pick<Jobs, "enqueue">;
  disk: Pick<DiskAsker, "usage">;
}

export function createDiskUsage({ store, clock, jobs, disk }: DiskUsageDeps) {
  const definition = defineJob("measure_disk", t.Object({}), async (_, { signal }) => {
    const measured: Measured = { ...(await disk.usage(signal)), measured_at: timestamp(clock.now()) };
    store.write(() =>
      store.statement("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)").run(FACT, JSON.stringify(measured)),
    );
    return { total_bytes: measured.total_bytes };
  });
  return {
    definition,
    /** One at a time: a second call joins the one under way. */
    measure: ({ userId }: Caller): Job => jobs.enqueue(definition, {}, { key: "disk", userId }),
    /** Users and runs are called what they are called now. */
    last() {
      const value = store.statement<string>("SELECT value FROM facts WHERE name = ?").pluck().get([FACT]);
      if (value === undefined) return null;
      const measured = ownJson<Measured>(value);
      const ids = [...measured.users.flatMap(({ user_id }) => user_id ?? []), ...measured.largest.map(({ id }) => id)];
      const nameOf = namesOf(store.statement, ids);
      return {
        ...measured,
        users: measured.users.map((user) => ({ ...user, name: user.user_id && nameOf(user.user_id) })),
        largest: measured.largest.map((one) => ({ ...one, name: nameOf(one.id) })),
      };
    },
  };
}

export type DiskUsages = ReturnType<typeof createDiskUsage>;
