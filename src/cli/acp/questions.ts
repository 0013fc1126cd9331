/**
 * Shows the editor's user the tool calls for which the agent's rules require approval. The first answer counts, whether
 * it is given here or elsewhere.
 */
import type { AgentContext, PermissionOption, RequestPermissionRequest } from "@agentclientprotocol/sdk";
import type { Schemas } from "../../api/types.ts";
import { isProblem, messageOf } from "../../core/errors.ts";
import { stripControls } from "../terminal/style.ts";
import { titleOf } from "./calls.ts";
import type { Link } from "./link.ts";
import type { Teller } from "./teller.ts";

type Question = Schemas["PermissionRequest"];

const ALLOWING: Readonly<Record<string, "once" | "work">> = { once: "once", chat: "work" };

interface QuestionsDeps {
  link: Link;
  client: Pick<AgentContext, "request">;
  sessionId: string;
  teller: Teller;
  /** Aborted when the editor has disconnected. */
  signal: AbortSignal;
}

export function createQuestions({ link, client, sessionId, teller, signal }: QuestionsDeps) {
  const open = new Map<string, { closing: AbortController; callId?: string }>();

  async function put(id: string, closing: AbortController): Promise<void> {
    const path = `/v1/permissions/requests/${id}` as const;
    const question = await link.askPatiently((server) => server.call("GET", path), signal);
    if (question.state !== "waiting" || closing.signal.aborted) return;
    open.set(id, { closing, callId: question.call_id });
    await teller.showCall(callOf(question));
    const { outcome } = await client.request("session/request_permission", formOf(question, sessionId), {
      cancellationSignal: closing.signal,
      stopWaitingOnCancel: true,
    });
    // If the editor gives no answer, the question stays open in the dashboard. With no answer in time, the call is
    // refused.
    if (outcome.outcome !== "selected" || closing.signal.aborted) return;
    const lasts = ALLOWING[outcome.optionId];
    const answer = lasts === undefined ? { allow: false } : { allow: true, lasts };
    await link.askPatiently((server) => server.call("POST", `${path}/answer`, answer), signal);
  }

  return {
    /** Asks the person, unless this question is being asked already. Returns at once; the answer follows. */
    ask(id: string): void {
      if (open.has(id)) return;
      const closing = new AbortController();
      open.set(id, { closing });
      put(id, closing).catch((error) => {
        if (closing.signal.aborted || signal.aborted) return;
        // Somebody else answered first, or the work has ended.
        if (isProblem(error) && (error.status === 404 || error.status === 409)) return;
        console.error(`skep: The question ${id} could not be asked here: ${messageOf(error)}`);
      });
    },
    /** Closes a question that somebody answered, here or elsewhere, or whose time is over. */
    close(id: string, isAllowed: boolean): void {
      const known = open.get(id);
      open.delete(id);
      if (known?.callId !== undefined) teller.recordAnswer(known.callId, isAllowed);
      known?.closing.abort();
    },
    closeAll(): void {
      for (const { closing } of open.values()) closing.abort();
      open.clear();
    },
  };
}

const callOf = ({ call_id, tool, subject }: Question) => ({ call_id, tool, input: subject });

function formOf(question: Question, sessionId: string): RequestPermissionRequest {
  const { call_id, tool, tool_kind, message, subject, can_remember } = question;
  const options: PermissionOption[] = [{ optionId: "once", name: "Allow once", kind: "allow_once" }];
  if (can_remember) options.push({ optionId: "chat", name: "Allow in this chat", kind: "allow_always" });
  options.push({ optionId: "no", name: "Refuse", kind: "reject_once" });
  return {
    sessionId,
    toolCall: {
      toolCallId: call_id,
      title: titleOf(message),
      name: tool,
      kind: tool_kind,
      status: "pending",
      rawInput: subject,
      content: [{ type: "content", content: { type: "text", text: stripControls(subject) } }],
    },
    options,
  };
}
