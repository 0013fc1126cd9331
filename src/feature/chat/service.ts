/** Chats: sessions of the kind `chat`, each visible to its owner alone. */
import { conflict, invalidField, notFound, overLimit } from "../../core/errors.ts";
import type { Asker } from "../../core/ownership.ts";
import type { InputPart } from "../../engine/parts.ts";
import { textOf, textPart } from "../../engine/parts.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { EventLog } from "../../store/event-log.ts";
import type { Store } from "../../store/store.ts";
import { messages as messageTable } from "../../store/tables/sessions.ts";
import { mayRead, WHOSE_SESSIONS } from "../../store/whose.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";
import type { SessionFiles } from "../sessions/files.ts";
import type { SessionOwner, SessionRow, Sessions } from "../sessions/service.ts";
import type { ChatJobs } from "./jobs.ts";
import type {
  ChatCreate,
  ChatDetail,
  ChatFork,
  ChatMessage,
  ChatSend,
  ChatSession,
  ChatUpdate,
  QueuedMessage,
} from "./model.ts";
import { attachmentsOf, presentChat, presentMessage } from "./present.ts";
import { replyCosts } from "./reply-costs.ts";
import { type ChatRow, createChatRows, cursorOf } from "./store.ts";

export interface Chats {
  /** The caller's own, newest first. @param status `active` (default), `ended`, or `all`. */
  list(
    filter: { status?: "active" | "ended" | "all" | undefined; agent_id?: string | undefined },
    page: Page,
    caller: Caller,
  ): ListAnswer<ChatSession>;
  /** @throws Problem 404 unknown or another user's. */
  get(id: string, caller: Caller): ChatSession;
  /** Own chats whose title holds every word, newest first. */
  titled(
    words: readonly string[],
    limit: number,
    caller: Caller,
  ): Pick<SessionRow, "id" | "title" | "agent_id" | "project_id">[];
  /** @param before `seq` of the message before which to begin, backwards. */
  detail(id: string, page: { limit: number; before?: number | undefined }, caller: Caller): ChatDetail;
  /** @throws Problem 404 unknown agent or project, 409 an agent that is switched off, 422 a model of no provider. */
  create(input: ChatCreate, caller: Caller): ChatSession;
  update(id: string, input: ChatUpdate, caller: Caller): ChatSession;
  /** @throws Problem 409 `session_ended`, 422 an attachment that is not the caller's. */
  send(id: string, input: ChatSend, caller: Caller): { message_id: string; session_id: string; status: "queued" };
  queued(id: string, caller: Caller): QueuedMessage[];
  edit(id: string, messageId: string, message: string, caller: Caller): QueuedMessage;
  withdraw(id: string, messageId: string, caller: Caller): void;
  /** Ends the running reply and keeps what was said. */
  stop(id: string, caller: Caller): ChatSession;
  /** Asks the provider again for whose quota the reply waits. @throws Problem 409 `chat_not_waiting`. */
  tryNow(id: string, caller: Caller): ChatSession;
  end(id: string, purge: boolean, caller: Caller): void;
  /** Takes back that message and all after it. */
  rewind(id: string, messageId: string, caller: Caller): ChatSession;
  /** A new chat that begins with all up to that message; a job gives it the files. */
  fork(id: string, messageId: string, caller: Caller): ChatFork;
  /** The messages of a session that its owner asks for, whatever its kind. */
  pageOf(
    row: SessionRow,
    page: { limit: number; before?: number | undefined },
  ): Pick<ChatDetail, "messages" | "earlier" | "reply">;
  /** Has the model read a summary of what was said. @throws Problem 404, 409 `session_busy`, `session_ended`. */
  compact(id: string, caller: Caller): Job;
  /** A turn has ended: the first gives the chat a title. */
  finished: NonNullable<SessionOwner["finished"]>;
  /** The whole chat. */
  all(id: string, caller: Caller): { chat: ChatSession; messages: ChatMessage[] };
}

interface ChatsDeps {
  store: Store;
  sessions: Sessions;
  files: Pick<SessionFiles, "exist">;
  /** Deletes a chat that has ended, with all that belongs to it. */
  removeEnded(id: string, caller: Caller): void;
  /** @throws Problem 404 unknown, 409 switched off. */
  assertAgent(id: string): void;
  /** False also for one that they do not see. */
  projectExists(id: string, asker: Asker): boolean;
  /** What is wrong with the name of a model; undefined for one that can be called. */
  wrongModel(id: string): string | undefined;
  /** The model that answers in the session, and its window in tokens. */
  modelOf(row: Pick<SessionRow, "agent_id" | "wanted_model">): { model: string | null; window: number | null };
  /** The parts for attachments of that user. @throws Problem 422 when one is not theirs. */
  attach(ids: readonly string[], sessionId: string, caller: Caller): InputPart[];
  timeoutSeconds(): number;
  /** Chats of one user that have not ended. */
  mostOpen(): number;
  jobs: Pick<Jobs, "enqueue" | "live">;
  work: ChatJobs;
  /** Whether there is a model for titles. */
  makesTitles(): boolean;
  events: Pick<EventLog, "read" | "lastId" | "lastOf">;
}

