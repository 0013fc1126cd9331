/** Tables as text/csv (RFC 4180). Text that a spreadsheet would run as a formula is neutralized. */

export type Cell = string | number | boolean | null | undefined;

/** Whether the request prefers CSV. */
export const wantsCsv = (request: Request): boolean => /^\s*text\/csv\b/i.test(request.headers.get("accept") ?? "");

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell !== "string") return String(cell);
  const plain = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

const formatLine = (cells: readonly Cell[]): string => `${cells.map(cellText).join(",")}\r\n`;
const LINES_A_CHUNK = 200;

/** Streams the rows as they are read. @param name of the file, without its extension. */
export function csvResponse(name: string, header: readonly string[], rows: Iterable<readonly Cell[]>): Response {
  const encoder = new TextEncoder();
  const source = rows[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(formatLine(header))),
    pull(controller) {
      const lines: string[] = [];
      while (lines.length < LINES_A_CHUNK) {
        const { done, value } = source.next();
        if (done) break;
        lines.push(formatLine(value));
      }
      if (lines.length > 0) controller.enqueue(encoder.encode(lines.join("")));
      if (lines.length < LINES_A_CHUNK) controller.close();
    },
    cancel: () => void source.return?.(),
  });
  return new Response(body, {
    headers: {
      "Content-Type": "text/csv; charset=utf-8; header=present",
      "Content-Disposition": `attachment; filename="${name}.csv"`,
    },
  });
}
