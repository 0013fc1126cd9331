/** A project as an archive: `POST /v1/projects/{id}/export`, `POST /v1/project-imports`. */
import { Type as t } from "@sinclair/typebox";
import { invalidField } from "../../core/errors.ts";
import { answerArchive, describeFile } from "../../http/file-answer.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { formFile } from "../../http/schema.ts";
import type { createArchiveWriter } from "./export.ts";
import type { createArchiveReader } from "./import.ts";
import { ImportedProject, ProjectExport, ProjectImport } from "./model.ts";

const fileNameOf = (name: string): string => name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").slice(0, 80) || "project";

interface ProjectArchives {
  write: ReturnType<typeof createArchiveWriter>;
  read: ReturnType<typeof createArchiveReader>;
}

export const projectArchiveRoutes = ({ write, read }: ProjectArchives) =>
  tagOperations("projects", [
    defineOperation("exportProject", "POST /v1/projects/:id/export", {
      access: "user",
      scope: "read",
      project: "viewer",
      credential: true,
      strict: true,
      body: t.Optional(ProjectExport),
      summary: "Download a project as an archive of its settings, board, policy and the runs that you may read",
      description:
        "The archive is a gzipped tar with a manifest of sizes and SHA-256 digests. Values of secrets are masked in all texts. The archive names the repository but does not contain it.",
      documented: { responses: { 200: describeFile("application/gzip", "A gzipped tar.") } },
      handler: async ({ params, body, caller }) => {
        const { name, bytes } = await write(params.id, body ?? {}, caller);
        return answerArchive(bytes.slice(), `${fileNameOf(name)}.skep`);
      },
    }),
    defineOperation("importProject", "POST /v1/project-imports", {
      access: "user",
      upload: true,
      body: t.Object({
        ...ProjectImport.properties,
        file: formFile({ description: "Archive that the export returned." }),
      }),
      answer: { 201: ImportedProject },
      summary: "Create a project from an archive; you own it, and everything in it gets a new id",
      handler: async ({ body, upload, caller, answer }) => {
        if (!upload) throw invalidField("/file", "Send the archive as a file of a form");
        const { file: _, ...wanted } = body;
        const made = await read(upload.path, wanted, caller);
        return answer.created(
          ({ project }) => `/v1/projects/${project.id}`,
          () => made,
        );
      },
    }),
  ]);
