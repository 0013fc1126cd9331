/** Files that people attach to messages: their owner's alone, typed by their bytes, gone when nothing holds them. */
import { and, count, eq, isNull, lt, notExists, sql, sum } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import { invalidField, notFound, Problem } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { AttachedPart } from "../../engine/parts.ts";
import type { Caller } from "../../http/caller.ts";
import type { Store } from "../../store/store.ts";
import { attachmentHolds, attachments as table } from "../../store/tables/attachments.ts";
import type { ContentStore } from "./content-store.ts";
import type { Attachment } from "./model.ts";

export interface AttachmentService {
  /**
   * Keeps the bytes; the answer's function makes the attachment of them.
   * @throws Problem 413 `quota_exceeded`, 422 an empty file.
   */
  receive(file: { name: string; bytes: Uint8Array }, caller: Caller): Promise<() => Attachment>;
  /** @throws Problem 404 unknown or another user's. */
  get(id: string, caller: Caller): Attachment;
  /** Where the bytes are. */
  content(id: string, caller: Caller): { attachment: Attachment; path: string };
  /** Parts of a message, held by its session. Call inside the transaction. @throws Problem 422 one that is not theirs. */
  attach(ids: readonly string[], sessionId: string, caller: Caller): AttachedPart[];
  bytes(id: string): Promise<Uint8Array | undefined>;
  /** Its first TEXT_BYTES; undefined when it is gone, or no text. */
  text(id: string): Promise<string | undefined>;
  /** Removes what nothing has held for a day. */
  sweep(): Promise<void>;
  /** A deleted user's files go with the user. */
  removeOf(userId: string): void;
}

export interface AttachmentsDeps {
  store: Store;
  clock: Clock;
  content: ContentStore;
}

type Row = typeof table.$inferSelect;

const present = ({ user_id: _, ...row }: Row): Attachment => ({ ...row, status: "ready" });
const NAME_CHARACTERS = 255;
/** Of a text: as much is looked at, and given to models. */
const TEXT_BYTES = 1024 * 1024;

export function createAttachments({ store, clock, content }: AttachmentsDeps): AttachmentService {
  const { db } = store;
  const owned = (userId: string | undefined) =>
    userId === undefined ? isNull(table.user_id) : eq(table.user_id, userId);
  const rowOf = (id: string) => db.select().from(table).where(eq(table.id, id)).get();
  const find = (id: string, caller: Caller): Row => {
    const row = rowOf(id);
    if (!row || row.user_id !== (caller.userId ?? null)) throw notFound("attachment");
    return row;
  };
  const used = (caller: Caller): number =>
    Number(
      db
        .select({ bytes: sum(table.size_bytes) })
        .from(table)
        .where(owned(caller.userId))
        .get()?.bytes ?? 0,
    );
  const read = async (row: Row | undefined): Promise<Uint8Array | undefined> =>
    row && (await content.exists(row.sha256)) ? Bun.file(content.pathOf(row.sha256)).bytes() : undefined;

  return {
    async receive({ name, bytes }, caller) {
      if (bytes.byteLength === 0) throw invalidField("/file", "The file is empty");
      if (used(caller) + bytes.byteLength > LIMITS.attachmentsPerUserBytes)
        throw new Problem(
          413,
          "quota_exceeded",
          `Your attachments may hold ${LIMITS.attachmentsPerUserBytes} bytes in all. End talks that hold old ones.`,
        );
      const { mediaType, isText } = await typeOf(bytes);
      const row: Row = {
        ...{ id: newId("attachment"), user_id: caller.userId ?? null, filename: plainName(name) },
        ...{ media_type: mediaType, size_bytes: bytes.byteLength, sha256: await content.put(bytes) },
        ...{ text_available: isText, created_at: timestamp(clock.now()) },
      };
      return () =>
        store.write(() => {
          db.insert(table).values(row).run();
          return present(row);
        });
    },
    get: (id, caller) => present(find(id, caller)),
    content(id, caller) {
      const row = find(id, caller);
      return { attachment: present(row), path: content.pathOf(row.sha256) };
    },
    attach: (ids, sessionId, caller) =>
      ids.map((id, index) => {
        const row = rowOf(id);
        if (!row || row.user_id !== (caller.userId ?? null))
          throw invalidField(`/attachment_ids/${index}`, "You have no such attachment");
        db.insert(attachmentHolds).values({ attachment_id: id, session_id: sessionId }).onConflictDoNothing().run();
        const { filename: name, media_type, size_bytes } = row;
        const type = media_type.startsWith("image/") ? "image" : "file";
        return { type, attachment_id: id, name, media_type, size_bytes };
      }),
    bytes: (id) => read(rowOf(id)),
    async text(id) {
      const row = rowOf(id);
      if (!row?.text_available || !(await content.exists(row.sha256))) return undefined;
      return Bun.file(content.pathOf(row.sha256)).slice(0, TEXT_BYTES).text();
    },
    async sweep() {
      const before = clock.now() - LIMITS.attachmentUnheldMs;
      store.write(() =>
        db
          .delete(table)
          .where(
            and(
              lt(table.created_at, timestamp(before)),
              notExists(
                db.select({ one: sql`1` }).from(attachmentHolds).where(eq(attachmentHolds.attachment_id, table.id)),
              ),
            ),
          )
          .run(),
      );
      for (const sha256 of await content.olderThan(before)) {
        const held = db.select({ rows: count() }).from(table).where(eq(table.sha256, sha256)).get()!.rows;
        if (held === 0) await content.remove(sha256);
      }
    },
    removeOf(userId) {
      store.write(() => db.delete(table).where(eq(table.user_id, userId)).run());
    },
  };
}

/** The last part of what the client called it, without characters that a header or terminal reads as something else. */
function plainName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const plain = last.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, "").trim();
  return plain === "" || plain === "." || plain === ".." ? "file" : plain.slice(0, NAME_CHARACTERS);
}

/** By the bytes alone: a known signature, else valid UTF-8 without control characters is text. */
async function typeOf(bytes: Uint8Array): Promise<{ mediaType: string; isText: boolean }> {
  const { fileTypeFromBuffer } = await import("file-type");
  const known = await fileTypeFromBuffer(bytes.subarray(0, 65_536)).catch(() => undefined);
  if (known) return { mediaType: known.mime, isText: false };
  try {
    // The rest is read as text anyway; a character that the cut divides is no fault.
    const cut = bytes.byteLength > TEXT_BYTES;
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, TEXT_BYTES), { stream: cut });
    if (!text.includes("\0")) return { mediaType: "text/plain", isText: true };
  } catch {
    // Not text.
  }
  return { mediaType: "application/octet-stream", isText: false };
}
