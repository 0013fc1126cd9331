/** One chat of the server, as a session of an editor. */
import type { AgentContext, ContentBlock, SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import { conflict, invalid, isProblem, Problem } from "../../core/errors.ts";
import type { SkepEvent } from "../../core/events.ts";
import { type ChatDetailView, pathOf, type TurnEnd } from "../chat/session.ts";
import { followTurn, type Position } from "./follow.ts";
import type { Link } from "./link.ts";
import { seesPictures } from "./models.ts";
import { readPrompt } from "./prompt.ts";
import { createQuestions } from "./questions.ts";
import { createTeller } from "./teller.ts";

export type EditorChat = ReturnType<typeof createEditorChat>;

interface EditorChatDeps {
  link: Link;
  client: AgentContext;
  id: string;
  cwd: string;
  isNew: boolean;
}

/** The turn that the editor's current prompt asked for. */
interface Turn {
  messageId?: string;
  isCancelled: boolean;
  /** Aborted when the message was withdrawn before its turn began. */
  withdrawn: AbortController;
}

export function createEditorChat({ link, client, id, cwd, isNew }: EditorChatDeps) {
  const closing = new AbortController();
  const { signal } = closing;
  const tell = (update: SessionUpdate) => client.notify("session/update", { sessionId: id, update });
  const teller = createTeller(tell, cwd);
  const questions = createQuestions({ link, client, sessionId: id, teller, signal });
  const path = pathOf(id);
  let turn: Turn | undefined;
  /** The reply that was already under way when the editor opened the chat. */
  let earlier: { position: Position; over: Promise<unknown> } | undefined;

  const take = async (event: SkepEvent): Promise<void> => {
    const { kind, data } = event;
    if (kind === "permission_requested") questions.ask(String(data["request_id"]));
    if (kind === "permission_resolved") questions.close(String(data["request_id"]), data["state"] === "allowed");
    await teller.take(event);
  };
  async function follow(position: Position, messageId: string | undefined, until: AbortSignal): Promise<TurnEnd> {
    try {
      return await followTurn(link, { chatId: id, position, messageId, take }, until);
    } finally {
      questions.closeAll();
      await teller.end();
    }
  }
  /** Tells the editor the chat's title, its cost, and how full the model's context window is. */
  async function tellTotals(): Promise<void> {
    const { title, context, cost_usd, last_activity_at } = await link.ask((server) => server.call("GET", path));
    await tell({ sessionUpdate: "session_info_update", title, updatedAt: last_activity_at });
    const { used, window } = context;
    if (used === null || window === null) return;
    await tell({ sessionUpdate: "usage_update", used, size: window, cost: { amount: cost_usd, currency: "USD" } });
  }
  async function send(blocks: readonly ContentBlock[]): Promise<{ messageId: string; position: Position }> {
    const { message, files, hasPictures } = readPrompt(blocks, cwd);
    const { model, reply } = await link.ask((server) => server.call("GET", `${path}?limit=1`));
    if (hasPictures && !(await seesPictures(link, model)))
      throw invalid(`${model} sees no pictures. Choose another model, or leave the picture out.`);
    return link.ask(async (server) => {
      const attachment_ids: string[] = [];
      for (const file of files)
        attachment_ids.push(
          (await server.upload<{ id: string }>("/v1/attachments/upload", file, { session_id: id })).id,
        );
      const sent = await server.call("POST", `${path}/message`, { message, attachment_ids });
      return { messageId: sent.message_id, position: { at: reply.last_event_id } };
    });
  }
  async function stop({ messageId, withdrawn }: Turn): Promise<void> {
    if (messageId !== undefined && (await withdraw(messageId))) withdrawn.abort();
    await link.askPatiently((server) => server.call("POST", `${path}/stop`), signal);
  }
  /** Takes a message back before its turn begins. @returns false when the turn has already begun. */
  const withdraw = (messageId: string): Promise<boolean> =>
    link
      .askPatiently((server) => server.call("DELETE", `${path}/queue/${messageId}`), signal)
      .then(() => true)
      .catch((error) => {
        if (isProblem(error) && (error.status === 404 || error.status === 409)) return false;
        throw error;
      });

  async function answer(own: Turn, blocks: readonly ContentBlock[]): Promise<StopReason> {
    const { messageId, position } = await send(blocks);
    own.messageId = messageId;
    chat.isEmpty = false;
    if (own.isCancelled) await stop(own);
    // Wait for the earlier reply to end: two followers at a time would send the editor the same events twice.
    await earlier?.over;
    const from = earlier?.position ?? position;
    earlier = undefined;
    try {
      const { status, error } = await follow(from, messageId, AbortSignal.any([signal, own.withdrawn.signal]));
      if (status === "cancelled") return "cancelled";
      if (status === "failed") throw new Problem(502, error?.code ?? "failed", error?.message ?? "The reply failed.");
      return "end_turn";
    } catch (error) {
      if (own.withdrawn.signal.aborted || signal.aborted) return "cancelled";
      throw error;
    }
  }

  const chat = {
    id,
    cwd,
    /** Whether the chat was created for this editor and nobody has said anything in it yet. */
    isEmpty: isNew,
    tell,
    /**
     * Answers one prompt. @throws Problem when the server refuses it, the reply fails, or a turn is already under way.
     */
    async prompt(blocks: readonly ContentBlock[]): Promise<StopReason> {
      if (turn) throw conflict("This chat is answering a prompt. Wait for its reply, or cancel it.", "session_busy");
      const own: Turn = { isCancelled: false, withdrawn: new AbortController() };
      turn = own;
      try {
        const reason = await answer(own, blocks);
        await tellTotals().catch((error) => {
          if (!isProblem(error)) throw error;
        });
        return reason;
      } finally {
        turn = undefined;
      }
    },
    /** Stops the turn that is under way, if any. */
    async cancel(): Promise<void> {
      if (turn) turn.isCancelled = true;
      if (turn?.messageId !== undefined) await stop(turn);
      else if (!turn && earlier) await link.askPatiently((server) => server.call("POST", `${path}/stop`), signal);
    },
    /** If the chat was busy when the editor opened it, shows the rest of its running reply. */
    continueReply({ reply, status }: ChatDetailView): void {
      if (status !== "busy" || earlier) return;
      const position = { at: reply.last_event_id };
      const catchUp = async (): Promise<void> => {
        await teller.begin(reply.text, reply.thinking);
        for (const { id: question, session_id } of await waitingQuestions(link))
          if (session_id === id) questions.ask(question);
        await follow(position, undefined, signal);
      };
      const over = catchUp().catch((error) => {
        if (!signal.aborted && isProblem(error)) console.error(`skep: ${error.detail}`);
      });
      earlier = { position, over };
    },
    /** Stops following the chat. */
    close(): void {
      closing.abort();
      questions.closeAll();
    },
  };
  return chat;
}

async function waitingQuestions(link: Link): Promise<{ id: string; session_id: string }[]> {
  const { items } = await link.ask((server) =>
    server.call("GET", "/v1/approvals?state=waiting&kind=permission&limit=200"),
  );
  return items.flatMap((item) => (item.kind === "permission" ? [{ id: item.id, session_id: item.session_id }] : []));
}
