/** Reads transcripts from the rows of sessions. Long outputs are cut: a page of a transcript is for people. */
import { and, asc, desc, eq, exists, inArray, lt, or, type SQL, sql } from "drizzle-orm";
import { notFound } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, numberAfter, type Page } from "../../http/list.ts";
import { containsText } from "../../store/contains-text.ts";
import type { Store } from "../../store/store.ts";
import { messages, sessions, toolCalls } from "../../store/tables/sessions.ts";
import { mayRead, WHOSE } from "../../store/whose.ts";
import type { TranscriptMessage } from "./model.ts";

type MessageRow = typeof messages.$inferSelect;
type CallRow = typeof toolCalls.$inferSelect;

export interface Transcripts {
  /** Newest first. @throws Problem 404 when it is unknown, or another user's. */
  page(id: string, text: string | undefined, page: Page, caller: Caller): ListAnswer<TranscriptMessage>;
  /** All that is stored of what a call gave. @throws Problem 404 when either is unknown, or another user's. */
  outputOf(id: string, call: string, caller: Caller): string;
}

/** Characters before and after what was searched for. */
const AROUND = 400;

/** The beginning and the end of a long text, and between them the first place that holds what was searched for. */
function ends(text: string, searched = ""): string {
  const half = LIMITS.transcriptOutputCharacters / 2;
  if (text.length <= half * 2) return text;
  const middle = searched ? foldCase(text.slice(half, -half)).indexOf(foldCase(searched)) : -1;
  const at = half + middle;
  const found = middle < 0 ? [] : [text.slice(Math.max(half, at - AROUND), Math.min(at + AROUND, text.length - half))];
  return [text.slice(0, half), ...found, text.slice(-half)].join("\n…\n");
}

/** As `containsText` compares. */
const foldCase = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Large values of an input are cut, so that a page stays readable; its shape stays. */
function shortInput(input: unknown, depth = 0): unknown {
  if (typeof input === "string") return ends(input);
  if (typeof input !== "object" || input === null || depth > 6) return input;
  if (Array.isArray(input)) return input.slice(0, 100).map((one) => shortInput(one, depth + 1));
  return Object.fromEntries(Object.entries(input).map(([name, one]) => [name, shortInput(one, depth + 1)]));
}

const present = (
  { seq, role, content, execution_id, covers_to, withdrawn, created_at }: MessageRow,
  calls: CallRow[],
  searched = "",
): TranscriptMessage => {
  const wordsOf = (type: "text" | "thinking") =>
    ends(content.flatMap((part) => (part.type === type && part.text ? [part.text] : [])).join("\n\n"), searched);
  return {
    seq,
    role,
    execution_id,
    text: wordsOf("text"),
    thinking: wordsOf("thinking"),
    attachments: content.flatMap((part) =>
      part.type === "image" || part.type === "file"
        ? [{ id: part.attachment_id, name: part.name, media_type: part.media_type }]
        : [],
    ),
    covers_to,
    withdrawn,
    calls: calls
      .filter((call) => call.seq === seq)
      .map(({ call_id, tool, input, status, ok, output, started_at, duration_ms }) => ({
        call_id,
        tool,
        input: shortInput(input),
        status,
        ok,
        output: output === null ? null : ends(output, searched),
        output_characters: output?.length ?? 0,
        started_at,
        duration_ms,
      })),
    created_at,
  };
};

export function createTranscripts({ db }: Store): Transcripts {
  /** Messages that hold the text, in themselves or in a call of theirs. */
  const holding = (id: string, text: string): SQL | undefined => {
    const calls = db
      .select({ one: sql`1` })
      .from(toolCalls)
      .where(
        and(
          eq(toolCalls.session_id, id),
          eq(toolCalls.seq, messages.seq),
          or(containsText(toolCalls.input, text), containsText(toolCalls.output, text)),
        ),
      );
    return or(containsText(messages.content, text), exists(calls));
  };
  /** @throws Problem 404. */
  const assertReadable = (id: string, caller: Caller): void => {
    const { user_id, project_id } = sessions;
    const row = db.select({ user_id, project_id }).from(sessions).where(eq(sessions.id, id)).get();
    if (!row || !mayRead(caller, WHOSE.sessions, row)) throw notFound("session");
  };
  return {
    outputOf(id, call, caller) {
      assertReadable(id, caller);
      const here = and(eq(toolCalls.session_id, id), eq(toolCalls.call_id, call));
      const row = db.select({ output: toolCalls.output }).from(toolCalls).where(here).get();
      if (row?.output == null) throw notFound("call");
      return row.output;
    },
    page(id, text, page, caller) {
      assertReadable(id, caller);
      const after = numberAfter(page);
      const where = and(
        eq(messages.session_id, id),
        after === undefined ? undefined : lt(messages.seq, after),
        text === undefined ? undefined : holding(id, text),
      );
      const found = db
        .select()
        .from(messages)
        .where(where)
        .orderBy(desc(messages.seq))
        .limit(page.limit + 1)
        .all();
      const seqs = found.map(({ seq }) => seq);
      const calls = db
        .select()
        .from(toolCalls)
        .where(and(eq(toolCalls.session_id, id), inArray(toolCalls.seq, seqs)))
        .orderBy(asc(toolCalls.seq), asc(toolCalls.position))
        .all();
      return listAnswer(
        found,
        page,
        ({ seq }) => String(seq),
        (message) => present(message, calls, text),
      );
    },
  };
}
