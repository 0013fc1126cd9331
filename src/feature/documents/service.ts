/**
 * Documents: users hand them in, a job reads them, and they can be searched. A document belongs to its user, or to
 * everybody in a project.
 */
import type { Static } from "@sinclair/typebox";
import { toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound, forbidden, invalid, invalidField } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { JobDefinition } from "../../core/jobs.ts";
import { type Asker, isOwner } from "../../core/ownership.ts";
import type { Caller } from "../../http/caller.ts";
import type { SpooledFile } from "../../http/form.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import { expectReadable, WHOSE } from "../../store/whose.ts";
import type { Incoming, KeptFile } from "../attachments/service.ts";
import type { Core } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import { documentChanged } from "./events.ts";
import type { IngestPayload } from "./ingest.ts";
import type {
  Document,
  DocumentFields,
  DocumentHit,
  DocumentSearch,
  Section,
  SectionQuery,
  TocEntry,
} from "./model.ts";
import type { SearchDocuments } from "./search.ts";
import { type DocumentRow, type DocumentStore, describeChange } from "./store.ts";
import { pathTo, tocOf } from "./toc.ts";

interface DocumentsDeps extends Pick<Core, "store" | "clock"> {
  rows: DocumentStore;
  search: SearchDocuments;
  jobs: Pick<Jobs, "enqueue" | "end">;
  ingest: JobDefinition<typeof IngestPayload>;
  /** False also for a project that the asker does not see. */
  projectExists(id: string, asker: Asker): boolean;
  /** One of the caller's own attachments. @throws Problem 404. */
  attachment(id: string, caller: Caller): KeptFile;
  /** Stores content. @throws Problem 413 when the caller's quota is used up. */
  keep(file: Incoming, caller: Caller): Promise<KeptFile>;
  /** Removes the content of a user who is deleted. */
  dropOf(userId: string, digests: readonly string[]): void;
  mask(text: string): string;
}

interface NewDocument {
  file: KeptFile;
  title: string | undefined;
  projectId: string | null;
  source?: string | undefined;
  sessionId?: string | undefined;
  hint?: string | undefined;
}

export type Documents = ReturnType<typeof createDocuments>;

