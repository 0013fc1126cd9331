/** Model calls for a chat between two turns: a summary that a person asks for, and a title. */
import { conflict, Problem } from "../core/errors.ts";
import { SUMMARISE } from "./ask.ts";
import { attachTo } from "./attachments.ts";
import { roomOf, sizeOf, toModelMessages, toSummaryRequest } from "./context.ts";
import type { CallPurpose, Execution } from "./execution.ts";
import type { ModelReply } from "./model.ts";
import { callModel, NO_TOOLS, windowOf } from "./model-call.ts";
import { textOf, textPart } from "./parts.ts";
import type { EnginePorts } from "./ports.ts";

export type BetweenTurns = ReturnType<typeof createBetweenTurns>;

const TITLE_CHARACTERS = 80;
/** Characters read of each message that the title is made from. */
const READ_CHARACTERS = 2_000;
const NAME_IT =
  "Give this conversation a title of at most eight words, in its own language. Answer with the title alone.";
const NAMES = "You give conversations short, plain titles.";

export function createBetweenTurns(ports: EnginePorts) {
  const { rows, masking: masker } = ports;

  async function ask(
    execution: Execution,
    { model, system, text, purpose }: { model: string; system: string; text: string; purpose: CallPurpose },
    signal: AbortSignal,
  ): Promise<ModelReply> {
    const agent = ports.agentOf(execution);
    const input = { execution, ports, agent, system, masker, signal };
    const reply = await callModel(input, [{ role: "user", parts: [textPart(text)] }], NO_TOOLS, model, purpose);
    if (!("status" in reply)) return reply;
    const { code, message } = reply.status === "failed" ? reply.error : { code: "stopped", message: "It was stopped." };
    throw new Problem(409, code, message);
  }

  return {
    /**
     * Replaces everything that the model reads of the session by a summary. People can still read all of it.
     * @param execution an execution of the session; its budgets pay for the call.
     * @throws Problem 409 when there is nothing to summarize, or when the chat was changed meanwhile.
     */
    async compact(execution: Execution, signal: AbortSignal): Promise<void> {
      const stored = rows.context(execution);
      if (stored.filter(({ role }) => role !== "summary").length < 2)
        throw conflict("There is nothing to summarise yet.", "nothing_to_compact");
      const model = ports.summaryModel() ?? ports.modelOf(execution);
      const info = ports.models.info(model);
      const messages = await toModelMessages(stored, attachTo(info, ports.attachments, execution));
      const system = execution.system ?? "";
      const text = toSummaryRequest(
        system,
        messages,
        roomOf(await windowOf({ ports, execution, signal }, model)),
        SUMMARISE,
      );
      const reply = await ask(execution, { model, system, text, purpose: "summary" }, signal);
      const summary = textOf(reply.parts).trim();
      // Nothing else runs between this check and the stored row, so messages that were taken back while the model wrote
      // are noticed.
      const still = new Set(rows.context(execution).map(({ seq }) => seq));
      const isWhole = stored.every(({ seq }) => still.has(seq));
      if (reply.finish === "error" || summary === "" || !isWhole) {
        rows.logCall(execution, reply, "summary");
        if (!isWhole) throw conflict("The chat was changed meanwhile. Ask again.", "session_changed");
        const { code = "provider_error", message = "The model gave no summary." } = reply.error ?? {};
        throw new Problem(409, code, message);
      }
      const coversTo = Math.max(...stored.map((one) => (one.role === "summary" ? one.coversTo : one.seq)));
      const next = [{ role: "user", parts: [textPart(summary)] }];
      const shorter = { by: sizeOf(messages) - sizeOf(next), least: sizeOf([system, next]) };
      rows.addSummary(execution, summary, coversTo, reply, shorter);
    },
    /**
     * Asks the summary model for a title. Undefined when no summary model is set, or when it gives no usable title.
     */
    async title(execution: Execution, signal: AbortSignal): Promise<string | undefined> {
      const model = ports.summaryModel();
      if (model === undefined) return undefined;
      const said = rows.context(execution).flatMap((one) => {
        if (one.role !== "user" && one.role !== "assistant") return [];
        return `${one.role.toUpperCase()}\n${textOf(one.parts).slice(0, READ_CHARACTERS)}`;
      });
      const text = `${said.slice(0, 2).join("\n\n")}\n\n${NAME_IT}`;
      const reply = await ask(execution, { model, system: NAMES, text, purpose: "title" }, signal);
      rows.logCall(execution, reply, "title");
      return reply.finish === "error" ? undefined : titleIn(textOf(reply.parts));
    },
  };
}

/** The first line without the marks that models put around a title. */
function titleIn(text: string): string | undefined {
  const [line = ""] = text.trim().split("\n");
  const bare = line
    .replace(/^(#+\s*|title:\s*)/i, "")
    .replace(/^["'*`«“]+|(?<!["'*`»”.])["'*`»”.]+$/g, "")
    .trim();
  return bare.length === 0 || bare.length > TITLE_CHARACTERS ? undefined : bare;
}
