/** /v1/attachments. Responses make browsers save the file; they never render it as a page of this server. */

import { Type as t } from "@sinclair/typebox";
import { invalidField, Problem } from "../../core/errors.ts";
import { describeFile } from "../../http/file-answer.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { formFile } from "../../http/schema.ts";
import { Attachment } from "./model.ts";
import type { AttachmentService } from "./service.ts";

/** RFC 9110 §14.2, one range of bytes. @returns undefined for a header to ignore. @throws Problem 416. */
function rangeOf(header: string | null, size: number): { from: number; to: number } | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  const from = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (from >= size || to < from || (first === "" && Number(last) === 0))
    throw new Problem(416, "range_not_satisfiable", `The file holds ${size} bytes.`, {
      headers: { "Content-Range": `bytes */${size}` },
    });
  return { from, to };
}

export function attachmentRoutes(attachments: AttachmentService) {
  return tagOperations("attachments", [
    defineOperation("createAttachmentsUpload", "POST /v1/attachments/upload", {
      access: "user",
      scope: "runs",
      upload: true,
      body: t.Object({ file: formFile({ description: "File to upload; at most 50 MiB." }) }),
      answer: { 201: Attachment },
      summary: "Upload a file that messages can then refer to",
      handler: async ({ upload, caller, answer }) => {
        if (!upload) throw invalidField("/file", "A form with a file is needed");
        const kept = await attachments.keep(upload, caller);
        return answer.created("/v1/attachments/:id", () => attachments.create(kept, caller));
      },
    }),
    defineOperation("getAttachment", "GET /v1/attachments/:id", {
      access: "user",
      answer: Attachment,
      summary: "Get the metadata of an uploaded file",
      handler: ({ params, caller }) => attachments.get(params.id, caller),
    }),
    defineOperation("getAttachmentContent", "GET /v1/attachments/:id/content", {
      access: "user",
      summary: "Download a file or a byte range of it",
      documented: {
        responses: {
          200: describeFile("application/octet-stream", "The file's bytes."),
          206: describeFile("application/octet-stream", "The requested range of bytes."),
        },
      },
      handler: ({ params, caller, request }) => {
        const { name, sha256, size, media_type } = attachments.fileOf(params.id, caller);
        const range = rangeOf(request.headers.get("range"), size);
        const file = Bun.file(attachments.pathOf(sha256));
        const headers: Record<string, string> = {
          "Content-Type": media_type,
          "Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
          "Content-Security-Policy": "sandbox; default-src 'none'",
          "X-Content-Type-Options": "nosniff",
          "Cache-Control": "private, no-store",
          "Accept-Ranges": "bytes",
        };
        if (!range) return new Response(file, { headers });
        headers["Content-Range"] = `bytes ${range.from}-${range.to}/${size}`;
        return new Response(file.slice(range.from, range.to + 1), { status: 206, headers });
      },
    }),
  ]);
}
