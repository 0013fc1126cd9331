/**
 * The graph worker: a process of its own for parsing, resolving and asking, so that native code that crashes, blocks or
 * grows costs one restart and never the server. Speaks `protocol.ts` over IPC; ends when the parent goes away.
 *
 * It leaves without running destructors: Kuzu may crash when it is closed late, and everything on disk is complete
 * before an answer is sent.
 */
import type { GraphReply, GraphRequest } from "./protocol.ts";
import { createGraphSession, GraphError, type GraphSession } from "./session.ts";

const MAX_SESSIONS = 8;

/** Runs until the parent disconnects. Throws when the process was not started with an IPC channel. */
export function runGraphWorker(): void {
  if (!process.send) throw new Error("graph-worker is started by the server, over IPC");
  const reply = (message: GraphReply) => {
    process.send?.(message);
  };
  const sessions = new Map<string, GraphSession>();

  function sessionOf(root: string, store: string): GraphSession {
    const key = `${root}\n${store}`;
    const known = sessions.get(key);
    if (known) {
      // The most recently asked stays longest.
      sessions.delete(key);
      sessions.set(key, known);
      return known;
    }
    const session = createGraphSession(root, store);
    sessions.set(key, session);
    for (const [oldest, old] of sessions) {
      if (sessions.size <= MAX_SESSIONS) break;
      old.close();
      sessions.delete(oldest);
    }
    return session;
  }

  process.on("message", async (message: GraphRequest) => {
    try {
      const value = await answer(sessionOf(message.root, message.store), message, reply);
      reply({ id: message.id, kind: "value", value });
    } catch (error) {
      const code = error instanceof GraphError ? error.code : "failed";
      reply({ id: message.id, kind: "error", code, message: error instanceof Error ? error.message : String(error) });
    }
  });
  process.on("disconnect", () => leave());
}

async function answer(
  session: GraphSession,
  message: GraphRequest,
  reply: (message: GraphReply) => void,
): Promise<unknown> {
  const { operation, args, id } = message;
  if (operation === "index") {
    const [force] = args as [boolean];
    const report = await session.index({ force, progress: (phases) => reply({ id, kind: "progress", phases }) });
    return report;
  }
  const method = session[operation] as (...values: unknown[]) => unknown;
  return method(...args);
}

/** Ends the process at once: nothing is left to write. */
function leave(): never {
  const { reallyExit } = process as unknown as { reallyExit?: (code: number) => never };
  if (reallyExit) return reallyExit(0);
  process.kill(process.pid, "SIGKILL");
  throw new Error("unreachable");
}

if (import.meta.main && process.argv[1]?.endsWith("worker.ts")) runGraphWorker();
