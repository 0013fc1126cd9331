/** Has agents work again on work that a person sent back. */
import { conflict } from "../../core/errors.ts";
import { textOf } from "../../engine/parts.ts";
import type { Caller } from "../../http/caller.ts";
import type { Chats } from "../chat/service.ts";
import type { WorkRow } from "../projects/works.ts";
import type { Runs } from "../runs/service.ts";
import type { Sessions } from "../sessions/service.ts";
import type { Guidance } from "./comments.ts";

interface AgainDeps {
  runs: Pick<Runs, "sendBack">;
  chats: Pick<Chats, "send">;
  sessions: Pick<Sessions, "queue" | "latest" | "find">;
}

/**
 * Separates the first request from this attempt's guidance. Guidance of earlier attempts is left out: it is settled, or
 * repeated in this one.
 */
const ATTEMPT = "--- Another attempt ---";

/** @throws Problem 409 `run_not_ended`, `session_busy`, `session_ended`, `not_sent_back`. */
export function workAgain({ runs, chats, sessions }: AgainDeps, work: WorkRow, guidance: Guidance, caller: Caller) {
  const { text, from_step, outside } = guidance;
  if (work.kind === "run") return void runs.sendBack(work.id, { guidance: text, from_step, outside }, caller);
  if (work.kind === "chat") return void chats.send(work.id, { message: text }, caller);
  if (work.kind === "swarm")
    throw conflict(
      "A swarm is not sent back. Retry its task, or start a chat with the project and describe the change.",
      "not_sent_back",
    );
  const last = sessions.latest(work.id);
  if (sessions.find(work.id)?.ended_at === null || !last)
    throw conflict("It is still at work. Wait until that has ended, or cancel it.", "session_busy");
  const asked = textOf(last.input).split(`\n\n${ATTEMPT}`)[0]!;
  const input = `${asked}\n\n${ATTEMPT}\n${text}`;
  sessions.queue(work.id, { input, timeout_seconds: last.timeout_seconds });
}
