/**
 * The loop of an execution that an external agent drives. Its program is started in the sandbox, asks the model
 * gateway, and is given one turn after another until the work ends. What it says is stored as it comes, so a turn can
 * stop at any point and be continued later.
 */
import { isProblem, messageOf } from "../../core/errors.ts";
import { raceSignal } from "../../core/race-signal.ts";
import type { HarnessConfig } from "../agent-file.ts";
import { schemaCheck } from "../calls.ts";
import type { Ending } from "../execution.ts";
import { createGateway, type Gateway } from "../gateway/gateway.ts";
import { kindOf } from "../kinds.ts";
import { endingOf, type LoopInput, outOfTurns, REMINDER, sayUnseen } from "../loop.ts";
import { windowOf } from "../model-call.ts";
import { createFailure, resultOf } from "../result.ts";
import type { ToolResult } from "../tool.ts";
import { harnessTitle, type Launch, launchOf } from "./definitions.ts";
import { programOf } from "./launch.ts";
import { createLoginMeter, type LoginMeter } from "./login-meter.ts";
import { launchWithLogin, vendorNames } from "./own-login.ts";
import { createPermissionDesk, optionFor, type PermissionDesk } from "./permission.ts";
import type { HarnessConnection, HarnessPlace, StopReason } from "./port.ts";
import { type Prompt, promptParts, saidAfter } from "./prompt.ts";
import { recapOf } from "./recap.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import { toolServerOf } from "./tools.ts";
import { createTurnCount, type TurnCount } from "./turn-count.ts";

interface HarnessInput extends LoopInput {
  harness: Exclude<HarnessConfig, "builtin">;
  token: string;
  /** The person's log-in at the program's vendor; undefined when the program asks the gateway. */
  login: string | undefined;
}

/** How often the program is started in one execution when it keeps ending by itself. */
const STARTS = 3;
const STOPPED =
  "You were stopped while you worked on this; it may be done in part. Look at what is there before you repeat anything, then go on.";
const LOG_CHARACTERS = 300;

type End = NonNullable<ToolResult["end"]>;

/**
 * Runs until the execution ends. @throws Stopped when its signal aborts, Problem when the sandbox is lost or a provider
 * must be waited for.
 */
export async function runHarness(input: HarnessInput): Promise<Ending> {
  const said = settleLeft(input);
  if (said) return endingOf(await said, "");
  const ended = Promise.withResolvers<End>();
  const desk = createPermissionDesk(input);
  let flush = () => {};
  const tools = toolServerOf(input, { onCall: () => flush(), onEnd: ended.resolve });
  const gateway = createGateway({ ...input, tools: tools.answer });
  const onRecorder = (recorder: Recorder) => {
    flush = recorder.endMessage;
  };
  const listener = await input.ports.harness.listen(input.sandbox.openRoute, gateway.answer);
  try {
    for (let start = 1; ; start++) {
      const life = await runOnce({ ...input, gateway, url: listener.url, completed: ended.promise, onRecorder, desk });
      if (!("died" in life)) return life;
      input.signal.throwIfAborted();
      if (start < STARTS) continue;
      return createFailure(
        "harness_ended",
        `${harnessTitle(input.harness)} ended by itself ${STARTS} times: ${life.died}.`,
      );
    }
  } finally {
    await listener.close();
    await gateway.close();
  }
}

/**
 * Settles what a dead process left. If a call had ended the work, that end counts; unfinished calls are reported as
 * interrupted.
 */
function settleLeft(input: HarnessInput): Promise<End> | undefined {
  const { execution, ports } = input;
  const last = ports.rows.lastReply(execution)?.reply;
  if (last?.executionId !== execution.id) return undefined;
  const said = last.calls.find(({ ending }) => ending)?.ending;
  if (said) return Promise.resolve(said);
  for (const message of ports.rows.context(execution))
    if (message.role === "assistant" && message.executionId === execution.id)
      for (const call of message.calls)
        if (call.status === "requested" || call.status === "running") {
          ports.permissions.withdraw(execution, call.callId);
          ports.rows.interruptCall(execution, call);
        }
  return undefined;
}

interface Life extends HarnessInput {
  gateway: Gateway;
  /** The gateway's address inside the sandbox. */
  url: string;
  completed: Promise<End>;
  onRecorder(recorder: Recorder): void;
  desk: PermissionDesk;
}

