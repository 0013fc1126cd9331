/**
 * Shows Markdown in a terminal while it is being written. A line appears as it grows, and is redrawn with its styles
 * when it is complete.
 */
import { countColumns, isLive, paint, stripControls } from "../terminal/style.ts";

export type MarkdownStream = ReturnType<typeof createMarkdown>;

const RULE_COLUMNS = 40;
const TAB = "    ";

/** @param write receives what goes to the terminal. Where lines cannot be redrawn, the text is written unstyled. */
export function createMarkdown(write: (text: string) => void) {
  const live = isLive();
  const style = createLineStyle();
  let line = "";
  const finish = (): void => {
    const width = countColumns();
    const rows = Math.max(1, Math.ceil(Bun.stringWidth(line) / width));
    const styled = style(line);
    // A line that is taller than the screen cannot be redrawn from its start.
    if (styled === line || rows >= (process.stdout.rows || 24)) write("\n");
    else write(`${rows > 1 ? `\x1b[${rows - 1}A` : ""}\r\x1b[0J${styled}\n`);
    line = "";
  };
  return {
    push(text: string): void {
      if (!live) return write(stripControls(text));
      const [first = "", ...more] = stripControls(text).replaceAll("\t", TAB).split("\n");
      line += first;
      write(first);
      for (const next of more) {
        finish();
        line = next;
        write(next);
      }
    },
    /** Finishes the incomplete last line. */
    end(): void {
      if (live && line !== "") finish();
    },
  };
}

/** Styles a complete text. */
export function markdownLines(text: string): string[] {
  const style = createLineStyle();
  return stripControls(text).replaceAll("\t", TAB).split("\n").map(style);
}

/** Styles one line after the other, and remembers whether the lines are inside a code block. */
function createLineStyle(): (line: string) => string {
  let fence: string | undefined;
  return (line) => {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark === undefined || !mark.startsWith(fence)) return paint("cyan", line);
      fence = undefined;
      return paint("dim", line);
    }
    if (mark !== undefined) {
      fence = mark;
      return paint("dim", line);
    }
    return styleLine(line);
  };
}

function styleLine(line: string): string {
  const heading = /^#{1,6}\s([\s\S]*)$/.exec(line)?.[1]?.trimStart();
  if (heading !== undefined) return paint("bold", heading.replaceAll("**", ""));
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) return paint("dim", "─".repeat(Math.min(RULE_COLUMNS, countColumns())));
  const [, quote, said] = /^(\s*>[\s>]*)([\s\S]*)$/.exec(line) ?? [];
  if (quote !== undefined) return paint("dim", `${"│ ".repeat(quote.split(">").length - 1)}${said}`);
  return inline(line.replace(/^(\s*)[-*+](\s+)/, "$1•$2"));
}

/** Code spans come first: characters inside them are no markup. */
const inline = (text: string): string =>
  text
    .split(/(`[^`]+`)/)
    .map((part, at) =>
      at % 2 === 1
        ? paint("cyan", part.slice(1, -1))
        : part
            .replace(/\*\*([^*]+)\*\*/g, (_, words: string) => paint("bold", words))
            .replace(
              /\[([^[\]]+)\]\(([^\s()]+)\)/g,
              (_, words: string, url: string) => `${words} ${paint("dim", `(${url})`)}`,
            ),
    )
    .join("");
