/** The agent's side of the Agent Client Protocol: each session of the editor is a chat of the server. */
import type * as Acp from "@agentclientprotocol/sdk";
import { badRequest, isProblem } from "../../core/errors.ts";
import { BUILD } from "../../core/version.ts";
import { pathOf } from "../chat/session.ts";
import { oneLine } from "../terminal/style.ts";
import { tellHistory } from "./history.ts";
import type { Link } from "./link.ts";
import { AGENTS_OWN, MODEL_SETTING } from "./models.ts";
import { type Chosen, createEditorSessions } from "./sessions.ts";

interface EditorAgentDeps {
  library: typeof Acp;
  stream: Acp.Stream;
  link: Link;
  chosen: Chosen;
}

const LOGIN = "login";
const CODES: Readonly<Record<number, number>> = { 400: -32_602, 401: -32_000, 404: -32_002, 422: -32_602 };
const INTERNAL = -32_603;

export function serveEditor({ library, stream, link, chosen }: EditorAgentDeps) {
  const { methods, RequestError } = library;
  const sessions = createEditorSessions(link, chosen);

  /** Turns a Problem into an error of the protocol, with its one-line message, which says what to do. */
  function refusalOf(error: unknown): unknown {
    if (!isProblem(error)) return error;
    const message = oneLine(error.detail);
    if (error.status === 401 || error.code === "no_server") console.error(`skep: ${message}`);
    return new RequestError(CODES[error.status] ?? INTERNAL, message, { code: error.code });
  }
  const translateErrors =
    <Context, Answer>(work: (context: Context) => Promise<Answer>) =>
    (context: Context): Promise<Answer> =>
      work(context).catch((error) => {
        throw refusalOf(error);
      });
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
      translateErrors(async () => {
        await link.ask((server) => server.call("GET", "/v1/auth/me"));
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.new,
      translateErrors(async ({ params, client }) => {
        return sessions.create(client, params.cwd);
      }),
    )
    .onRequest(
      methods.agent.session.load,
      translateErrors(({ params, client }) =>
        sessions.open(client, params, (chat) => tellHistory(link, chat.id, chat.tell, chat.cwd)),
      ),
    )
    .onRequest(
      methods.agent.session.resume,
      translateErrors(({ params, client }) =>
        sessions.open(client, params, (chat) => link.ask((server) => server.call("GET", `${pathOf(chat.id)}?limit=1`))),
      ),
    )
    .onRequest(
      methods.agent.session.list,
      translateErrors(({ params }) => sessions.list(params)),
    )
    .onRequest(
      methods.agent.session.close,
      translateErrors(async ({ params }) => {
        await sessions.close(params.sessionId);
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.delete,
      translateErrors(async ({ params }) => {
        await sessions.close(params.sessionId);
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
      translateErrors(async ({ params }) => {
        const { id } = sessions.chatOf(params.sessionId);
        if (params.configId !== MODEL_SETTING || typeof params.value !== "string")
          throw badRequest(`There is one setting, ${MODEL_SETTING}, and it takes the id of a model.`);
        const wanted = params.value === AGENTS_OWN ? null : params.value;
        const { model } = await link.ask((server) => server.call("PUT", pathOf(id), { model: wanted }));
        return sessions.readSettings(model);
      }),
    )
    .onRequest(
      methods.agent.session.prompt,
      translateErrors(async ({ params, signal }) => {
        const chat = sessions.chatOf(params.sessionId);
        const cancel = (): void => {
          // If the editor has disconnected, the reply continues on the server.
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
      await sessions
        .cancel(params.sessionId)
        .catch((error) => console.error(`skep: ${isProblem(error) ? error.detail : String(error)}`));
    })
    .connect(stream);

  return {
    /**
     * Stops following the chats and removes those in which nobody said anything. Replies that are under way continue.
     */
    async close(): Promise<void> {
      connection.close();
      await sessions.leave();
    },
  };
}
