/** /v1/admin/disk: what uses the disk. */
import { Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Job } from "../jobs/model.ts";
import type { DiskUsages } from "./disk.ts";

const Bytes = t.Integer({ minimum: 0 });
const DiskUsageView = t.Object(
  {
    measured_at: Time,
    total_bytes: Bytes,
    database: t.Object({
      bytes: t.Integer({ description: "Size of the database file in bytes." }),
      free_bytes: t.Integer({ description: "Size of the unused pages in the database file, in bytes." }),
      wal_bytes: t.Integer({ description: "Size of the write-ahead log in bytes." }),
    }),
    kinds: t.Array(t.Object({ kind: t.String(), count: t.Integer(), bytes: Bytes })),
    users: t.Array(
      t.Object({
        user_id: orNull(t.String({ description: "Id of the user; `null` for data that belongs to nobody." })),
        name: orNull(t.String()),
        bytes: Bytes,
      }),
    ),
    projects: t.Array(t.Object({ project_id: t.String(), name: orNull(t.String()), bytes: Bytes })),
    largest: t.Array(
      t.Object({
        id: t.String({ description: "Id of the run or session." }),
        name: orNull(t.String({ description: "Task of the run; `null` for a session." })),
        bytes: Bytes,
      }),
    ),
    engine: orNull(
      t.Array(
        t.Object({
          kind: oneOf("caches", "set-ups"),
          project_id: t.String(),
          name: orNull(t.String()),
          count: t.Integer(),
          bytes: Bytes,
        }),
      ),
      {
        description:
          "What takes most space in the container engine, by project; outside the data folder and not in the sums above. `null` if the engine did not answer.",
      },
    ),
  },
  { title: "DiskUsage" },
);

export const diskRoutes = (disk: DiskUsages) =>
  tagOperations("history", [
    defineOperation("getDiskUsage", "GET /v1/admin/disk", {
      access: "admin",
      answer: t.Object({ usage: orNull(DiskUsageView) }),
      summary: "Get what uses disk space, as last measured",
      description: "`usage` is `null` if it was never measured. `POST /v1/admin/disk/measure` measures it.",
      handler: () => ({ usage: disk.last() }),
    }),
    defineOperation("measureDisk", "POST /v1/admin/disk/measure", {
      access: "admin",
      answer: { 202: Job },
      summary: "Measure what uses disk space, in the background",
      handler: ({ caller, answer }) => answer.accepted("/v1/jobs/:id", () => disk.measure(caller)),
    }),
  ]);