/** Runs the program once, from its start to its end. @returns how the execution ends, or that the program died. */
async function runOnce(life: Life): Promise<Ending | { died: string }> {
  const { ports, execution, signal, agent, harness } = life;
  const flood = Promise.withResolvers<string>();
  const recorder = createRecorder(life, flood.resolve);
  life.onRecorder(recorder);
  const outOf = Promise.withResolvers<Ending>();
  const count = countTurns(life, outOf.resolve);
  const meter = createLoginMeter(life);
  const over = new AbortController();
  const isOver = AbortSignal.any([signal, over.signal]);
  const names = new Set((await ports.toolsFor(execution, life.sandbox)).map(({ name }) => name));
  const window = (await windowOf(life, life.model)) ?? undefined;
  let lastLine = "";
  let place: HarnessPlace | undefined;
  const prepareProgram = (places: Parameters<Parameters<typeof life.sandbox.open>[0]>[0]) => {
    place = { cwd: places.workspace, tools: { url: `${life.url}/mcp`, token: life.token }, models: modelNames(life) };
    return programOf(launchIn(life, places.state, window));
  };
  let connection: HarnessConnection;
  try {
    connection = await ports.harness.connect(
      (events, stop) => life.sandbox.open(prepareProgram, events, stop),
      {
        onText(piece) {
          count?.say();
          meter?.say(piece);
          recorder.onText(piece);
        },
        onThinking(piece) {
          count?.say();
          meter?.say(piece);
          recorder.onThinking(piece);
        },
        onCall(update) {
          count?.onCall(update);
          recorder.onCall(update);
        },
        onPlan: recorder.onPlan,
        onFilled: (tokens) => meter?.fill(tokens),
        async onPermission({ call, options }) {
          const answer = await life.desk.decide(recorder.wholeCall(call), {
            tools: names,
            cwd: place?.cwd ?? "",
            signal: isOver,
          });
          return answer === undefined ? undefined : optionFor(answer, options);
        },
        onFlood: flood.resolve,
        onLog(text) {
          lastLine = tellingLine(text, lastLine);
          ports.log.debug({ execution: execution.id, agent: agent.id }, text.slice(0, LOG_CHARACTERS));
        },
      },
      signal,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!isProblem(error) || error.code !== "harness_refused") throw error;
    return { died: withLine(error.detail, lastLine) };
  }
  const turn: UnderWay = { sessionId: undefined };
  try {
    const died = connection.ended.then((why) => ({ died: withLine(why, lastLine) }));
    const flooded = flood.promise.then((why) =>
      createFailure("harness_floods", `${harnessTitle(harness)} was stopped: ${why}.`),
    );
    const gatewayOver = life.gateway.over.then((end) => {
      if ("wait" in end) throw end.wait;
      return end.ending;
    });
    gatewayOver.catch(() => {});
    const completed = life.completed.then((end) => endingOf(end, recorder.endMessage()));
    const turns = takeTurns(life, connection, { place: place!, recorder, turn, count, meter, isOver }).catch(
      async (error) => {
        signal.throwIfAborted();
        if (!isProblem(error) || error.code !== "harness_refused") throw error;
        // The error may come from the program's own end, which explains more, so it is waited for briefly.
        const gone = await Promise.race([connection.ended, new Promise<undefined>((go) => setTimeout(go, REFUSAL_MS))]);
        if (gone !== undefined) return { died: withLine(gone, lastLine) };
        return createFailure("harness_failed", `${harnessTitle(harness)}: ${error.detail}`, recorder.endMessage());
      },
    );
    return await raceSignal(Promise.race([completed, gatewayOver, flooded, outOf.promise, turns, died]), signal);
  } finally {
    over.abort();
    recorder.endTurn();
    if (turn.sessionId !== undefined) await letGo(connection, turn.sessionId);
    // A program that obeyed the stop has reported its turn's usage by now.
    meter?.cut();
    await connection.close();
  }
}

function launchIn(
  { agent, harness, login, model, token, url }: Life,
  state: string,
  window: number | undefined,
): Launch {
  if (agent.ownLogin && login !== undefined) return launchWithLogin(agent.ownLogin, { model, state, login });
  return launchOf(harness, { gateway: url, token, model, state, window });
}

/** Names for the execution's model. The gateway accepts each of them; a vendor knows only its own name. */
function modelNames({ agent, login, model }: Life): string[] {
  if (agent.ownLogin !== undefined && login !== undefined) return vendorNames(agent.ownLogin, model);
  return [`skep/${model}`, model, model.slice(model.indexOf("/") + 1)];
}

interface UnderWay {
  /** Id of the program's session while it has a turn; undefined between turns. */
  sessionId: string | undefined;
}

/**
 * Asks the program to stop, so that it can keep its session in order. A program that does not obey is ended anyway.
 */
async function letGo(connection: HarnessConnection, sessionId: string): Promise<void> {
  await Promise.race([connection.cancel(sessionId), connection.ended]);
  await new Promise((go) => setTimeout(go, CANCEL_MS));
}

const CANCEL_MS = 200;

/** Picks the line that best explains a program's end: its latest error, or else its latest line. */
function tellingLine(text: string, before: string): string {
  const lines = text.trim().split("\n");
  const error = lines.find((line) => line.includes("Error:"));
  const line = error ?? (before.includes("Error:") ? before : lines.at(-1));
  return line?.slice(0, LOG_CHARACTERS) || before;
}

