/**
 * Runs one execution from its row to its end: sandbox, prompt, loop, result. Afterwards no token is left, and a sandbox
 * only for a session that takes turns.
 */
import { codeOf, isProblem, messageOf } from "../core/errors.ts";
import { numberIn } from "../core/is-object.ts";
import { loginTokens } from "../core/login-tokens.ts";
import type { Turn } from "./calls.ts";
import { runCommand } from "./command.ts";
import type { Ending, Execution } from "./execution.ts";
import { runHarness } from "./harness/run-harness.ts";
import { kindOf } from "./kinds.ts";
import { runLoop } from "./loop.ts";
import { type EngineAgent, type EnginePorts, Stopped } from "./ports.ts";
import type { SandboxSpec } from "./sandbox.ts";
import type { Lease } from "./sandbox-pool.ts";
import { type ShownPreview, showPreview } from "./show-preview.ts";

const WAITS = "waiting_for_provider";
const ASKS = "waiting_for_permission";
/** Problems of the machine and not of the work: the execution goes back to the queue and waits. */
const PASSING = new Set([
  "sandbox_unavailable",
  "sandbox_lost",
  "sandbox_not_stopped",
  "workspace_busy",
  "setup_under_way",
  "disk_full",
  WAITS,
  ASKS,
]);
/** Name that replaces the tokens of a person's own log-in in masked texts. */
const LOGIN = "own log-in";
const BACK_OFF_MS = 5_000;
const COMMAND_GRACE_MS = 10_000;
/** Error codes of the database and the file system for a disk that is full or fails. */
const DISK = /^(SQLITE_FULL|SQLITE_IOERR\w*|ENOSPC|EDQUOT)$/;

/**
 * Works on a claimed execution until it ends or is given back.
 * @param stop aborted with `Stopped` to cancel the execution or to shut down.
 * @param aside awaits a promise; meanwhile the execution does not count as one at work.
 */
