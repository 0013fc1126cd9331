/**
 * The loop of an execution that an external agent drives: its program is started in the sandbox, asks the model
 * gateway, and is given one turn after the other until the work ends. What it says is stored as it comes, so that the
 * turn can be left at any point and taken up again.
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
import { failed, resultOf } from "../result.ts";
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
  /** Of the person whose work it is, at the program's vendor; undefined: it asks the gateway. */
  login: string | undefined;
}

/** Times that a program which ended by itself is started again in one execution. */
const STARTS = 3;
const STOPPED =
  "You were stopped while you worked on this; it may be done in part. Look at what is there before you repeat anything, then go on.";
const LOG_CHARACTERS = 300;

type End = NonNullable<ToolResult["end"]>;

/** Runs until the execution ends. @throws Stopped when its signal aborts, Problem when the sandbox is lost or a provider is waited for. */
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
      const life = await live({ ...input, gateway, url: listener.url, completed: ended.promise, onRecorder, desk });
      if (!("died" in life)) return life;
      input.signal.throwIfAborted();
      if (start < STARTS) continue;
      return failed("harness_ended", `${harnessTitle(input.harness)} ended by itself ${STARTS} times: ${life.died}.`);
    }
  } finally {
    await listener.close();
    await gateway.close();
  }
}

/** What a dead process left: an end that was said is taken; other calls are reported as interrupted. */
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
  /** Of the gateway, inside the sandbox. */
  url: string;
  completed: Promise<End>;
  onRecorder(recorder: Recorder): void;
  desk: PermissionDesk;
}

/** One life of the program. @returns how the execution ends, or that the program died. */
async function live(life: Life): Promise<Ending | { died: string }> {
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
  const program = (places: Parameters<Parameters<typeof life.sandbox.open>[0]>[0]) => {
    place = { cwd: places.workspace, tools: { url: `${life.url}/mcp`, token: life.token }, models: modelNames(life) };
    return programOf(launchIn(life, places.state, window));
  };
  let connection: HarnessConnection;
  try {
    connection = await ports.harness.connect(
      (events, stop) => life.sandbox.open(program, events, stop),
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
      failed("harness_floods", `${harnessTitle(harness)} was stopped: ${why}.`),
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
        // What ends it says more than what its program makes of that.
        const gone = await Promise.race([connection.ended, new Promise<undefined>((go) => setTimeout(go, REFUSAL_MS))]);
        if (gone !== undefined) return { died: withLine(gone, lastLine) };
        return failed("harness_failed", `${harnessTitle(harness)}: ${error.detail}`, recorder.endMessage());
      },
    );
    return await raceSignal(Promise.race([completed, gatewayOver, flooded, outOf.promise, turns, died]), signal);
  } finally {
    over.abort();
    recorder.endTurn();
    if (turn.sessionId !== undefined) await letGo(connection, turn.sessionId);
    // A program that heeds the stop has said by now what its turn used.
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

/** The gateway knows the model by each of them; a vendor by its own name alone. */
function modelNames({ agent, login, model }: Life): string[] {
  if (agent.ownLogin !== undefined && login !== undefined) return vendorNames(agent.ownLogin, model);
  return [`skep/${model}`, model, model.slice(model.indexOf("/") + 1)];
}

interface UnderWay {
  /** Of the session in which the program has a turn; undefined: it has none. */
  sessionId: string | undefined;
}

/** A program that is told to stop keeps its session in order; one that does not listen is ended all the same. */
async function letGo(connection: HarnessConnection, sessionId: string): Promise<void> {
  await Promise.race([connection.cancel(sessionId), connection.ended]);
  await new Promise((go) => setTimeout(go, CANCEL_MS));
}

const CANCEL_MS = 200;

/** What a program printed last, or the error that it printed before. */
function tellingLine(text: string, before: string): string {
  const lines = text.trim().split("\n");
  const error = lines.find((line) => line.includes("Error:"));
  const line = error ?? (before.includes("Error:") ? before : lines.at(-1));
  return line?.slice(0, LOG_CHARACTERS) || before;
}

/** How long the end of a program may take to be seen after the error that it made. */
const REFUSAL_MS = 250;

const withLine = (why: string, line: string): string => (line === "" ? why : `${why} (${line})`);

/** Where the program asks its vendor; elsewhere the gateway counts its model calls. */
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
  /** Aborted once something else has ended this life. */
  isOver: AbortSignal;
}

/** Turn after turn until the work has a result. */
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
    // Its model calls have their rows before the turn has an end.
    const said = recorder.endTurn();
    const refused = refusalOf(end.reason, said);
    if (refused) return refused;
    ports.rows.takeSteering(execution);
    ports.deliver(execution);
    const more = saidAfter(ports.rows.context(execution), before);
    if (more.text !== "" || more.attached.length > 0) prompt = more;
    else if (kindOf(execution.kind).executionEnds === "reply")
      return said.trim() === ""
        ? failed("empty_reply", "The agent answered nothing.")
        : { status: "succeeded", outputs: {}, text: said };
    else if (!isReminded) {
      isReminded = true;
      ports.rows.addNote(execution, REMINDER);
      prompt = { text: REMINDER, attached: [] };
    } else {
      const outputs = await resultOf(said, execution.contract, schemaCheck(life));
      if (outputs) return { status: "succeeded", outputs, text: said, by: "text" };
      return failed("no_completion", "The agent stopped without calling complete.", said);
    }
  }
}

function refusalOf(reason: StopReason, said: string): Ending | undefined {
  if (reason === "refusal") return failed("content_filter", "The model or its provider refused to go on.", said);
  if (reason === "max_turn_requests")
    return failed("turns_exceeded", "The agent reached its own limit of model calls.", said);
  return undefined;
}

/** Continues the session that this work has, where the program can; else begins one with what was said and done so far. */
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
