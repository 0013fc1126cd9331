/** The sessions that an editor has open. Each is a chat of the server. */
import { isAbsolute } from "node:path";
import type * as Acp from "@agentclientprotocol/sdk";
import { badRequest, notFound, overLimit } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { firstAgent } from "../chat/chat.ts";
import { type ChatDetailView, type ChatView, pathOf } from "../chat/session.ts";
import { agents } from "../resource/agents.ts";
import { findOne, queryOf } from "../resource/find.ts";
import { projects } from "../resource/projects.ts";
import { createEditorChat, type EditorChat } from "./chat.ts";
import type { Link } from "./link.ts";
import { settingsOf } from "./models.ts";

/** The agent and the project that were named on the command line. */
export interface Chosen {
  agent?: string | undefined;
  project?: string | undefined;
}

const PAGE = 50;

export function createEditorSessions(link: Link, { agent, project }: Chosen) {
  const chats = new Map<string, EditorChat>();

  const chatOf = (id: string): EditorChat => {
    const chat = chats.get(id);
    if (!chat) throw notFound("session", "Load it first, or start a new one.");
    return chat;
  };
  function attach(client: Acp.AgentContext, id: string, cwd: string, isNew: boolean): EditorChat {
    assertFolder(cwd);
    if (chats.size >= LIMITS.editorSessions && !chats.has(id))
      throw overLimit("too_many_sessions", "open sessions", chats.size, LIMITS.editorSessions, "Close some of them.");
    chats.get(id)?.close();
    const chat = createEditorChat({ link, client, id, cwd, isNew });
    chats.set(id, chat);
    return chat;
  }
  const make = (): Promise<ChatView> =>
    link.ask(async (server) => {
      const agent_id = agent === undefined ? await firstAgent(server) : (await findOne(server, agents, agent)).id;
      const project_id = project === undefined ? undefined : (await findOne(server, projects, project)).id;
      return server.call("POST", "/v1/chat/sessions", { agent_id, project_id });
    });
  /** The settings of a session. @param model the chat's model. */
  const readSettings = async (model: string | null) => ({ configOptions: await settingsOf(link, model) });

  async function create(client: Acp.AgentContext, cwd: string): Promise<Acp.NewSessionResponse> {
    assertFolder(cwd);
    const { id, model } = await make();
    attach(client, id, cwd, true);
    return { sessionId: id, ...(await readSettings(model)) };
  }
  async function list({ cwd, cursor }: Acp.ListSessionsRequest): Promise<Acp.ListSessionsResponse> {
    return link.ask(async (server) => {
      const agent_id = agent === undefined ? undefined : (await findOne(server, agents, agent)).id;
      const wanted = project === undefined ? undefined : (await findOne(server, projects, project)).id;
      let next_cursor: string | null = cursor || null;
      let own: ChatView[];
      // Pages that hold only chats of other projects are passed over.
      do {
        const query = queryOf({ limit: String(PAGE), cursor: next_cursor ?? undefined, agent_id });
        const page = await server.call("GET", `/v1/chat/sessions?${query}`);
        own = page.items.filter(({ project_id }) => wanted === undefined || project_id === wanted);
        next_cursor = page.next_cursor;
      } while (own.length === 0 && next_cursor !== null);
      return {
        sessions: own.map(({ id, title, last_activity_at }) => ({
          // The server does not know the editor's folders, so any chat can be opened in any folder.
          sessionId: id,
          cwd: cwd ?? process.cwd(),
          title,
          updatedAt: last_activity_at,
        })),
        ...(next_cursor === null ? {} : { nextCursor: next_cursor }),
      };
    });
  }
  /** Opens an existing chat of the server. @param read shows the editor what was said so far. */
  async function open(
    client: Acp.AgentContext,
    { sessionId, cwd }: { sessionId: string; cwd: string },
    read: (chat: EditorChat) => Promise<ChatDetailView>,
  ) {
    const known = await link.ask((server) => server.call("GET", `${pathOf(encodeURIComponent(sessionId))}?limit=1`));
    const chat = attach(client, known.id, cwd, false);
    const detail = await read(chat);
    chat.continueReply(detail);
    return readSettings(detail.model);
  }
  async function close(sessionId: string): Promise<void> {
    const chat = chats.get(sessionId);
    if (!chat) return;
    chats.delete(sessionId);
    const stopped = chat.cancel();
    chat.close();
    // An unreachable server must not keep the editor waiting.
    await stopped.catch(() => {});
    await removeEmpty(chat);
  }
  async function removeEmpty(chat: EditorChat): Promise<void> {
    if (!chat.isEmpty) return;
    await link.ask((server) => server.call("DELETE", `${pathOf(chat.id)}?purge=true`)).catch(() => {});
  }

  return {
    chatOf,
    readSettings,
    create,
    list,
    open,
    close,
    cancel: async (id: string): Promise<void> => chats.get(id)?.cancel(),
    /** Stops following all chats and removes those in which nobody said anything. */
    async leave(): Promise<void> {
      const left = [...chats.values()];
      chats.clear();
      for (const chat of left) chat.close();
      await Promise.all(left.map(removeEmpty));
    },
  };
}

function assertFolder(cwd: string): void {
  if (!isAbsolute(cwd)) throw badRequest("cwd takes the absolute path of a folder.");
}
