/**
 * A connection to an external agent's program over the Agent Client Protocol, version 1. The program is not trusted:
 * its messages are bounded before the protocol library sees them, and read field by field.
 */
import type { ClientConnection } from "@agentclientprotocol/sdk";
import { badRequest, isProblem, messageOf, Problem } from "../../core/errors.ts";
import { membersOf, textIn } from "../../core/is-object.ts";
import { LIMITS } from "../../core/limits.ts";
import { raceSignal } from "../../core/race-signal.ts";
import { BUILD } from "../../core/version.ts";
import type {
  HarnessConnection,
  HarnessHandlers,
  HarnessPort,
  PromptPart,
  StopReason,
} from "../../engine/harness/port.ts";
import { modelChoice } from "./model-option.ts";
import { createAcpStream } from "./stream.ts";
import { permissionIn, updateIn, usageIn } from "./updates.ts";

const REASONS: ReadonlySet<string> = new Set([
  "end_turn",
  "max_tokens",
  "max_turn_requests",
  "refusal",
  "cancelled",
] satisfies StopReason[]);
const isReason = (value: unknown): value is StopReason => REASONS.has(String(value));

const SHOWN_CHARACTERS = 500;
const createProblem = (detail: string) => new Problem(502, "harness_refused", detail.slice(0, SHOWN_CHARACTERS));

/** See `HarnessPort.connect`. */
export const connectAgent: HarnessPort["connect"] = async (open, handlers, signal) => {
  const library = await import("@agentclientprotocol/sdk");
  const { methods } = library;
  const wire = await createAcpStream({ open, signal, onLog: handlers.onLog, onFlood: handlers.onFlood });
  /** True while a session is loaded. The program then repeats the session's past messages, which are ignored. */
  let repeats = false;
  const asIs = (params: unknown) => params;
  const app = library
    .client({ name: "skep" })
    .onNotification(methods.client.session.update, asIs, ({ params }) => {
      if (!repeats) tell(handlers, params);
    })
    .onRequest(methods.client.session.requestPermission, asIs, async ({ params }) => {
      const request = permissionIn(params);
      if (repeats || !request) return { outcome: { outcome: "cancelled" } };
      const optionId = await handlers.onPermission(request);
      return { outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
    });
  const connection = app.connect(wire.stream);
  const close = async (): Promise<void> => {
    connection.close();
    await wire.close();
  };
  const ask = askOf(connection, wire.ended, signal);
  /**
   * Sets the model, if the program offers it as an option of its session. The program's configuration names the model,
   * too.
   */
  async function setModel(sessionId: string, answer: unknown, names: readonly string[]): Promise<void> {
    const choice = modelChoice(answer, names);
    if (!choice) return;
    await ask(methods.agent.session.setConfigOption, { sessionId, ...choice }).catch((error) => {
      if (!isProblem(error)) throw error;
      handlers.onLog(`The model could not be set: ${error.detail}`);
    });
  }
  try {
    const late = AbortSignal.timeout(LIMITS.harnessStartMs);
    const greeting = await raceSignal(
      ask("initialize", {
        protocolVersion: library.PROTOCOL_VERSION,
        clientInfo: { name: "skep", title: "Skep", version: BUILD.version },
        // The program works on the files and runs commands by itself, in its sandbox.
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      }),
      late,
    ).catch((error) => {
      throw late.aborted
        ? createProblem(`It said nothing for ${LIMITS.harnessStartMs / 1_000} s after its start.`)
        : error;
    });
    const can = membersOf(membersOf(greeting)["agentCapabilities"]);
    const resumes = membersOf(can["sessionCapabilities"])["resume"] ?? null;
    const how =
      resumes !== null ? methods.agent.session.resume : can["loadSession"] === true ? methods.agent.session.load : null;
    return {
      ended: wire.ended,
      close,
      continues: how !== null,
      async begin({ cwd, tools, models }) {
        const answer = await ask(methods.agent.session.new, { cwd, mcpServers: [serverOf(tools)] });
        const id = textIn(answer, "sessionId");
        if (id === undefined || id === "" || id.length > SHOWN_CHARACTERS)
          throw createProblem("It gave its session no id.");
        await setModel(id, answer, models);
        return id;
      },
      async resume(sessionId, { cwd, tools, models }) {
        if (how === null) throw badRequest("This agent continues no session.");
        repeats = true;
        try {
          const answer = await ask(how, { sessionId, cwd, mcpServers: [serverOf(tools)] });
          await setModel(sessionId, answer, models);
        } finally {
          repeats = false;
        }
      },
      takesPictures: membersOf(can["promptCapabilities"])["image"] === true,
      async prompt(sessionId, parts) {
        const answer = await ask(methods.agent.session.prompt, { sessionId, prompt: parts.map(blockOf) });
        const reason = membersOf(answer)["stopReason"];
        if (!isReason(reason)) throw createProblem("It ended its turn without saying why.");
        return { reason, usage: usageIn(answer) };
      },
      cancel: (sessionId) => connection.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {}),
    } satisfies HarnessConnection;
  } catch (error) {
    await close();
    signal.throwIfAborted();
    throw isProblem(error) ? error : createProblem(messageOf(error));
  }
};

/** Makes the function that sends requests to the program. A refused request and the program's end become Problems. */
function askOf(connection: ClientConnection, ended: Promise<string>, signal: AbortSignal) {
  const gone = ended.then((why) => {
    throw createProblem(why);
  });
  gone.catch(() => {});
  return async (method: string, params: object): Promise<unknown> => {
    const answer = connection.agent.request<unknown, object>(method, params).catch((error) => {
      throw createProblem(`${method}: ${messageOf(error)}`);
    });
    answer.catch(() => {});
    return raceSignal(Promise.race([answer, gone]), signal);
  };
}

const blockOf = (part: PromptPart) =>
  part.type === "text"
    ? { type: "text" as const, text: part.text }
    : { type: "image" as const, mimeType: part.media_type, data: Buffer.from(part.data).toString("base64") };

const serverOf = ({ url, token }: { url: string; token: string }) => ({
  type: "http" as const,
  name: "skep",
  url,
  headers: [{ name: "Authorization", value: `Bearer ${token}` }],
});

function tell(handlers: HarnessHandlers, params: unknown): void {
  const update = updateIn(params);
  if (update?.type === "text") handlers.onText(update.text);
  if (update?.type === "thinking") handlers.onThinking(update.text);
  if (update?.type === "call") handlers.onCall(update.call);
  if (update?.type === "plan") handlers.onPlan(update.entries);
  if (update?.type === "filled") handlers.onFilled(update.tokens);
}
