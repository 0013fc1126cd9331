/** /v1/admin/backups. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { Job } from "../jobs/model.ts";
import { Backup } from "./model.ts";
import type { Backups } from "./service.ts";

const tags = ["admin"];
const BackupPath = t.Object({ id: t.String({ maxLength: 64 }) });

export function backupRoutes(base: Base, backups: Backups) {
  return new Elysia({ name: "skep/backups" })
    .use(base)
    .get("/v1/admin/backups", ({ query }) => backups.list(pageOf(query)), {
      access: "admin",
      query: t.Object(PageQuery),
      response: { 200: listOf(Backup) },
      detail: { tags, summary: "Backups in the data folder, newest first" },
    })
    .post(
      "/v1/admin/backups",
      ({ caller, answer }) =>
        answer.accepted(
          (job) => `/v1/jobs/${job.id}`,
          () => backups.start(caller),
        ),
      {
        access: "admin",
        response: { 202: Job },
        detail: { tags, summary: "Make a backup, without the keys of its secrets, as a background job" },
      },
    )
    .get("/v1/admin/backups/:id", ({ params }) => backups.get(params.id), {
      access: "admin",
      params: BackupPath,
      response: { 200: Backup },
      detail: { tags, summary: "One backup" },
    })
    .get(
      "/v1/admin/backups/:id/content",
      ({ params, caller }) =>
        new Response(Bun.file(backups.download(params.id, caller)), {
          headers: {
            "Content-Type": "application/gzip",
            "Content-Disposition": `attachment; filename="${params.id}.tar.gz"`,
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
          },
        }),
      {
        access: "admin",
        params: BackupPath,
        detail: {
          tags,
          summary: "Download a backup, for `skep restore`",
          responses: {
            200: {
              description: "A gzipped tar.",
              content: { "application/gzip": { schema: { type: "string" as const, format: "binary" } } },
            },
          },
        },
      },
    )
    .delete(
      "/v1/admin/backups/:id",
      ({ params, caller, set }) => {
        backups.remove(params.id, caller);
        set.status = 204;
      },
      {
        access: "admin",
        params: BackupPath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Delete a backup" },
      },
    );
}