export async function workOn(
  taken: Execution,
  ports: EnginePorts,
  stop: AbortSignal,
  aside: Turn["aside"],
): Promise<void> {
  const { rows, masking, clock } = ports;
  let execution = taken;
  const takesTurns = kindOf(execution.kind).sessionEnds === "person";
  const timer = new AbortController();
  // A command's own time-out must come first, because it keeps the command's output.
  const grace = execution.command ? COMMAND_GRACE_MS : 0;
  let late: ReturnType<typeof setTimeout> | undefined;
  const endIn = (ms: number) => {
    clearTimeout(late);
    late = setTimeout(() => timer.abort(new Stopped("timeout")), ms + grace);
  };
  /**
   * Since when it waits for the machine or a person; undefined while it works. Waiting does not count toward its time.
   */
  let waitsSince: number | undefined = execution.waitingSince ?? clock.now();
  const signal = AbortSignal.any([stop, timer.signal]);
  let waits = 0;
  const setAside: Turn["setAside"] = async (why, wait) => {
    if (waits++ === 0) {
      clearTimeout(late);
      waitsSince = clock.now();
      rows.waits(execution.id, { why: masking.text(why), since: waitsSince });
    }
    try {
      return await aside(wait);
    } finally {
      // If it was given back or ended meanwhile, its row keeps what it waited for.
      if (--waits === 0 && !signal.aborted && waitsSince !== undefined) {
        execution = { ...execution, waitedMs: execution.waitedMs + Math.max(0, clock.now() - waitsSince) };
        waitsSince = undefined;
        rows.endWait(execution);
        endIn(leftMs(execution, ports));
      }
    }
  };
  let lease: Lease | undefined;
  let shown: ShownPreview | undefined;
  let { waitsFor } = execution;
  let unmask = () => {};
  /** False for external agents: what their program started ends with the turn. */
  let keepsSandbox = true;
  try {
    const asked = rows.stopRequested(execution.id);
    if (asked) throw new Stopped(asked);
    const agent = ports.agentOf(execution);
    const token = execution.command ? null : ports.tokens.issue(execution);
    const work = workOf(execution, ports, agent, token);
    const secrets = ports.secretsOf(execution);
    await ports.sandboxes.quiet(execution, stop);
    const services = await ports.services(execution, agent, stop);
    execution = { ...execution, waitedMs: execution.waitedMs + Math.max(0, clock.now() - waitsSince) };
    // Until the machine has answered, the limit is at least `noticeMs`. A machine that does not answer then makes the
    // step wait instead of failing it as late.
    endIn(Math.max(leftMs(execution, ports), ports.sandboxes.noticeMs));
    const home = await ports.workspaces.prepare(execution, signal);
    const { id: executionId, sessionId, agentId, runId, workId } = execution;
    const { image, network, runtime, hostLabels, memoryMb, cpus } = agent;
    // The setup's layer belongs to the project's files, so other work does not get it.
    const layer = workId === undefined ? undefined : agent.layer;
    const caches = workId === undefined ? undefined : agent.kept;
    const variables = ports.variablesOf(execution, token);
    const env = { ...agent.env, ...variables.session, ...secrets };
    const held = { ...secrets, ...(token === null ? {} : { ENGINE_INTERNAL_TOKEN: token }) };
    const { ownLogin } = agent;
    const login = ownLogin && isExternal(execution, agent) ? ports.ownLoginOf(execution, ownLogin) : undefined;
    unmask = maskAll(masking, [
      ...Object.entries(held),
      ...loginTokens(login ?? "").map((one) => [LOGIN, one] as const),
    ]);
    const cookies = ports.cookiesOf(execution);
    const harness = isExternal(execution, agent) ? await ports.workspaces.harness(execution) : undefined;
    keepsSandbox = harness === undefined;
    const box = { image, layer, caches, home, network, services, runtime, hostLabels, memoryMb, cpus, env, cookies };
    const preview = ports.previews.of(execution);
    const ways = { harness, routes: harness !== undefined || preview !== undefined };
    const spec = { executionId, sessionId, agentId, runId, workId, ...box, ...ways };
    lease = ports.sandboxes.lease({ spec, userId: execution.userId, env: variables.execution, signal });
    if (preview) shown = showPreview({ ...ports, execution, preview, lease, now: clock.now });
    if (harness || isAtCall(execution, ports)) await lease.open();
    // The prompt describes the sandbox, so an engine that was never asked must answer before the work counts as
    // resumed.
    else if (execution.system === null) await ports.sandboxes.about(spec);
    rows.endWait(execution);
    endIn(leftMs(execution, ports));
    [waitsFor, waitsSince] = [undefined, undefined];
    const { sandbox, open } = lease;
    const turn = { execution, ports, spec, sandbox, open, masker: masking, signal, aside, setAside };
    const ending = await work({ ...turn, login });
    await shown?.picture(ending, signal);
    await lease.sandbox.workspace.bringBack();
    if (takesTurns) {
      await lease.release(keepsSandbox);
      lease = undefined;
    } else {
      // The result must be the files as they were when the work ended. If its processes cannot be stopped, the
      // execution waits.
      clearTimeout(late);
      waitsSince = clock.now();
      await lease.sandbox.freeze();
      await ports.sandboxes.quiet(execution, stop);
    }
    await ports.workspaces.commit(execution, ending);
    // Must come before whatever follows from the end starts in the same files.
    await shown?.end(ending);
    // Nobody waits for the sandbox to be removed; after a crash, the sweep removes it.
    rows.finish(execution, ending);
  } catch (error) {
    const reason = signal.aborted ? signal.reason : error;
    // Must come before the end is published. That may end the session and, with it, the sandbox kept for its next turn.
    if (asksPerson(reason) || (takesTurns && leavesSandbox(reason))) {
      await lease?.release(keepsSandbox);
      lease = undefined;
    }
    await settle({ ...execution, waitsFor, waitingSince: waitsSince }, ports, reason);
  } finally {
    clearTimeout(late);
    unmask();
    shown?.close();
    ports.tokens.revoke(execution.id);
    await lease?.release(false);
  }
}

/**
 * Whether the execution continues at a tool call, or is a command: it may have been given back because of its sandbox.
 */
function isAtCall(execution: Execution, { rows }: EnginePorts): boolean {
  if (execution.command) return true;
  const last = rows.lastReply(execution)?.reply;
  return last?.executionId === execution.id && last.calls.some(({ status }) => status === "requested");
}

/**
 * Whether the next turn can use the sandbox. It cannot when the sandbox is lost, the session has ended, or the server
 * stops.
 */
const leavesSandbox = (reason: unknown): boolean =>
  reason instanceof Stopped ? reason.why === "interrupt" || reason.why === "timeout" : passingOf(reason) === undefined;

/** Whether the execution waits for a person. An answer may come soon, so its sandbox is kept for the idle time. */
const asksPerson = (reason: unknown): boolean => isProblem(reason) && reason.code === ASKS;
/** Whether an external program drives the execution. */
const isExternal = ({ command }: Execution, { harness }: EngineAgent): boolean => !command && harness !== "builtin";

/** Drives an execution from its sandbox to its end: a command, Skep's own loop, or an external agent. */
type AgentLoop = (turn: Turn & { spec: SandboxSpec; login: string | undefined }) => Promise<Ending>;