/** How long to wait for the program's end after an error that it may have caused, in ms. */
const REFUSAL_MS = 250;

const withLine = (why: string, line: string): string => (line === "" ? why : `${why} (${line})`);

/** Counts turns for a program that asks its vendor; for other programs the gateway counts the model calls. */
function countTurns({ agent, execution, login, ports }: Life, onEnd: (end: Ending) => void): TurnCount | undefined {
  if (agent.ownLogin === undefined || login === undefined) return undefined;
  const most = agent.maxTurns;
  return createTurnCount({ made: ports.rows.replies(execution), most }, () => onEnd(outOfTurns(most, undefined)));
}

interface Given {
  place: HarnessPlace;
  recorder: Recorder;
  turn: UnderWay;
  count: TurnCount | undefined;
  meter: LoginMeter | undefined;
  /** Aborted once something else has ended this run of the program. */
  isOver: AbortSignal;
}

/** Gives the program one turn after another until the work has a result. */
async function takeTurns(
  life: Life,
  connection: HarnessConnection,
  { place, recorder, turn, count, meter, isOver }: Given,
): Promise<Ending> {
  const { execution, ports } = life;
  const { sessionId, first } = await openSession(life, connection, place);
  let prompt = first;
  let isReminded = ports.rows.notes(execution).includes(REMINDER);
  for (;;) {
    const before = ports.rows.context(execution).at(-1)?.seq ?? -1;
    if (count?.prompt() === false) return outOfTurns(life.agent.maxTurns, undefined);
    turn.sessionId = sessionId;
    sayUnseen(life, connection.takesPictures ? undefined : harnessTitle(life.harness));
    meter?.begin(prompt.text);
    const end = await connection.prompt(sessionId, await promptParts(life, prompt, connection.takesPictures));
    turn.sessionId = undefined;
    meter?.end(end);
    isOver.throwIfAborted();
    // The turn's model calls must have their rows before the turn's end is stored.
    const said = recorder.endTurn();
    const refused = refusalOf(end.reason, said);
    if (refused) return refused;
    ports.rows.takeSteering(execution);
    ports.deliver(execution);
    const more = saidAfter(ports.rows.context(execution), before);
    if (more.text !== "" || more.attached.length > 0) prompt = more;
    else if (kindOf(execution.kind).executionEnds === "reply")
      return said.trim() === ""
        ? createFailure("empty_reply", "The agent answered nothing.")
        : { status: "succeeded", outputs: {}, text: said };
    else if (!isReminded) {
      isReminded = true;
      ports.rows.addNote(execution, REMINDER);
      prompt = { text: REMINDER, attached: [] };
    } else {
      const outputs = await resultOf(said, execution.contract, schemaCheck(life));
      if (outputs) return { status: "succeeded", outputs, text: said, by: "text" };
      return createFailure("no_completion", "The agent stopped without calling complete.", said);
    }
  }
}

function refusalOf(reason: StopReason, said: string): Ending | undefined {
  if (reason === "refusal") return createFailure("content_filter", "The model or its provider refused to go on.", said);
  if (reason === "max_turn_requests")
    return createFailure("turns_exceeded", "The agent reached its own limit of model calls.", said);
  return undefined;
}

/**
 * Continues the session that the program kept for this work, if it can. Otherwise begins one with what was said and
 * done so far.
 */
async function openSession(
  { execution, ports, system }: Life,
  connection: HarnessConnection,
  place: HarnessPlace,
): Promise<{ sessionId: string; first: Prompt }> {
  const context = ports.rows.context(execution);
  const { text: now, attached } = saidAfter(context, context.findLast(({ role }) => role === "assistant")?.seq ?? -1);
  const wasAtWork = context.some(({ role, executionId }) => role === "assistant" && executionId === execution.id);
  const stopped = wasAtWork ? STOPPED : "";
  const known = ports.rows.harnessSession(execution);
  if (known !== undefined && connection.continues) {
    const isThere = await connection.resume(known, place).then(
      () => true,
      (error) => {
        if (!isProblem(error)) throw error;
        ports.log.debug({ execution: execution.id }, `the agent's session is gone: ${messageOf(error)}`);
        return false;
      },
    );
    const text = [stopped, now].filter(Boolean).join("\n\n") || STOPPED;
    if (isThere) return { sessionId: known, first: { text, attached } };
  }
  const sessionId = await connection.begin(place);
  ports.rows.keepHarnessSession(execution, sessionId);
  const earlier = context.some(({ role }) => role === "assistant" || role === "summary");
  const words = earlier ? `## What was said and done so far\n\n${recapOf(context)}` : now;
  return { sessionId, first: { text: [system, words, stopped].filter(Boolean).join("\n\n---\n\n"), attached } };
}
