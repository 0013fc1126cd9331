/** The agent's side of the Agent Client Protocol: sessions of an editor are chats of the server. */
import { isAbsolute } from "node:path";
import type * as Acp from "@agentclientprotocol/sdk";
import { badRequest, isProblem, notFound, overLimit } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { BUILD } from "../../core/version.ts";
import { firstAgent } from "../chat/chat.ts";
import { type ChatDetailView, type ChatView, pathOf } from "../chat/session.ts";
import { agents } from "../resource/agents.ts";
import { findOne } from "../resource/find.ts";
import { projects } from "../resource/projects.ts";
import { oneLine } from "../terminal/style.ts";
import { createEditorChat, type EditorChat } from "./chat.ts";
import { tellHistory } from "./history.ts";
import type { Link } from "./link.ts";
import { AGENTS_OWN, MODEL_SETTING, settingsOf } from "./models.ts";

interface EditorAgent {
  /** Follows nothing any more, and removes chats in which nobody said anything. Replies that are under way continue. */
  close(): Promise<void>;
}

interface EditorAgentDeps {
  library: typeof Acp;
  stream: Acp.Stream;
  link: Link;
  /** What the command names: an agent, and a project. */
  chosen: { agent?: string | undefined; project?: string | undefined };
}

const LOGIN = "login";
const CODES: Readonly<Record<number, number>> = { 400: -32_602, 401: -32_000, 404: -32_002, 422: -32_602 };
const INTERNAL = -32_603;
const PAGE = 50;