export function createDocuments(deps: DocumentsDeps) {
  const { store, clock, rows, search, jobs, ingest, projectExists } = deps;
  const present = ({ user_id: _u, title_given: _t, sha256: _s, ...row }: DocumentRow): Document => row;
  const find = (id: string, asker: Asker): DocumentRow =>
    expectReadable(asker, WHOSE.documents, rows.find(id), "document");
  const findRead = (id: string, asker: Asker): DocumentRow => {
    const row = find(id, asker);
    if (row.status === "processing") throw conflict("The document is still being read.", "document_processing");
    if (row.status === "failed") throw conflict(row.error ?? "The document could not be read.", "document_failed");
    return row;
  };

  /** Adds the document's row and the job that reads it. Call inside a transaction. */
  function add({ file, title, projectId, source, sessionId, hint }: NewDocument, caller: Caller): Document {
    return store.write((tx) => {
      const id = newId("document");
      const shownTitle = deps.mask(title ?? file.name);
      const options = { key: id, subject: shownTitle, userId: caller.userId, projectId: projectId ?? undefined };
      const owner = caller.userId ?? "";
      const payload: Static<typeof IngestPayload> = { document_id: id, owner, hint: hint ?? hintOf(file.name) };
      const row = rows.add({
        id,
        user_id: caller.userId,
        project_id: projectId,
        title: shownTitle,
        title_given: title !== undefined,
        source: source ?? file.name,
        media_type: file.media_type,
        size_bytes: file.size,
        sha256: file.sha256,
        status: "processing",
        job_id: jobs.enqueue(ingest, payload, options).id,
        session_id: sessionId,
        created_at: toTimestamp(clock.now()),
      });
      tx.emit(documentChanged, describeChange(row, "added"));
      return present(row);
    });
  }

  function assertProject(projectId: string | null | undefined, caller: Asker): string | null {
    if (projectId && !projectExists(projectId, caller)) throw invalidField("/project_id", "There is no such project");
    return projectId || null;
  }

  return {
    add,
    assertProject,
    /**
     * Accepts a document as a file, a text or an attachment.
     * @returns a function that adds the document; call it inside the transaction of the request. @throws Problem 422
     * unless exactly one of the three is given.
     */
    async receive(fields: DocumentFields, file: SpooledFile | undefined, caller: Caller): Promise<() => Document> {
      const { content, attachment_id, title, media_type } = fields;
      const projectId = assertProject(fields.project_id, caller);
      if ([file, content, attachment_id].filter((one) => one !== undefined).length !== 1)
        throw invalid("Give one of file (as a form), content or attachment_id.", [
          { pointer: "", message: "takes exactly one of file, content, attachment_id" },
        ]);
      if (attachment_id !== undefined) {
        const kept = deps.attachment(attachment_id, caller);
        return () => add({ file: kept, title, projectId, hint: media_type }, caller);
      }
      if (file) {
        const kept = await deps.keep(file, caller);
        return () => add({ file: kept, title, projectId, hint: media_type }, caller);
      }
      const kept = await deps.keep({ name: "text", text: content! }, caller);
      return () => add({ file: kept, title, projectId, source: "text", hint: media_type ?? "text/plain" }, caller);
    },
    get: (id: string, caller: Caller): Document => present(find(id, caller)),
    list(filter: { project_id?: string; status?: Document["status"] }, page: Page, asker: Asker): ListAnswer<Document> {
      const { project_id: projectId, status } = filter;
      return listById(rows.page({ asker, projectId, status }, page), page, present);
    },
    /** @throws Problem 403 for another user's document in a shared project. */
    async remove(id: string, caller: Caller): Promise<void> {
      const row = find(id, caller);
      if (!caller.admin && !isOwner(caller, row.user_id))
        throw forbidden("Only the user who handed the document in, or an administrator, may delete it.");
      await jobs.end(ingest, id);
      store.write(({ emit }) => {
        rows.remove(id);
        emit(documentChanged, describeChange(row, "deleted"));
      });
    },
    toc(id: string, asker: Asker): { document_id: string; title: string; items: TocEntry[] } {
      const { title } = findRead(id, asker);
      return { document_id: id, title, items: tocOf(rows.sections(id)) };
    },
    section(id: string, query: SectionQuery, asker: Asker): Section {
      findRead(id, asker);
      if (Object.keys(query).length > 1) throw invalid("Name the section by one of section_id, heading or page.");
      const found = expectFound(rows.section(id, query), "section", "The table of contents lists them.");
      const { position, ...section } = found;
      return {
        document_id: id,
        ...section,
        path: pathTo(rows.sections(id), position),
        ...rows.neighbours(id, position),
      };
    },
    search(request: DocumentSearch, asker: Asker): DocumentHit[] {
      if (request.document_id !== undefined) find(request.document_id, asker);
      return search(request, asker);
    },
    /**
     * Deletes a deleted user's own documents. Those of a project pass to the heir. Call inside the deleting
     * transaction.
     */
    handOver: (from: string, to: string | null): void =>
      store.write(() => {
        const files = store.statement<{ sha256: string }>(
          "SELECT sha256 FROM documents WHERE user_id = ? AND project_id IS NULL",
        );
        const digests = files.all(from).map(({ sha256 }) => sha256);
        store.statement("DELETE FROM documents WHERE user_id = ? AND project_id IS NULL").run(from);
        deps.dropOf(from, digests);
        store.statement("UPDATE documents SET user_id = ? WHERE user_id = ?").run(to, from);
      }),
  };
}

const HINTS: readonly [ending: RegExp, type: string][] = [
  [/\.(md|markdown)$/i, "text/markdown"],
  [/\.(html?|xhtml)$/i, "text/html"],
];
const hintOf = (name: string): string => HINTS.find(([ending]) => ending.test(name))?.[1] ?? "text/plain";
