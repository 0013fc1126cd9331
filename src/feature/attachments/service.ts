/**
 * Files that people attach to messages. Only the owner can read a file. Its type is determined from its bytes, and it
 * is removed when nothing refers to it any more.
 */
import { toTimestamp } from "../../core/clock.ts";
import { invalidField } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { mediaTypeOf } from "../../core/media-type.ts";
import type { AttachedPart } from "../../engine/parts.ts";
import type { Caller } from "../../http/caller.ts";
import type { SpooledFile } from "../../http/form.ts";
import type { ContentStore } from "../../store/content-store.ts";
import type { Condition } from "../../store/reader.ts";
import { attachmentHolds, attachments as table } from "../../store/tables/attachments.ts";
import { expectReadable, mayRead, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import type { Jobs } from "../jobs/service.ts";
import type { Attachment } from "./model.ts";
import { type defineReadText, READABLE, TEXT_BYTES } from "./read-text.ts";

/** A file in the content store. */
export interface KeptFile {
  name: string;
  sha256: string;
  size: number;
  media_type: string;
}

/** Content to store: an uploaded file, a text, or bytes made by the server whose type is known. */
export type Incoming =
  | SpooledFile
  | { name: string; text: string }
  | { name: string; bytes: Uint8Array; media_type: string };

export type AttachmentService = ReturnType<typeof createAttachments>;

interface AttachmentsDeps extends Pick<Core, "store" | "clock"> {
  content: ContentStore;
  jobs: Pick<Jobs, "enqueue">;
  readText: ReturnType<typeof defineReadText>;
  /** Resolves once it is known whether the attachment has text. */
  settling(attachmentId: string): Promise<void>;
  /** @throws Problem 413 `quota_exceeded` when the user may not store that many more bytes. */
  assertRoom(bytes: number, userId: string | undefined): void;
}

type Row = typeof table.$inferSelect;

const present = ({ user_id: _u, text_sha256: _t, ...row }: Row): Attachment => row;
const NAME_CHARACTERS = 255;
/** How much of the start and the end of a file is read to determine its type. */
const HEAD_BYTES = 1024 * 1024;
const TAIL_BYTES = 65_536;
/** Time within which the row must follow after its content was stored, ms. */
const KEEPING_MS = 60_000;
const KEEPER_LOOK_MS = 1_000;

export function createAttachments(deps: AttachmentsDeps) {
  const { store, clock, content, jobs, readText, settling } = deps;
  const { statement } = store;
  const rows = store.rows(table);
  const holds = store.rows(attachmentHolds);
  const rowOf = (id: string) => rows.find({ id });
  const find = (id: string, caller: Caller): Row => expectReadable(caller, WHOSE.attachments, rowOf(id), "attachment");
  const isHeld = (sha256: string): boolean =>
    statement(
      `SELECT 1 FROM attachments WHERE sha256 = @sha256 OR text_sha256 = @sha256
       UNION ALL SELECT 1 FROM documents WHERE sha256 = @sha256 LIMIT 1`,
    ).get({ sha256 }) !== undefined;

  /** Senders of content that was stored a short while ago and has no row yet, by digest: one entry for each upload. */
  const keepers = new Map<string, { userId: string | undefined }[]>();
  const noteKeeper = (sha256: string, { userId }: Caller): void => {
    const sent = { userId };
    keepers.set(sha256, [...(keepers.get(sha256) ?? []), sent]);
    setTimeout(() => forgetKeeper(sha256, (one) => one === sent), KEEPING_MS).unref();
  };
  function forgetKeeper(sha256: string, is: (sent: { userId: string | undefined }) => boolean): void {
    const all = keepers.get(sha256) ?? [];
    const at = all.findIndex(is);
    const left = all.filter((_, index) => index !== at);
    if (left.length > 0) keepers.set(sha256, left);
    else keepers.delete(sha256);
  }
  const isSentBy = (others: readonly { userId: string | undefined }[] = [], userId: string): boolean =>
    others.some((one) => one.userId !== userId);
  /**
   * After the commit, removes the content of a deleted user, unless somebody else stored the same bytes. `sweep` finds
   * what this misses.
   */
  const dropOf = (userId: string, digests: readonly string[]): void =>
    store.write(({ after }) =>
      after(() => {
        for (const sha256 of new Set(digests))
          if (!isSentBy(keepers.get(sha256), userId) && !isHeld(sha256)) void content.remove(sha256).catch(() => {});
      }),
    );
  return {
    /** Path of the content with that digest. */
    pathOf: content.pathOf,
    /** Stores text or an uploaded file for the caller. @throws Problem 413 `quota_exceeded`, 422 an empty file. */
    async keep(incoming: Incoming, caller: Caller): Promise<KeptFile> {
      const name = plainName(incoming.name);
      if (!("path" in incoming)) {
        const bytes = "text" in incoming ? new TextEncoder().encode(incoming.text) : incoming.bytes;
        const media_type = "text" in incoming ? "text/plain" : incoming.media_type;
        deps.assertRoom(bytes.byteLength, caller.userId);
        const sha256 = await content.put(bytes);
        noteKeeper(sha256, caller);
        return { name, sha256, size: bytes.byteLength, media_type };
      }
      const { path, size, sha256 } = incoming;
      if (size === 0) throw invalidField("/file", "The file is empty");
      deps.assertRoom(size, caller.userId);
      const file = Bun.file(path);
      const head = await file.slice(0, HEAD_BYTES).bytes();
      const tail = await file.slice(Math.max(0, size - TAIL_BYTES)).bytes();
      noteKeeper(sha256, caller);
      await content.adopt(path, sha256);
      return { name, sha256, size, media_type: await mediaTypeOf(head, tail) };
    },
    /**
     * Makes an attachment of a stored file and starts the job that extracts its text. Call inside the transaction of
     * the request.
     */
    create({ name, sha256, size, media_type }: KeptFile, caller: Caller): Attachment {
      const isReadable = READABLE.has(media_type);
      return store.write(() => {
        const row = rows.add({
          id: newId("attachment"),
          user_id: caller.userId,
          filename: name,
          media_type,
          size_bytes: size,
          sha256,
          text_available: media_type === "text/plain",
          status: isReadable ? "processing" : "ready",
          created_at: toTimestamp(clock.now()),
        });
        forgetKeeper(sha256, ({ userId }) => userId === caller.userId);
        const options = { key: row.id, subject: name, userId: caller.userId };
        if (isReadable) jobs.enqueue(readText, { attachment_id: row.id, owner: caller.userId ?? "" }, options);
        return present(row);
      });
    },
    /** @throws Problem 404 for an unknown attachment or one of another user. */
    get: (id: string, caller: Caller): Attachment => present(find(id, caller)),
    /** The file behind one of the caller's attachments. @throws Problem 404. */
    fileOf(id: string, caller: Caller): KeptFile {
      const { filename: name, sha256, size_bytes: size, media_type } = find(id, caller);
      return { name, sha256, size, media_type };
    },
    /**
     * Makes message parts of the attachments, which the session then holds. Call inside the transaction.
     * @throws Problem 422 for an attachment that is not the caller's.
     */
    attach: (ids: readonly string[], sessionId: string, caller: Caller): AttachedPart[] =>
      ids.map((id, index) => {
        const row = rowOf(id);
        if (!row || !mayRead(caller, WHOSE.attachments, row))
          throw invalidField(`/attachment_ids/${index}`, "You have no such attachment");
        holds.insertIfNew({ attachment_id: id, session_id: sessionId });
        const { filename: name, media_type, size_bytes } = row;
        const type = media_type.startsWith("image/") ? "image" : "file";
        return { type, attachment_id: id, name, media_type, size_bytes };
      }),
    async bytes(id: string): Promise<Uint8Array | undefined> {
      const row = rowOf(id);
      return row && (await content.exists(row.sha256)) ? Bun.file(content.pathOf(row.sha256)).bytes() : undefined;
    },
    /**
     * The first TEXT_BYTES of the attachment's text; waits while the text is being extracted. Undefined when the
     * attachment is gone or has no text.
     */
    async text(id: string): Promise<string | undefined> {
      if (rowOf(id)?.status === "processing") await settling(id);
      const row = rowOf(id);
      if (!row?.text_available) return undefined;
      const sha256 = row.text_sha256 ?? row.sha256;
      return (await content.exists(sha256)) ? Bun.file(content.pathOf(sha256)).slice(0, TEXT_BYTES).text() : undefined;
    },
    /** Removes attachments to which nothing has referred for a day. */
    async sweep(): Promise<void> {
      const before = clock.now() - LIMITS.attachmentUnheldMs;
      const isUnheld: Condition = ["NOT EXISTS (SELECT 1 FROM attachment_holds WHERE attachment_id = attachments.id)"];
      store.write(() => rows.remove(["created_at < ?", toTimestamp(before)], isUnheld));
      for (const sha256 of await content.olderThan(before)) if (!isHeld(sha256)) await content.remove(sha256);
    },
    /** Removes a deleted user's files. */
    removeOf: (userId: string): void =>
      store.write(() => {
        const own = rows.list([{ user_id: userId }]);
        rows.remove({ user_id: userId });
        dropOf(
          userId,
          own.flatMap(({ sha256, text_sha256 }) => (text_sha256 === null ? [sha256] : [sha256, text_sha256])),
        );
      }),
    dropOf,
    /** Removes content to which no row refers. Waits until recent uploads of the same content have their rows. */
    async dropUnheld(sha256: string): Promise<void> {
      while (keepers.has(sha256)) await Bun.sleep(KEEPER_LOOK_MS);
      if (!isHeld(sha256)) await content.remove(sha256);
    },
  };
}

/**
 * The last part of the file name that the client sent, without characters that a header or a terminal would interpret.
 */
function plainName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const plain = last.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, "").trim();
  return plain === "" || plain === "." || plain === ".." ? "file" : plain.slice(0, NAME_CHARACTERS);
}
