/**
 * Reads transcripts from the rows of sessions. Long outputs are shortened, because a page of a transcript is for
 * people.
 */
import { notFound } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, numberAfter, type Page } from "../../http/list.ts";
import { type Condition, contains } from "../../store/reader.ts";
import type { Store } from "../../store/store.ts";
import { messages, sessions, toolCalls } from "../../store/tables/sessions.ts";
import { expectReadable, WHOSE } from "../../store/whose.ts";
import type { TranscriptMessage } from "./model.ts";

type MessageRow = typeof messages.$inferSelect;
type CallRow = typeof toolCalls.$inferSelect;

export type Transcripts = ReturnType<typeof createTranscripts>;

/** Characters that are shown before and after a search's match. */
const AROUND = 400;

/** Shortens a long text to its beginning, its end, and the surroundings of the first match between them. */
function shorten(text: string, searched = ""): string {
  const half = LIMITS.transcriptOutputCharacters / 2;
  if (text.length <= half * 2) return text;
  const middle = searched ? foldCase(text.slice(half, -half)).indexOf(foldCase(searched)) : -1;
  const at = half + middle;
  const found = middle < 0 ? [] : [text.slice(Math.max(half, at - AROUND), Math.min(at + AROUND, text.length - half))];
  return [text.slice(0, half), ...found, text.slice(-half)].join("\n…\n");
}

/** Lower case as `contains` in store/reader.ts compares it: only A–Z. */
const foldCase = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Shortens large values of an input, so that a page stays readable. The input's shape stays. */
function shortInput(input: unknown, depth = 0): unknown {
  if (typeof input === "string") return shorten(input);
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
    shorten(content.flatMap((part) => (part.type === type && part.text ? [part.text] : [])).join("\n\n"), searched);
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
        output: output === null ? null : shorten(output, searched),
        output_characters: output?.length ?? 0,
        started_at,
        duration_ms,
      })),
    created_at,
  };
};

/** Messages of the session that contain the text, themselves or in one of their tool calls. */
function matchText(id: string, text: string): Condition {
  const [content, value] = contains("messages.content", text);
  const call = `${contains("c.input", text)[0]} OR ${contains("c.output", text)[0]}`;
  const inCalls = `SELECT 1 FROM tool_calls c WHERE c.session_id = ? AND c.seq = messages.seq AND (${call})`;
  return [`(${content} OR EXISTS (${inCalls}))`, value, id, value, value];
}

export function createTranscripts({ rows }: Pick<Store, "rows">) {
  const [said, called, known] = [rows(messages), rows(toolCalls), rows(sessions)];
  /** @throws Problem 404. */
  const assertReadable = (id: string, caller: Caller): void =>
    void expectReadable(caller, WHOSE.sessions, known.find({ id }), "session");
  return {
    /**
     * The whole stored output of a tool call.
     * @throws Problem 404 when session or call is unknown or another user's.
     */
    outputOf(id: string, call: string, caller: Caller): string {
      assertReadable(id, caller);
      const row = called.find({ session_id: id, call_id: call });
      if (row?.output == null) throw notFound("call");
      return row.output;
    },
    /** The session's messages, newest first. @throws Problem 404 when the session is unknown or another user's. */
    page(id: string, text: string | undefined, page: Page, caller: Caller): ListAnswer<TranscriptMessage> {
      assertReadable(id, caller);
      const after = numberAfter(page);
      const earlier: Condition = after === undefined ? undefined : ["seq < ?", after];
      const where = [{ session_id: id }, earlier, text === undefined ? undefined : matchText(id, text)];
      const found = said.list(where, { order: "seq DESC", limit: page.limit + 1 });
      const seqs: Condition = ["seq IN (SELECT value FROM json_each(?))", JSON.stringify(found.map(({ seq }) => seq))];
      const calls = called.list([{ session_id: id }, seqs], { order: "seq, position" });
      return listAnswer(
        found,
        page,
        ({ seq }) => String(seq),
        (message) => present(message, calls, text),
      );
    },
  };
}