const TITLE_CHARACTERS = 60;
const PAGE = 1_000;
const REPLY_EVENT_KINDS = ["agent_output", "agent_thinking"];
/** Events at which what was said before is in a message, or no longer counts. */
const REPLY_BOUNDS = [
  "turn_started",
  "turn_steered",
  "turn_ended",
  "tool_call_start",
  "tool_call_end",
  "output_withdrawn",
];
const REPLY_EVENTS = 20_000;

export function createChats(deps: ChatsDeps): Chats {
  const { store, sessions, assertAgent, projectExists, wrongModel, modelOf, attach, events } = deps;
  const messages = store.rows(messageTable);
  const chats = createChatRows(store);
  const find = (id: string, caller: Caller): SessionRow => {
    const row = sessions.find(id);
    if (row?.kind !== "chat" || !mayRead(caller, WHOSE_SESSIONS.chat, row)) throw notFound("chat session");
    return row;
  };
  const presentWith = (row: ChatRow, model: ReturnType<typeof modelOf>, queued: Map<string, number>): ChatSession =>
    presentChat(row, { ...model, queued: row.ended_at === null ? (queued.get(row.id) ?? 0) : 0 });
  const present = (row: SessionRow): ChatSession => presentWith(row, modelOf(row), sessions.waitingCounts([row.id]));
  const shown = (id: string): ChatSession => present(sessions.find(id)!);
  const waiting = (id: string) => sessions.queued(id).filter(({ started_at }) => started_at === null);
  /** Without accounts there is nobody to be fair to. @throws Problem 429 `too_many_chats`. */
  const assertRoom = ({ userId }: Caller): void => {
    if (userId === undefined) return;
    const [current, limit] = [chats.countOpen(userId), deps.mostOpen()];
    const remedy = "End chats that you no longer need. An administrator can change limits.user_open_chats.";
    if (current >= limit) throw overLimit("too_many_chats", "open chats", current, limit, remedy);
  };
  const assertModel = (model: string | null | undefined): void => {
    const wrong = model && wrongModel(model);
    if (wrong) throw invalidField("/model", wrong);
  };
  const presentQueued = ({ message_id, input, created_at }: ReturnType<typeof waiting>[number]): QueuedMessage => ({
    message_id,
    content: input.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n"),
    attachments: attachmentsOf(input),
    created_at,
  });

  /** Words of the running reply since its last tool call. A later read of the stream continues after `last_event_id`. */
  const replySoFar = (row: SessionRow, last: ChatMessage | undefined): ChatDetail["reply"] => {
    store.flush();
    const reply = { text: "", thinking: "", last_event_id: events.lastId() };
    if (row.status !== "running") return reply;
    const since = events.lastOf(row.id, REPLY_BOUNDS);
    for (const { kind, data } of events.read(since, REPLY_EVENTS, { session_id: row.id, kinds: REPLY_EVENT_KINDS }))
      if (data["call_id"] === undefined) reply[kind === "agent_output" ? "text" : "thinking"] += String(data["text"]);
    const isKept = last?.role === "assistant" && last.content.trim() === reply.text.trim();
    return isKept ? { ...reply, text: "", thinking: "" } : reply;
  };

  const pageOf: Chats["pageOf"] = (row, { limit, before }) => {
    const end = Math.min(before ?? row.message_count, row.message_count);
    const from = Math.max(0, end - limit);
    const said = sessions.transcript(row.id, from, end - from);
    const costs = replyCosts(store.statement, said);
    const messages = said.map((message) => presentMessage(message, costs.get(message.seq)));
    return { messages, earlier: from > 0, reply: replySoFar(row, messages.at(-1)) };
  };

  return {
    pageOf,
    list({ status = "active", agent_id }, page, caller) {
      const rows = chats.page({ caller, status, agent_id }, page);
      // Chats of a page share a few models, which take long to find.
      const models = new Map<string, ReturnType<typeof modelOf>>();
      const shared = (row: ChatRow): ReturnType<typeof modelOf> => {
        const key = `${row.agent_id} ${row.wanted_model ?? ""}`;
        const model = models.get(key) ?? modelOf(row);
        models.set(key, model);
        return model;
      };
      const queued = sessions.waitingCounts(rows.map((row) => row.id));
      return listAnswer(rows, page, cursorOf, (row) => presentWith(row, shared(row), queued));
    },
    titled: (words, limit, caller) => chats.titled(words, caller, limit),
    get: (id, caller) => present(find(id, caller)),
    detail(id, page, caller) {
      const row = find(id, caller);
      const files_job_id = deps.jobs.live(deps.work.copyFiles, id)?.id ?? null;
      return {
        ...present(row),
        files_job_id,
        provider_wait: sessions.providerWait({ sessionId: id }),
        ...pageOf(row, page),
      };
    },
    create({ agent_id, model, project_id, title }, caller) {
      assertAgent(agent_id);
      assertModel(model);
      if (project_id && !projectExists(project_id, caller))
        throw invalidField("/project_id", "There is no such project");
      assertRoom(caller);
      const row = sessions.open({
        kind: "chat",
        agent_id,
        user_id: caller.userId,
        model: model ?? undefined,
        project_id: project_id ?? undefined,
        title: title ?? undefined,
      });
      return present(row);
    },
    update(id, { title, model }, caller) {
      assertModel(model);
      return store.write(() => {
        find(id, caller);
        sessions.change(id, {
          ...(title === undefined ? {} : { title }),
          ...(model === undefined ? {} : { wanted_model: model }),
        });
        return shown(id);
      });
    },
    send(id, { message, attachment_ids = [], model, mode }, caller) {
      assertModel(model);
      return store.write(() => {
        const row = find(id, caller);
        assertAgent(row.agent_id);
        const input = [...attach(attachment_ids, id, caller), textPart(message)];
        const turn = sessions.queue(id, { input, mode, model, timeout_seconds: deps.timeoutSeconds() });
        if (row.title === null) sessions.change(id, { title: titleOf(message) });
        return { message_id: turn.message_id, session_id: id, status: "queued" as const };
      });
    },
    queued(id, caller) {
      find(id, caller);
      return waiting(id).map(presentQueued);
    },
    edit(id, messageId, message, caller) {
      return store.write(() => {
        find(id, caller);
        const old = waiting(id).find(({ message_id }) => message_id === messageId);
        const kept = (old?.input ?? []).filter(
          (part): part is InputPart => part.type === "image" || part.type === "file",
        );
        return presentQueued(sessions.edit(id, messageId, [...kept, textPart(message)]));
      });
    },
    withdraw: (id, messageId, caller) =>
      store.write(() => {
        find(id, caller);
        sessions.withdraw(id, messageId);
      }),
    stop: (id, caller) =>
      store.write(() => {
        find(id, caller);
        sessions.interrupt(id);
        return shown(id);
      }),
    tryNow(id, caller) {
      find(id, caller);
      if (sessions.tryNow({ sessionId: id }) === 0)
        throw conflict("The chat waits for no provider.", "chat_not_waiting");
      return shown(id);
    },
    end(id, purge, caller) {
      store.write(() => {
        const row = find(id, caller);
        if (row.ended_at === null) sessions.end(id);
        if (!purge) return;
        if (sessions.find(id)?.ended_at === null)
          throw conflict("The reply is being stopped. Delete it again in a moment.", "session_busy");
        deps.removeEnded(id, caller);
      });
    },
    rewind: (id, messageId, caller) =>
      store.write(() => {
        find(id, caller);
        sessions.rewind(id, messageId);
        return shown(id);
      }),
    fork: (id, messageId, caller) =>
      store.write(() => {
        const row = find(id, caller);
        const last = messages.find({ id: messageId });
        if (last?.session_id !== id) throw notFound("message in this session");
        assertRoom(caller);
        const made = sessions.open({
          kind: "chat",
          agent_id: row.agent_id,
          user_id: caller.userId,
          project_id: row.project_id ?? undefined,
          model: row.wanted_model ?? undefined,
          title: row.title ? `${row.title} (fork)` : undefined,
          outside: sessions.outside.reasonOf({ sessionId: id }),
        });
        sessions.copyTranscript(id, last.seq, made.id);
        const options = { key: made.id, subject: made.title ?? made.id, userId: caller.userId };
        const job =
          row.branch !== null || deps.files.exist(id)
            ? deps.jobs.enqueue(deps.work.copyFiles, { from: id, to: made.id }, options)
            : undefined;
        return { ...shown(made.id), files_job_id: job?.id ?? null };
      }),
    compact: (id, caller) =>
      store.write(() => {
        const row = find(id, caller);
        if (row.ended_at !== null) throw conflict("The chat has ended.", "session_ended");
        if (row.status !== "open")
          throw conflict("The agent is at work. Wait for its reply, or stop it first.", "session_busy");
        if (row.message_count < 2) throw conflict("There is nothing to summarise yet.", "nothing_to_compact");
        const options = { key: id, subject: row.title ?? id, userId: caller.userId };
        return deps.jobs.enqueue(deps.work.compact, { session_id: id }, options);
      }),
    finished({ session, input }, { status }) {
      const { id, title, execution_count, user_id } = session;
      if (status !== "succeeded" || execution_count !== 1 || title === null || !deps.makesTitles()) return;
      if (title !== titleOf(textOf(input))) return;
      const options = { key: id, subject: title, userId: user_id ?? undefined };
      deps.jobs.enqueue(deps.work.title, { session_id: id, instead_of: title }, options);
    },
    all(id, caller) {
      const chat = present(find(id, caller));
      const messages: ChatMessage[] = [];
      for (let from = 0; from < chat.message_count; from += PAGE)
        messages.push(...sessions.transcript(id, from, PAGE).map((message) => presentMessage(message)));
      return { chat, messages };
    },
  };
}

/** The first words of what was asked. */
function titleOf(message: string): string {
  const [line = ""] = message.trim().split("\n");
  if (line.length <= TITLE_CHARACTERS) return line || "Chat";
  const cut = line.slice(0, TITLE_CHARACTERS);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), TITLE_CHARACTERS / 2))}…`;
}