export function serveEditor({ library, stream, link, chosen }: EditorAgentDeps): EditorAgent {
  const { methods, RequestError } = library;
  const chats = new Map<string, EditorChat>();

  /** A problem as the protocol's error: one line, with what to do. */
  function refusalOf(error: unknown): unknown {
    if (!isProblem(error)) return error;
    const message = oneLine(error.detail);
    if (error.status === 401 || error.code === "no_server") console.error(`skep: ${message}`);
    return new RequestError(CODES[error.status] ?? INTERNAL, message, { code: error.code });
  }
  const answering =
    <Context, Answer>(work: (context: Context) => Promise<Answer>) =>
    (context: Context): Promise<Answer> =>
      work(context).catch((error) => {
        throw refusalOf(error);
      });
  const openChat = (id: string): EditorChat => {
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
  const create = (): Promise<ChatView> =>
    link.ask(async (server) => {
      const { agent, project } = chosen;
      const agent_id = agent === undefined ? await firstAgent(server) : (await findOne(server, agents, agent)).id;
      const project_id = project === undefined ? undefined : (await findOne(server, projects, project)).id;
      return server.call("POST", "/v1/chat/sessions", { agent_id, project_id });
    });
  /** @param model of the chat. */
  const settings = async (model: string | null) => ({ configOptions: await settingsOf(link, model) });

  async function list({ cwd, cursor }: Acp.ListSessionsRequest): Promise<Acp.ListSessionsResponse> {
    const { agent, project } = chosen;
    return link.ask(async (server) => {
      const query = new URLSearchParams({ limit: String(PAGE) });
      if (cursor) query.set("cursor", cursor);
      if (agent !== undefined) query.set("agent_id", (await findOne(server, agents, agent)).id);
      const wanted = project === undefined ? undefined : (await findOne(server, projects, project)).id;
      const { items, next_cursor } = await server.call("GET", `/v1/chat/sessions?${query}`);
      const own = items.filter(({ project_id }) => wanted === undefined || project_id === wanted);
      return {
        sessions: own.map(({ id, title, last_activity_at }) => ({
          // The server knows no folders of the editor: a chat can be opened in each.
          sessionId: id,
          cwd: cwd ?? process.cwd(),
          title,
          updatedAt: last_activity_at,
        })),
        ...(next_cursor === null ? {} : { nextCursor: next_cursor }),
      };
    });
  }
  /** Opens a chat of the server again. @param read shows the editor what was said so far. */
  async function open(
    client: Acp.AgentContext,
    { sessionId, cwd }: { sessionId: string; cwd: string },
    read: (chat: EditorChat) => Promise<ChatDetailView>,
  ) {
    const known = await link.ask((server) => server.call("GET", `${pathOf(encodeURIComponent(sessionId))}?limit=1`));
    const chat = attach(client, known.id, cwd, false);
    const detail = await read(chat);
    chat.continueReply(detail);
    return settings(detail.model);
  }
  async function close(sessionId: string): Promise<void> {
    const chat = chats.get(sessionId);
    if (!chat) return;
    chats.delete(sessionId);
    const stopped = chat.cancel();
    chat.close();
    // A server that is away does not keep the editor.
    await stopped.catch(() => {});
    await removeEmpty(chat);
  }
  async function removeEmpty(chat: EditorChat): Promise<void> {
    if (!chat.isEmpty) return;
    await link.ask((server) => server.call("DELETE", `${pathOf(chat.id)}?purge=true`)).catch(() => {});
  }

  const connection = library
    .agent({ name: "skep" })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: library.PROTOCOL_VERSION,
      agentInfo: { name: "skep", title: "Skep", version: BUILD.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true, audio: false },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
      authMethods: [
        { id: LOGIN, name: "skep login", description: "Run skep login in a terminal, then choose this to continue." },
      ],
    }))
    .onRequest(
      methods.agent.authenticate,
      answering(async () => {
        await link.ask((server) => server.call("GET", "/v1/auth/me"));
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.new,
      answering(async ({ params, client }) => {
        assertFolder(params.cwd);
        const { id, model } = await create();
        attach(client, id, params.cwd, true);
        return { sessionId: id, ...(await settings(model)) };
      }),
    )
    .onRequest(
      methods.agent.session.load,
      answering(({ params, client }) =>
        open(client, params, (chat) => tellHistory(link, chat.id, chat.tell, chat.cwd)),
      ),
    )
    .onRequest(
      methods.agent.session.resume,
      answering(({ params, client }) =>
        open(client, params, (chat) => link.ask((server) => server.call("GET", `${pathOf(chat.id)}?limit=1`))),
      ),
    )
    .onRequest(
      methods.agent.session.list,
      answering(({ params }) => list(params)),
    )
    .onRequest(
      methods.agent.session.close,
      answering(async ({ params }) => {
        await close(params.sessionId);
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.delete,
      answering(async ({ params }) => {
        await close(params.sessionId);
        await link
          .ask((server) => server.call("DELETE", pathOf(encodeURIComponent(params.sessionId))))
          .catch((error) => {
            if (!isProblem(error) || error.status !== 404) throw error;
          });
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.setConfigOption,
      answering(async ({ params }) => {
        const { id } = openChat(params.sessionId);
        if (params.configId !== MODEL_SETTING || typeof params.value !== "string")
          throw badRequest(`There is one setting, ${MODEL_SETTING}, and it takes the id of a model.`);
        const wanted = params.value === AGENTS_OWN ? null : params.value;
        const { model } = await link.ask((server) => server.call("PUT", pathOf(id), { model: wanted }));
        return settings(model);
      }),
    )
    .onRequest(
      methods.agent.session.prompt,
      answering(async ({ params, signal }) => {
        const chat = openChat(params.sessionId);
        const cancel = (): void => {
          // An editor that is gone leaves the reply to the server.
          if (!connection.signal.aborted) void chat.cancel().catch(() => {});
        };
        signal.addEventListener("abort", cancel, { once: true });
        try {
          return { stopReason: await chat.prompt(params.prompt) };
        } finally {
          signal.removeEventListener("abort", cancel);
        }
      }),
    )
    .onNotification(methods.agent.session.cancel, async ({ params }) => {
      await chats
        .get(params.sessionId)
        ?.cancel()
        .catch((error) => console.error(`skep: ${isProblem(error) ? error.detail : String(error)}`));
    })
    .connect(stream);

  return {
    async close() {
      connection.close();
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
