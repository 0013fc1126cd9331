/** /v1/admin/disk: what uses the disk. */
import { Type as t } from "@sinclair/typebox";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { operation, operations } from "../../http/operation.ts";
import { Job } from "../jobs/model.ts";
import type { DiskUsages } from "./disk.ts";

const Bytes = t.Integer({ minimum: 0 });
const DiskUsageView = t.Object(
  {
    measured_at: Time,
    total_bytes: Bytes,
    database: t.Object({
      bytes: t.Integer({ description: "Of the file." }),
      free_bytes: t.Integer({ description: "Of pages that hold nothing." }),
      wal_bytes: t.Integer({ description: "Of the write-ahead log." }),
    }),
    kinds: t.Array(t.Object({ kind: t.String(), count: t.Integer(), bytes: Bytes })),
    users: t.Array(
      t.Object({
        user_id: orNull(t.String({ description: "Null: nobody's." })),
        name: orNull(t.String()),
        bytes: Bytes,
      }),
    ),
    projects: t.Array(t.Object({ project_id: t.String(), name: orNull(t.String()), bytes: Bytes })),
    largest: t.Array(
      t.Object({
        id: t.String({ description: "Of the run or session." }),
        name: orNull(t.String({ description: "A run's task; null for a session." })),
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
          "What the container engine keeps of projects, outside the data folder and in no sum above; null: it did not answer. Those that take most.",
      },
    ),
  },
  { title: "DiskUsage" },
);

export const diskRoutes = (disk: DiskUsages) =>
  operations("history", [
    operation("getDiskUsage", "GET /v1/admin/disk", {
      access: "admin",
      answer: t.Object({ usage: orNull(DiskUsageView) }),
      summary: "Who takes what on the disk, as it was last measured",
      description: "Null: it was never measured. `POST /v1/admin/disk/measure` measures it.",
      handler: () => ({ usage: disk.last() }),
    }),
    operation("measureDisk", "POST /v1/admin/disk/measure", {
      access: "admin",
      answer: { 202: Job },
      summary: "Measure who takes what on the disk, in the background",
      handler: ({ caller, answer }) => answer.accepted("/v1/jobs/:id", () => disk.measure(caller)),
    }),
  ]);
