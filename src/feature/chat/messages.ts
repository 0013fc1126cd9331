/** Messages that people write in a chat. A message can be changed or withdrawn until the agent reads it. */
import { type InputPart, textPart } from "../../engine/parts.ts";
import type { Caller } from "../../http/caller.ts";
import type { Store } from "../../store/store.ts";
import type { SessionRow, Sessions } from "../sessions/service.ts";
import type { ChatSend, ChatSession, QueuedMessage } from "./model.ts";
import { attachmentsOf } from "./present.ts";

export interface MessagesDeps {
  store: Store;
  sessions: Pick<Sessions, "queue" | "listQueued" | "change" | "edit" | "withdraw" | "rewind">;
  /** The caller's chat. @throws Problem 404. */
  find(id: string, caller: Caller): SessionRow;
  presentById(id: string): ChatSession;
  /** @throws Problem 404 unknown agent, 409 the agent is switched off. */
  assertAgent(id: string): void;
  /** @throws Problem 422. */
  assertModel(model: string | null | undefined): void;
  /** Makes message parts of the attachments. @throws Problem 422 for an attachment that is not the caller's. */
  attach(ids: readonly string[], sessionId: string, caller: Caller): InputPart[];
  timeoutSeconds(): number;
}

const TITLE_CHARACTERS = 60;

export function createMessages(deps: MessagesDeps) {
  const { store, sessions, find, presentById, assertAgent, assertModel } = deps;
  const listWaiting = (id: string) => sessions.listQueued(id).filter(({ started_at }) => started_at === null);

  return {
    /** @throws Problem 409 `session_ended`, 422 an attachment that is not the caller's. */
    send(
      id: string,
      { message, attachment_ids = [], model, mode }: ChatSend,
      caller: Caller,
    ): { message_id: string; session_id: string; status: "queued" } {
      assertModel(model);
      return store.write(() => {
        const row = find(id, caller);
        assertAgent(row.agent_id);
        const input = [...deps.attach(attachment_ids, id, caller), textPart(message)];
        const turn = sessions.queue(id, { input, mode, model, timeout_seconds: deps.timeoutSeconds() });
        if (row.title === null) sessions.change(id, { title: titleOf(message) });
        return { message_id: turn.message_id, session_id: id, status: "queued" as const };
      });
    },
    listQueued(id: string, caller: Caller): QueuedMessage[] {
      find(id, caller);
      return listWaiting(id).map(presentQueued);
    },
    edit: (id: string, messageId: string, message: string, caller: Caller): QueuedMessage =>
      store.write(() => {
        find(id, caller);
        const old = listWaiting(id).find(({ message_id }) => message_id === messageId);
        const kept = (old?.input ?? []).filter(
          (part): part is InputPart => part.type === "image" || part.type === "file",
        );
        return presentQueued(sessions.edit(id, messageId, [...kept, textPart(message)]));
      }),
    withdraw: (id: string, messageId: string, caller: Caller): void =>
      store.write(() => {
        find(id, caller);
        sessions.withdraw(id, messageId);
      }),
    /** Withdraws the message and all that follow it. */
    rewind: (id: string, messageId: string, caller: Caller): ChatSession =>
      store.write(() => {
        find(id, caller);
        sessions.rewind(id, messageId);
        return presentById(id);
      }),
  };
}

const presentQueued = ({
  message_id,
  input,
  created_at,
}: ReturnType<Sessions["listQueued"]>[number]): QueuedMessage => ({
  message_id,
  content: input.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n"),
  attachments: attachmentsOf(input),
  created_at,
});

/** A title made of the message's first words. */
export function titleOf(message: string): string {
  const [line = ""] = message.trim().split("\n");
  if (line.length <= TITLE_CHARACTERS) return line || "Chat";
  const cut = line.slice(0, TITLE_CHARACTERS);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), TITLE_CHARACTERS / 2))}…`;
}
