/** One execution from its row to its end: sandbox, prompt, loop, result. Leaves no sandbox and no token behind. */
import { isProblem, messageOf } from "../core/errors.ts";
import type { Turn } from "./calls.ts";
import { runCommand } from "./command.ts";
import type { Ending, Execution } from "./execution.ts";
import { runLoop } from "./loop.ts";
import { type EngineAgent, type EnginePorts, Stopped } from "./ports.ts";
import type { Sandbox } from "./sandbox.ts";

/** Failures of the machine, not of the work: the execution goes back to the queue and waits. */
const PASSING = new Set(["docker_unavailable", "sandbox_lost", "workspace_busy", "disk_full"]);
const BACK_OFF_MS = 5_000;
const COMMAND_GRACE_MS = 10_000;
/** What the database and the file system say of a disk that is full or fails. */
const DISK = /^(SQLITE_FULL|SQLITE_IOERR\w*|ENOSPC|EDQUOT)$/;

/**
 * Works on a taken execution until it ends or is given back.
 * @param stop aborted with `Stopped` to cancel it or to shut down.
 * @param aside while what it is given is awaited, the execution does not count as one at work.
 */
export async function workOn(
  execution: Execution,
  ports: EnginePorts,
  stop: AbortSignal,
  aside: Turn["aside"],
): Promise<void> {
  const { rows, log, masking } = ports;
  const timer = new AbortController();
  const left = leftMs(execution, ports);
  // A command's own time-out comes first and keeps what it wrote.
  const grace = execution.command ? COMMAND_GRACE_MS : 0;
  const late = setTimeout(() => timer.abort(new Stopped("timeout")), left + grace);
  const signal = AbortSignal.any([stop, timer.signal]);
  let sandbox: Sandbox | undefined;
  let unmask = () => {};
  try {
    const asked = rows.stopRequested(execution.id);
    if (asked) throw new Stopped(asked);
    const agent = ports.agentOf(execution);
    const work = workOf(execution, ports, agent);
    const token = execution.command ? null : ports.tokens.issue(execution);
    const secrets = ports.secretsOf(execution);
    const home = await ports.workspaces.prepare(execution, signal);
    const { id: executionId, sessionId, agentId, runId } = execution;
    const { image, network, memoryMb, cpus } = agent;
    const env = { ...ports.variablesOf(execution, token), ...secrets };
    unmask = maskAll(masking, { ...secrets, ...(token === null ? {} : { ENGINE_INTERNAL_TOKEN: token }) });
    const cookies = ports.cookiesOf(execution);
    sandbox = await ports.sandboxes.start(
      { executionId, sessionId, agentId, runId, image, home, network, memoryMb, cpus, env, cookies },
      signal,
    );
    rows.resumed(execution);
    const ending = await work({ execution, ports, sandbox, masker: masking, signal, aside });
    await sandbox.workspace.bringBack();
    await sandbox.stop();
    sandbox = undefined;
    await ports.workspaces.commit(execution, ending.text);
    rows.finish(execution, ending);
  } catch (error) {
    settle(execution, ports, signal.aborted ? signal.reason : error);
  } finally {
    clearTimeout(late);
    unmask();
    ports.tokens.revoke(execution.id);
    await sandbox
      ?.stop()
      .catch((error) => log.warn({ err: error, execution: execution.id }, "sandbox not stopped; it will be swept"));
  }
}

/** What it does once it has a sandbox. @throws Problem 503 `no_model`, 403 `shell_denied` for what cannot begin. */
function workOf(execution: Execution, ports: EnginePorts, agent: EngineAgent): (turn: Turn) => Promise<Ending> {
  const { command } = execution;
  if (command) {
    ports.assertShell(execution);
    return (turn) => runCommand(turn, command, leftMs(execution, ports));
  }
  const model = ports.modelOf(execution);
  return async (turn) => runLoop({ ...turn, agent, model, system: await begin(execution, ports, model, turn.sandbox) });
}

/** What is handed to the sandbox is masked as long as it works, whatever becomes of the stored value meanwhile. */
function maskAll(masking: EnginePorts["masking"], values: Readonly<Record<string, string>>): () => void {
  const ends = Object.entries(values).map(([name, value]) => masking.add(name, value));
  return () => {
    for (const end of ends) end();
  };
}

/** Assembles the prompt at the first start; later starts go on under the stored one. */
async function begin(execution: Execution, ports: EnginePorts, model: string, sandbox: Sandbox): Promise<string> {
  if (execution.system !== null) return execution.system;
  const prompt = await ports.promptFor(execution, await ports.toolsFor(execution, sandbox), sandbox);
  ports.rows.begin(execution, model, prompt);
  return prompt.system;
}

/** Time left, in ms. A clock set back does not lengthen it past the whole. */
function leftMs({ startedAt, timeoutSeconds }: Execution, { clock }: EnginePorts): number {
  const whole = timeoutSeconds * 1_000;
  return startedAt === null ? whole : Math.min(whole, Math.max(0, startedAt + whole - clock.now()));
}

function settle(execution: Execution, ports: EnginePorts, error: unknown): void {
  const { rows, clock, log, masking } = ports;
  const stopped = error instanceof Stopped;
  const passing = passingOf(error);
  if (stopped && error.why === "shutdown") rows.release(execution.id, 0, null);
  else if (passing) {
    log.warn({ code: passing.code, execution: execution.id }, passing.detail);
    rows.release(execution.id, clock.now() + BACK_OFF_MS, masking.text(passing.detail));
  } else {
    if (!stopped && !isProblem(error)) log.error({ err: error, execution: execution.id }, "execution failed");
    rows.finish(execution, masking.json(endingOf(error, execution)));
  }
}

function passingOf(error: unknown): { code: string; detail: string } | undefined {
  if (isProblem(error)) return PASSING.has(error.code) ? error : undefined;
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== "string" || !DISK.test(code)) return undefined;
  return { code: "disk_full", detail: `The disk of the data folder is full or fails (${code}); it is tried again.` };
}

function endingOf(error: unknown, { timeoutSeconds }: Execution): Ending {
  if (error instanceof Stopped) {
    if (error.why !== "timeout") return { status: "cancelled", text: "" };
    return {
      status: "failed",
      error: { code: "timeout", message: `It took longer than its ${timeoutSeconds} s.` },
      text: "",
    };
  }
  const { code, detail } = isProblem(error) ? error : { code: "internal", detail: messageOf(error).slice(0, 300) };
  return { status: "failed", error: { code, message: detail }, text: "" };
}