/**
 * Chooses what runs once the sandbox is there. @throws Problem 503 `no_model`, 403 `shell_denied` for work that cannot
 * begin.
 */
function workOf(execution: Execution, ports: EnginePorts, agent: EngineAgent, token: string | null): AgentLoop {
  const { command } = execution;
  if (command) {
    ports.assertShell(execution);
    return (turn) => runCommand(turn, command, leftMs(execution, ports));
  }
  const model = ports.modelOf(execution);
  const { harness } = agent;
  return async ({ spec, login, ...turn }) => {
    const system = await begin({ ...turn, spec }, model);
    const input = { ...turn, agent, model, system };
    if (harness === "builtin") return runLoop(input);
    return runHarness({ ...input, harness, login, token: token ?? "" });
  };
}

/**
 * Masks the values that the sandbox gets for as long as it works, even if the stored secrets change meanwhile. @returns
 * ends the masking.
 */
function maskAll(masking: EnginePorts["masking"], values: readonly (readonly [string, string])[]): () => void {
  const ends = values.map(([name, value]) => masking.add(name, value));
  return () => {
    for (const end of ends) end();
  };
}

/** Assembles the prompt at the first start; later starts use the stored prompt. */
async function begin(
  { execution, ports, sandbox, spec }: Turn & { spec: SandboxSpec },
  model: string,
): Promise<string> {
  if (execution.system !== null) return execution.system;
  const tools = await ports.toolsFor(execution, sandbox);
  const prompt = await ports.promptFor(execution, tools, await ports.sandboxes.about(spec));
  ports.rows.begin(execution, model, prompt);
  return prompt.system;
}

/** Time left, in ms. Setting the clock back cannot make it longer than the whole limit. */
function leftMs({ startedAt, waitedMs, timeoutSeconds }: Execution, { clock }: EnginePorts): number {
  const whole = timeoutSeconds * 1_000;
  return startedAt === null ? whole : Math.min(whole, Math.max(0, startedAt + waitedMs + whole - clock.now()));
}

async function settle(execution: Execution, ports: EnginePorts, error: unknown): Promise<void> {
  const { rows, clock, log, masking } = ports;
  const stopped = error instanceof Stopped;
  const passing = passingOf(error);
  if (stopped && error.why === "shutdown") rows.release(execution.id, 0, null);
  else if (passing) {
    const why = masking.text(passing.detail);
    // Logged once, not at every try of a wait that may last for days.
    const asks = asksPerson(error);
    if (why !== execution.waitsFor && !asks) log.warn({ code: passing.code, execution: execution.id }, why);
    const now = clock.now();
    // If the person answered while the sandbox was being put aside, the execution continues at once.
    const until = asks && !ports.permissions.isWaiting(execution) ? undefined : untilOf(error);
    const since = execution.waitingSince ?? now;
    rows.release(execution.id, until === undefined && !asks ? now + BACK_OFF_MS : 0, { why, since, until });
  } else {
    if (!stopped && !isProblem(error)) log.error({ err: error, execution: execution.id }, "execution failed");
    const ending = masking.json(endingOf(error, execution));
    await ports.workspaces.keep(execution, ending);
    rows.finish(execution, ending);
  }
}

/** When a provider answers again, or when a question to a person expires; ms since the epoch. */
function untilOf(error: unknown): number | undefined {
  if (!isProblem(error) || (error.code !== WAITS && error.code !== ASKS)) return undefined;
  return numberIn(error.extras.data, "until");
}

function passingOf(error: unknown): { code: string; detail: string } | undefined {
  if (isProblem(error)) return PASSING.has(error.code) ? error : undefined;
  const code = codeOf(error);
  if (code === undefined || !DISK.test(code)) return undefined;
  return { code: "disk_full", detail: `The disk of the data folder is full or fails (${code}); it is tried again.` };
}

function endingOf(error: unknown, { timeoutSeconds, waitsFor }: Execution): Ending {
  if (error instanceof Stopped) {
    if (error.why !== "timeout") return { status: "cancelled", text: "" };
    const late = `It took longer than its ${timeoutSeconds} s.`;
    // The execution was taken again, but what it waited for was not there in time.
    const message = waitsFor === undefined ? late : `${late} It still waited: ${waitsFor}`;
    return { status: "failed", error: { code: "timeout", message }, text: "" };
  }
  const { code, detail } = isProblem(error) ? error : { code: "internal", detail: messageOf(error).slice(0, 300) };
  return { status: "failed", error: { code, message: detail }, text: "" };
}
