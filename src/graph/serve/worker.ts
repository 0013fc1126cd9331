/**
 * The graph worker: a process that parses, resolves and answers questions. If native code in it crashes, blocks or uses
 * too much memory, only this process is restarted, never the server. It speaks `protocol.ts` over IPC and ends when the
 * parent does.
 *
 * It exits without running destructors, because Kuzu may crash when it is closed late. Everything on disk is complete
 * before an answer is sent.
 */

import { setPriority } from "node:os";
import { isProblem, messageOf } from "../../core/errors.ts";
import { takeTurns } from "../../core/turns.ts";
import { unpackAddonsTo } from "../../process/addons.ts";
import { isGraphErrorCode } from "../graph-error.ts";
import { endpointBody, jsonPieces } from "./endpoint-body.ts";
import { createLiveSlot } from "./live-slot.ts";
import type { GraphReply, GraphRequest } from "./protocol.ts";
import { createGraphSession, type GraphPlace, type GraphSession } from "./session.ts";
import { toolText } from "./tool-calls.ts";

const MAX_SESSIONS = 8;

/** Niceness of an index job, so that it does not slow the server on the same machine; -20 to 19. */
const INDEX_PRIORITY = 10;

/**
 * Runs until the parent disconnects. Throws if the process was started without an IPC channel.
 * @param addons folder for native add-ons; if not given, a private folder is used
 */
export function runGraphWorker(addons?: string): void {
  if (!process.send) throw new Error("graph-worker is started by the server, over IPC");
  if (addons !== undefined) unpackAddonsTo(addons);
  const reply = (message: GraphReply) => {
    process.send?.(message);
  };
  const sessions = new Map<string, GraphSession>();
  const slot = createLiveSlot();

  function sessionOf(place: GraphPlace): GraphSession {
    const key = JSON.stringify([place.root, place.store, place.gitDir]);
    const known = sessions.get(key);
    if (known) {
      // Moved to the end: the sessions that were used most recently are kept longest.
      sessions.delete(key);
      sessions.set(key, known);
      return known;
    }
    const session = createGraphSession(place, slot);
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
      const value = await answer(sessionOf(message.place), message, reply);
      if (message.json) await replyJson(message, value, reply);
      else reply({ id: message.id, kind: "value", value });
      // An agent that uses a tool is usually changing files.
      if (message.operation === "tool") sessionOf(message.place).expectEdit();
    } catch (error) {
      const known = isProblem(error) && isGraphErrorCode(error.code) ? error : undefined;
      const data = known?.extras.data;
      const said = { message: messageOf(error), ...(data ? { data } : {}) };
      reply({ id: message.id, kind: "error", code: known?.code ?? "failed", ...said });
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
    setPriority(INDEX_PRIORITY);
    const [force, seed, scip] = args as [boolean, string | undefined, string | undefined];
    return session.index({ force, seed, scip, progress: (phases) => reply({ id, kind: "progress", phases }) });
  }
  if (operation === "tool") {
    const [name, values] = args as [string, Record<string, unknown>];
    return toolText(session, name, values);
  }
  const method: unknown = session[operation];
  return (method as (...values: unknown[]) => unknown)(...args);
}

/** Sends the answer as pieces of JSON that are made here, so that the server only passes them on. */
async function replyJson(
  { id, operation }: GraphRequest,
  value: unknown,
  reply: (message: GraphReply) => void,
): Promise<void> {
  const { body, next } = endpointBody(operation, value);
  const pieces = jsonPieces(body);
  const turn = takeTurns();
  for (let piece = pieces.next(); !piece.done; ) {
    const bytes = piece.value;
    piece = pieces.next();
    reply({ id, kind: "json", bytes, last: piece.done === true, next });
    await turn();
  }
}

/** Ends the process at once. Nothing is left to write. */
function leave(): never {
  const { reallyExit } = process as { reallyExit?: (code: number) => never };
  if (reallyExit) return reallyExit(0);
  process.kill(process.pid, "SIGKILL");
  throw new Error("unreachable");
}
