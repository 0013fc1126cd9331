/** Chats: sessions of the kind `chat`. Only its owner can see a chat. */
import { conflict, invalidField, notFound, overLimit } from "../../core/errors.ts";
import type { Asker } from "../../core/ownership.ts";
import type { Ending } from "../../engine/execution.ts";
import { textOf } from "../../engine/parts.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import { messages as messageTable } from "../../store/tables/sessions.ts";
import { mayRead, WHOSE_SESSIONS } from "../../store/whose.ts";
import type { Job } from "../jobs/model.ts";
import type { Jobs } from "../jobs/service.ts";
import type { SessionFiles } from "../sessions/files.ts";
import type { SessionRow, Sessions, Work } from "../sessions/service.ts";
import type { ChatJobs } from "./jobs.ts";
import { createMessages, type MessagesDeps, titleOf } from "./messages.ts";
import type { ChatCreate, ChatDetail, ChatFork, ChatMessage, ChatSession, ChatUpdate } from "./model.ts";
import { presentChat } from "./present.ts";
import { type ChatRow, createChatRows, cursorOf } from "./store.ts";
import { createTranscripts, type TranscriptsDeps } from "./transcripts.ts";

interface ChatFilter {
  status?: "active" | "ended" | "all" | undefined;
  agent_id?: string | undefined;
}

export type Chats = ReturnType<typeof createChats>;

interface ChatsDeps extends TranscriptsDeps, Omit<MessagesDeps, "find" | "presentById" | "assertModel"> {
  sessions: Sessions;
  files: Pick<SessionFiles, "exist">;
  /** Deletes a chat that has ended, with everything that belongs to it. */
  removeEnded(id: string, caller: Caller): void;
  /** False also for a project that the asker does not see. */
  projectExists(id: string, asker: Asker): boolean;
  /** What is wrong with a model's name; undefined for a model that can be called. */
  wrongModel(id: string): string | undefined;
  /** The model that answers in the session, and the size of its context window in tokens. */
  modelOf(row: Pick<SessionRow, "agent_id" | "wanted_model">): { model: string | null; window: number | null };
  /** Limit of open chats of one user. */
  mostOpen(): number;
  jobs: Pick<Jobs, "enqueue" | "live">;
  work: ChatJobs;
  /** Whether a model for titles is configured. */
  makesTitles(): boolean;
}

