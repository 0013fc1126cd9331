/** The job that extracts the text of an attachment, for models that do not accept the file itself. */

import { Type as t } from "@sinclair/typebox";
import { defineJob, type EndedJob } from "../../core/jobs.ts";
import type { Masker } from "../../core/masking.ts";
import { DOCX } from "../../core/media-type.ts";
import type { ContentStore } from "../../store/content-store.ts";
import { attachments as table } from "../../store/tables/attachments.ts";
import type { Core } from "../feature.ts";

/** Types of files whose text is extracted in the background. */
export const READABLE: ReadonlySet<string> = new Set(["application/pdf", DOCX, "text/html"]);
/** How much of a text is kept and given to models. */
export const TEXT_BYTES = 1024 * 1024;

const Payload = t.Object({
  attachment_id: t.String(),
  /** The job's exclusive key: one file of each owner is read at a time. */
  owner: t.String(),
});

interface ReadTextDeps extends Pick<Core, "store" | "extractor"> {
  content: ContentStore;
  masking: Pick<Masker, "text">;
  /** Called after the commit that records whether there is text. */
  onSettled(attachmentId: string): void;
}

const PARALLEL = 2;

export function defineReadText({ store, content, extractor, masking, onSettled }: ReadTextDeps) {
  const rows = store.rows(table);
  const find = (id: string) => rows.find({ id });

  function recordEnd({ payload, state, error }: EndedJob<{ attachment_id: string }>): void {
    const id = payload.attachment_id;
    store.write(({ after }) => {
      after(() => onSettled(id));
      if (find(id)?.status !== "processing") return;
      const why = state === "cancelled" ? "Reading it was cancelled." : (error?.message ?? "It could not be read.");
      rows.update({ status: "failed", error: why }, { id });
    });
  }

  return defineJob(
    "read_attachment",
    Payload,
    async ({ attachment_id: id }, job) => {
      const row = find(id);
      if (row?.status !== "processing") return {};
      const parts: string[] = [];
      let size = 0;
      await extractor.extract({
        path: content.pathOf(row.sha256),
        hint: row.media_type,
        signal: job.signal,
        section({ level, title, text }) {
          if (size > TEXT_BYTES) return;
          const part = [...(title === "" ? [] : [`${"#".repeat(level)} ${title}`]), text].join("\n\n").trim();
          parts.push(part);
          size += part.length;
        },
        progress: (percent) => job.report({ percent, detail: "reading" }),
      });
      const text = masking.text(parts.join("\n\n").slice(0, TEXT_BYTES).toWellFormed());
      const text_sha256 = text === "" ? null : await content.put(new TextEncoder().encode(text));
      store.write(() => rows.update({ status: "ready", text_available: text_sha256 !== null, text_sha256 }, { id }));
      return { attachment_id: id, characters: text.length };
    },
    { parallel: PARALLEL, exclusive: ({ owner }) => owner, onEnd: recordEnd },
  );
}
