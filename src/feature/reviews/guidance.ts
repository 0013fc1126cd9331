/** Comments as guidance for the agents of the next attempt. */
import { ABOUT_QUOTES, quotedOutside } from "../../core/outside-text.ts";
import type { changeComments } from "../../store/tables/reviews.ts";

export type CommentRow = typeof changeComments.$inferSelect;

/** Most characters of one attempt's guidance. */
const GUIDANCE_CHARACTERS = 50_000;
const QUOTE_CHARACTERS = 120;
const OUTSIDE_CHARACTERS = 4_000;
const HEAD = "Your work was reviewed and sent back.";

interface Guidance {
  text: string;
  /** Ids of the comments in the text. The others did not fit. */
  sent: string[];
}

/** @param mask masks secrets in text from outside before that text is cut. */
export function guidanceOf(
  comments: readonly CommentRow[],
  message: string | undefined,
  mask: (text: string) => string,
): Guidance {
  const outside = comments.filter(({ codehost_login }) => codehost_login !== null);
  const own = comments.filter(({ codehost_login }) => codehost_login === null);
  const sent: string[] = [];
  let room = GUIDANCE_CHARACTERS - HEAD.length - (message?.length ?? 0);
  const fit = (rows: readonly CommentRow[], show: (row: CommentRow) => string): string[] => {
    const parts: string[] = [];
    for (const row of rows) {
      const part = show(row);
      room -= part.length + 2;
      if (room < 0) break;
      parts.push(part);
      sent.push(row.id);
    }
    return parts;
  };
  const lines = fit(own, ownLine);
  const quotes = fit(outside, (row) => outsideQuote(row, mask));
  const left = comments.length - sent.length;
  const text = [
    HEAD,
    message?.trim(),
    ...(lines.length === 0
      ? []
      : ["Settle each of these comments, and answer each with answer_comment:", lines.join("\n")]),
    ...(quotes.length === 0
      ? []
      : ["Change the work as these reviewers ask, and answer each with answer_comment.", ABOUT_QUOTES, ...quotes]),
    ...(left === 0 ? [] : [`${left} more comments come with the next attempt.`]),
  ];
  return { text: text.filter(Boolean).join("\n\n"), sent };
}

const placeOf = ({ path, line, side }: CommentRow): string =>
  path === null
    ? "the change"
    : `${path}${line === null ? "" : `:${line}`}${side === "old" ? " (before the change)" : ""}`;

function ownLine(row: CommentRow): string {
  const at = row.quote === null ? "" : `, at ${lineQuote(row.quote)}`;
  return `- [${row.id}] ${placeOf(row)}${at}: ${row.body.trim().replaceAll("\n", "\n  ")}`;
}

/** Quotes a line of a file. It is material, so it is kept short and cannot end its quotes. */
const lineQuote = (line: string): string => `\`${line.trim().replaceAll("`", "'").slice(0, QUOTE_CHARACTERS)}\``;

function outsideQuote(row: CommentRow, mask: (text: string) => string): string {
  const source = row.path === null ? `review ${row.id}` : `review ${row.id} of ${placeOf(row).replace(/["<>\n]/g, "")}`;
  return quotedOutside({ source, author: row.codehost_login ?? "", text: row.body }, mask, OUTSIDE_CHARACTERS);
}