export function createChats(deps: ChatsDeps) {
  const { store, sessions, assertAgent, projectExists, wrongModel, modelOf } = deps;
  const messages = store.rows(messageTable);
  const chats = createChatRows(store);
  const transcripts = createTranscripts(deps);
  const find = (id: string, caller: Caller): SessionRow => {
    const row = sessions.find(id);
    if (row?.kind !== "chat" || !mayRead(caller, WHOSE_SESSIONS.chat, row)) throw notFound("chat session");
    return row;
  };
  const presentWith = (row: ChatRow, model: ReturnType<typeof modelOf>, queued: Map<string, number>): ChatSession =>
    presentChat(row, { ...model, queued: row.ended_at === null ? (queued.get(row.id) ?? 0) : 0 });
  const present = (row: SessionRow): ChatSession => presentWith(row, modelOf(row), sessions.waitingCounts([row.id]));
  const presentById = (id: string): ChatSession => present(sessions.find(id)!);
  /** Limits the open chats of each user; without accounts there is no limit. @throws Problem 429 `too_many_chats`. */
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
  return {
    ...createMessages({ ...deps, find, presentById, assertModel }),
    /** The messages of a session. It works for sessions of any kind; the caller checks who asks. */
    pageOf: transcripts.pageOf,
    /** The caller's own chats, newest first. @param status `active` (default), `ended`, or `all`. */
    list({ status = "active", agent_id }: ChatFilter, page: Page, caller: Caller): ListAnswer<ChatSession> {
      const rows = chats.page({ caller, status, agent_id }, page);
      const shared = memoizeModels(modelOf);
      const queued = sessions.waitingCounts(rows.map((row) => row.id));
      return listAnswer(rows, page, cursorOf, (row) => presentWith(row, shared(row), queued));
    },
    /** The caller's own chats whose title contains every word, newest first. */
    searchTitles: (words: readonly string[], limit: number, caller: Caller) => chats.searchTitles(words, caller, limit),
    /** @throws Problem 404 for an unknown chat or another user's. */
    get: (id: string, caller: Caller): ChatSession => present(find(id, caller)),
    /** @param before `seq` of a message: the page ends just before it. */
    detail(id: string, page: { limit: number; before?: number | undefined }, caller: Caller): ChatDetail {
      const row = find(id, caller);
      const files_job_id = deps.jobs.live(deps.work.copyFiles, id)?.id ?? null;
      return {
        ...present(row),
        files_job_id,
        provider_wait: sessions.providerWait({ sessionId: id }),
        ...transcripts.pageOf(row, page),
      };
    },
    /** @throws Problem 404 unknown agent or project, 409 agent switched off, 422 a model that no provider has. */
    create({ agent_id, model, project_id, title }: ChatCreate, caller: Caller): ChatSession {
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
    update(id: string, { title, model }: ChatUpdate, caller: Caller): ChatSession {
      assertModel(model);
      return store.write(() => {
        find(id, caller);
        sessions.change(id, { title, wanted_model: model });
        return presentById(id);
      });
    },
    /** Stops the running reply and keeps what it has said. */
    stop: (id: string, caller: Caller): ChatSession =>
      store.write(() => {
        find(id, caller);
        sessions.interrupt(id);
        return presentById(id);
      }),
    /** Retries at once when the reply waits for a provider's quota. @throws Problem 409 `chat_not_waiting`. */
    tryNow(id: string, caller: Caller): ChatSession {
      find(id, caller);
      if (sessions.tryNow({ sessionId: id }) === 0)
        throw conflict("The chat waits for no provider.", "chat_not_waiting");
      return presentById(id);
    },
    end: (id: string, purge: boolean, caller: Caller): void =>
      store.write(() => {
        const row = find(id, caller);
        if (row.ended_at === null) sessions.end(id);
        if (!purge) return;
        if (sessions.find(id)?.ended_at === null)
          throw conflict("The reply is being stopped. Delete it again in a moment.", "session_busy");
        deps.removeEnded(id, caller);
      }),
    /** Makes a chat with a copy of the messages up to and including this one. A job copies the files. */
    fork: (id: string, messageId: string, caller: Caller): ChatFork =>
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
        return { ...presentById(made.id), files_job_id: job?.id ?? null };
      }),
    /**
     * Lets the model read a summary of the earlier messages. @throws Problem 404, 409 `session_busy`, `session_ended`.
     */
    compact: (id: string, caller: Caller): Job =>
      store.write(() => {
        const row = find(id, caller);
        assertCompactable(row);
        const options = { key: id, subject: row.title ?? id, userId: caller.userId };
        return deps.jobs.enqueue(deps.work.compact, { session_id: id }, options);
      }),
    /** Call when a turn has ended. The first successful turn starts the job that writes the chat's title. */
    onTurnEnd({ session, input }: Work, { status }: Ending): void {
      const { id, title, execution_count, user_id } = session;
      if (status !== "succeeded" || execution_count !== 1 || title === null || !deps.makesTitles()) return;
      if (title !== titleOf(textOf(input))) return;
      const options = { key: id, subject: title, userId: user_id ?? undefined };
      deps.jobs.enqueue(deps.work.title, { session_id: id, instead_of: title }, options);
    },
    /** The chat with all its messages. */
    all(id: string, caller: Caller): { chat: ChatSession; messages: ChatMessage[] } {
      const row = find(id, caller);
      return { chat: present(row), messages: transcripts.all(row) };
    },
  };
}

/** Looks up each model once for a list of chats: the look-up is slow, and most chats of a page share a few models. */
function memoizeModels(modelOf: ChatsDeps["modelOf"]): ChatsDeps["modelOf"] {
  const models = new Map<string, ReturnType<typeof modelOf>>();
  return (row) => {
    const key = `${row.agent_id} ${row.wanted_model ?? ""}`;
    const model = models.get(key) ?? modelOf(row);
    models.set(key, model);
    return model;
  };
}

/** @throws Problem 409. */
function assertCompactable({ ended_at, status, message_count }: SessionRow): void {
  if (ended_at !== null) throw conflict("The chat has ended.", "session_ended");
  if (status !== "open") throw conflict("The agent is at work. Wait for its reply, or stop it first.", "session_busy");
  if (message_count < 2) throw conflict("There is nothing to summarise yet.", "nothing_to_compact");
}
