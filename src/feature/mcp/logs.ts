/**
 * The last log lines of each tool server, and the lines that follow. They are masked, limited in number, held in
 * memory, and lost when the process ends.
 */
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { LIMITS } from "../../core/limits.ts";
import type { MaskedStream, Masking } from "../../core/masking.ts";
import type { LogLine } from "../../http/log-frames.ts";

/** `skep`: remarks of this server itself. */
type LogStream = "stdout" | "stderr" | "skep";

interface McpLogLine extends LogLine {
  at: string;
  server_id: string;
  stream: LogStream;
}

export type McpLogs = ReturnType<typeof createMcpLogs>;

type Reader = (line: McpLogLine) => void;
/** Most lines that a slow reader may be behind; older ones are dropped. */
const BEHIND = 10_000;

export function createMcpLogs(clock: Clock, masking: Pick<Masking, "stream">) {
  const kept = new Map<string, McpLogLine[]>();
  const open = new Map<string, { masked: MaskedStream; rest: string }>();
  const readers = new Set<Reader>();

  function add(server: string, stream: LogStream, text: string): void {
    const shown = text.length > LIMITS.mcpLogLineCharacters ? `${text.slice(0, LIMITS.mcpLogLineCharacters)}…` : text;
    const line = { at: toTimestamp(clock.now()), server_id: server, stream, text: shown };
    const lines = kept.get(server) ?? [];
    kept.set(server, lines);
    lines.push(line);
    if (lines.length > LIMITS.mcpLogLines) lines.shift();
    for (const read of readers) read(line);
  }
  function take(server: string, stream: LogStream, text: string, isEnd: boolean): void {
    const key = `${server}/${stream}`;
    const state = open.get(key) ?? { masked: masking.stream(), rest: "" };
    const lines = (state.rest + state.masked.push(text) + (isEnd ? state.masked.end() : "")).split("\n");
    state.rest = isEnd ? "" : (lines.pop() ?? "");
    if (state.rest.length > LIMITS.mcpLogLineCharacters) {
      lines.push(state.rest);
      state.rest = "";
    }
    if (isEnd) open.delete(key);
    else open.set(key, state);
    for (const line of lines) if (line.trim() !== "") add(server, stream, line.replace(/\r$/, ""));
  }
  return {
    /** Text as it comes, not cut into lines. */
    // Standard error comes in pieces; the other streams come in whole lines.
    write: (server: string, stream: LogStream, text: string) =>
      take(server, stream, stream === "stderr" ? text : `${text}\n`, stream !== "stderr"),
    /** Shows an unfinished last line once the server has ended. */
    flush: (server: string) => take(server, "stderr", "", true),
    forget(server: string): void {
      kept.delete(server);
      for (const key of [...open.keys()]) if (key.startsWith(`${server}/`)) open.delete(key);
    },
    /** The last `tail` lines and, with `follow`, later ones as they come. @param server undefined for all servers. */
    read({ server, tail, follow }: { server?: string | undefined; tail: number; follow: boolean }): {
      lines: AsyncIterable<McpLogLine>;
      stop(): void;
    } {
      const isWanted = (line: McpLogLine) => server === undefined || line.server_id === server;
      const queue = [...kept.values()]
        .flat()
        .filter(isWanted)
        .sort((a, b) => a.at.localeCompare(b.at))
        .slice(tail === 0 ? Number.POSITIVE_INFINITY : -tail);
      let wake = () => {};
      let over = !follow;
      const onLine: Reader = (line) => {
        if (!isWanted(line)) return;
        queue.push(line);
        if (queue.length > BEHIND) queue.shift();
        wake();
      };
      if (follow) readers.add(onLine);
      const stop = () => {
        over = true;
        readers.delete(onLine);
        wake();
      };
      return {
        lines: linesOf(
          queue,
          () => over,
          (next) => {
            wake = next;
          },
        ),
        stop,
      };
    },
  };
}

async function* linesOf(queue: McpLogLine[], isOver: () => boolean, onWake: (wake: () => void) => void) {
  while (true) {
    const line = queue.shift();
    if (line) yield line;
    else if (isOver()) return;
    else await new Promise<void>(onWake);
  }
}
