/**
 * Evals: each combines tasks with those who try them. `driver.ts` carries them out; scores are computed from the
 * attempts.
 */
import { toTimestamp } from "../../core/clock.ts";
import { conflict, invalidField } from "../../core/errors.ts";
import { EVAL_HARNESSES, type EvalHarness } from "../../core/harness-names.ts";
import { newId } from "../../core/ids.ts";
import { toUsd } from "../../core/money.ts";
import type { HarnessConfig } from "../../engine/agent-file.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import { seekAbove } from "../../store/reader.ts";
import { evals, evalTasks, type PackedTask, type RecordedTurn } from "../../store/tables/evals.ts";
import { buildReadCondition, expectReadable, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import type { Driver } from "./driver.ts";
import {
  type Eval,
  type EvalAttempt,
  type EvalComparison,
  type EvalCreate,
  type EvalDetail,
  type EvalRecording,
  type EvalTask,
  MOST_ATTEMPTS,
} from "./model.ts";
import { packFiles } from "./pack.ts";
import type { RecordedRow } from "./recording.ts";
import { comparisonOf, type EvalRow, problemsOf, scoresOf } from "./scores.ts";
import type { AttemptRow, AttemptStore } from "./store.ts";

interface EvalsDeps extends Pick<Core, "store" | "clock"> {
  driver: Driver;
  attempts: AttemptStore;
  recordingOf(attempts: readonly RecordedRow[]): EvalRecording;
  /** @throws Problem 404, 409. */
  harnessOf(agentId: string): HarnessConfig;
  /**
   * Size of the agent's sandbox; without an agent, of the sandbox for commands. Null: this host, without limits.
   * @throws Problem 404, 409.
   */
  roomOf(agentId: string | undefined): { cpus: number; memory_mb: number } | null;
  /** @throws Problem 404. */
  assertProject(name: string, caller: Caller): void;
  /** False when the caller does not see the run's project. */
  seesRun(runId: string, caller: Caller): boolean;
  /** @throws Problem 413 when the user may not store that many more bytes. */
  assertStored(bytes: number, userId: string | undefined): void;
  wrongModel(id: string): string | undefined;
}

const WORK_SECONDS = 900;
const CHECK_SECONDS = 300;

type NewAttempt = Pick<RecordedRow, "task" | "worker" | "agent_id" | "model" | "harness" | "number" | "turns">;

export type Evals = ReturnType<typeof createEvals>;

export function createEvals({ store, clock, driver, attempts, recordingOf, ...deps }: EvalsDeps) {
  const rows = store.rows(evals);
  const tasks = store.rows(evalTasks);
  const find = (id: string, caller: Caller): EvalRow => expectReadable(caller, WHOSE.evals, rows.find({ id }), "eval");
  const present = (row: EvalRow): Eval => ({ ...row, ...attempts.totals([row.id]).get(row.id)! });
  const presentDetail = (row: EvalRow): EvalDetail => {
    const all = attempts.of(row.id);
    return {
      ...present(row),
      scores: scoresOf(row, all),
      problems: row.mode === "oracle" ? problemsOf(all) : [],
    };
  };

  /** @throws Problem when an agent, model or harness of the eval cannot be used. */
  function assertTried({ agents = [], models = [], harnesses = [], replay }: EvalCreate): void {
    for (const agent of agents)
      if (typeof deps.harnessOf(agent) === "string" && harnesses.includes("acp"))
        throw invalidField("/harnesses", `The file of the agent ${agent} names no command of its own (harness: acp)`);
    for (const model of replay ? [] : models) {
      const wrong = deps.wrongModel(model);
      if (wrong) throw invalidField("/models", wrong);
    }
  }

  const ownHarness = (agent: string): string => {
    const own = deps.harnessOf(agent);
    return typeof own === "string" ? own : "acp";
  };

  return {
    /** Checks the eval and packs its tasks. @returns a function that adds the eval's rows. @throws Problem 422. */
    async create(input: EvalCreate, caller: Caller): Promise<() => EvalDetail> {
      assertTried(input);
      assertRoom(input, deps.roomOf);
      const planned = planAttempts(input, ownHarness);
      const packed = new Map<string, PackedTask>();
      for (const [at, task] of input.tasks.entries()) {
        if (packed.has(task.name)) throw invalidField(`/tasks/${at}/name`, `Two tasks are called ${task.name}`);
        if (task.project_name) deps.assertProject(task.project_name, caller);
        packed.set(task.name, await packTask(task, at, input.oracle === true));
      }
      const row: EvalRow = {
        id: newId("eval"),
        name: input.name,
        user_id: caller.userId ?? null,
        status: "running",
        mode: input.oracle ? "oracle" : "agents",
        attempts: input.oracle ? 1 : (input.attempts ?? 1),
        parallel: input.parallel ?? 2,
        budget_usd: input.budget_usd ?? null,
        replayed: input.replay !== undefined,
        created_at: toTimestamp(clock.now()),
        finished_at: null,
        size_bytes: 0,
      };
      const bytesOf = (value: unknown) => (value === null ? 0 : Buffer.byteLength(JSON.stringify(value)));
      const size = [...packed.values(), ...planned.map(({ turns }) => turns)].reduce<number>(
        (sum, one) => sum + bytesOf(one),
        0,
      );
      return () =>
        store.write((tx) => {
          deps.assertStored(size, caller.userId);
          rows.insert(row);
          for (const [name, task] of packed) tasks.insert({ eval_id: row.id, name, task });
          for (const one of planned)
            attempts.rows.insert({ ...one, id: newId("evalAttempt"), eval_id: row.id, status: "queued" });
          driver.emit(tx, row, "created");
          tx.after(() => driver.advance(row.id));
          return presentDetail(rows.find({ id: row.id })!);
        });
    },
    list(page: Page, caller: Caller): ListAnswer<Eval> {
      const found = rows.page([buildReadCondition(caller, WHOSE.evals)], page);
      const totals = attempts.totals(found.map(({ id }) => id));
      return listById(found, page, (row) => ({ ...row, ...totals.get(row.id)! }));
    },
    get: (id: string, caller: Caller): EvalDetail => presentDetail(find(id, caller)),
    attempts(id: string, page: Page, caller: Caller): ListAnswer<EvalAttempt> {
      const row = find(id, caller);
      const found = attempts.page(row.id, seekAbove("eval_attempts.id", page), page.limit + 1);
      return listById(found, page, presentAttempt);
    },
    compare(id: string, other: string, caller: Caller): EvalComparison {
      const [after, before] = [find(id, caller), find(other, caller)];
      return comparisonOf(
        { shown: present(before), attempts: attempts.of(before.id) },
        { shown: present(after), attempts: attempts.of(after.id) },
      );
    },
    recording: (id: string, caller: Caller): EvalRecording =>
      recordingOf(
        attempts.rows
          .list([{ eval_id: find(id, caller).id }], { order: "id" })
          .filter(({ run_id }) => run_id === null || deps.seesRun(run_id, caller)),
      ),
    /** @throws Problem 409 when the eval has ended. */
    cancel(id: string, caller: Caller): EvalDetail {
      const row = find(id, caller);
      if (row.status !== "running") throw conflict(`The eval is ${row.status} already.`, "eval_ended");
      driver.cancel(row, caller);
      return presentDetail(rows.find({ id })!);
    },
    /** Deletes the eval; its runs stay. @throws Problem 409 while the eval is at work. */
    remove(id: string, caller: Caller): void {
      const row = find(id, caller);
      if (row.status === "running") throw conflict("The eval is at work. Cancel it first.", "eval_at_work");
      store.write((tx) => {
        rows.remove({ id });
        driver.emit(tx, row, "deleted");
      });
    },
    /** The recorded replies that the run plays; undefined when the run asks its model. */
    turnsOf: (runId: string): RecordedTurn[] | undefined => attempts.rows.find({ run_id: runId })?.turns ?? undefined,
    /**
     * The harness for the agent in an attempt's run. Undefined when the run is no attempt, or the attempt tries another
     * agent.
     */
    harnessIn({ runId, agentId }: { runId?: string | undefined; agentId: string }): EvalHarness | undefined {
      const attempt = runId === undefined ? undefined : attempts.ofRun(runId);
      return attempt?.agent_id === agentId ? EVAL_HARNESSES.find((one) => one === attempt.harness) : undefined;
    },
    handOver(from: string, to: string | null): void {
      if (to === null) rows.remove({ user_id: from });
      else rows.update({ user_id: to }, { user_id: from });
    },
  };
}

/**
 * @throws Problem 422 for a task that needs a larger sandbox: a failure for lack of memory would say nothing about the
 * agent.
 */
function assertRoom({ tasks: all, agents = [] }: EvalCreate, roomOf: EvalsDeps["roomOf"]): void {
  for (const agent of [undefined, ...agents]) {
    const room = roomOf(agent);
    for (const [at, { name, cpus = 0, memory_mb = 0 }] of room === null ? [] : all.entries())
      for (const [field, wanted, unit] of [
        ["memory_mb", memory_mb, "MiB of memory"],
        ["cpus", cpus, "processors"],
      ] as const)
        if (wanted > room![field])
          throw invalidField(
            `/tasks/${at}/${field}`,
            `Task ${name} needs ${wanted} ${unit}, and ${agent === undefined ? "the sandbox of its tests" : `the sandbox of the agent ${agent}`} has ${room![field]}. Set: skep settings set sandbox.${field}=${wanted}${agent === undefined ? "" : `, or ${field} in the agent's file`}`,
          );
  }
}

/** @throws Problem 422. */
async function packTask(task: EvalTask, at: number, isOracle: boolean): Promise<PackedTask> {
  const { workspace = [], tests, solution = [] } = task;
  const has = (files: EvalTask["tests"], path: string) => files.some((file) => file.path === path);
  if (!has(tests, "test.sh")) throw invalidField(`/tasks/${at}/tests`, `Task ${task.name} has no tests/test.sh`);
  if (isOracle && !has(solution, "solve.sh"))
    throw invalidField(`/tasks/${at}/solution`, `Task ${task.name} has no solution/solve.sh`);
  return {
    instruction: task.instruction,
    project_name: task.project_name ?? null,
    commit: task.commit ?? null,
    budget_usd: task.budget_usd ?? null,
    timeout_seconds: task.timeout_seconds ?? WORK_SECONDS,
    check_seconds: task.check_seconds ?? CHECK_SECONDS,
    ...(task.reward ? { reward: true } : {}),
    workspace: workspace.length === 0 ? null : await packFiles(workspace, `/tasks/${at}/workspace`),
    tests: await packFiles(tests, `/tasks/${at}/tests`),
    solution: solution.length === 0 ? null : await packFiles(solution, `/tasks/${at}/solution`),
  };
}

/** All attempts, in the order in which they run: every task once, then again. @throws Problem 422. */
function planAttempts(input: EvalCreate, ownHarness: (agent: string) => string): NewAttempt[] {
  const planned = input.oracle ? oracleAttempts(input) : agentAttempts(input, ownHarness);
  if (planned.length > MOST_ATTEMPTS)
    throw invalidField("/attempts", `These are ${planned.length} attempts; an eval has ${MOST_ATTEMPTS} at most`);
  return planned;
}

function oracleAttempts({ tasks, agents, replay }: EvalCreate): NewAttempt[] {
  if (agents?.length || replay) throw invalidField("/oracle", "An oracle asks no agents and replays nothing");
  const none = { agent_id: null, model: null, harness: null, number: 1, turns: null };
  return tasks.flatMap(({ name: task }) => [
    { ...none, task, worker: "solution" as const },
    { ...none, task, worker: "nothing" as const },
  ]);
}

function agentAttempts(
  { tasks, agents = [], models = [], harnesses, attempts: k = 1, replay }: EvalCreate,
  ownHarness: (agent: string) => string,
): NewAttempt[] {
  if (replay && agents.length === 0) return recordedAttempts(tasks, replay);
  if (agents.length === 0) throw invalidField("/agents", "Name at least one agent, or make it an oracle");
  const planned: NewAttempt[] = [];
  for (let number = 1; number <= k; number++)
    for (const { name: task } of tasks)
      for (const agent_id of agents)
        for (const model of models.length > 0 ? models : [null])
          for (const harness of harnesses ?? [ownHarness(agent_id)]) {
            const one = { task, agent_id, model, harness, number };
            planned.push({ ...one, worker: "agent", turns: replay ? turnsIn(replay, one) : null });
          }
  return planned;
}

/**
 * The recorded replies for an attempt: recorded with the same harness, else with another, since the model is replayed.
 * @throws Problem 422 when the recording has none.
 */
function turnsIn({ attempts }: EvalRecording, one: Omit<NewAttempt, "worker" | "turns">) {
  const all = attempts.filter(
    ({ task, agent_id, model, number }) =>
      task === one.task && agent_id === one.agent_id && model === one.model && number === one.number,
  );
  const found = all.find(({ harness }) => harness === one.harness) ?? all[0];
  const by = one.model === null ? one.agent_id : `${one.agent_id} with ${one.model}`;
  if (!found)
    throw invalidField("/replay", `There is no recording of attempt ${one.number} of task ${one.task} by ${by}`);
  return found.turns;
}

/** Attempts for the recorded ones whose tasks are given. */
function recordedAttempts(tasks: EvalCreate["tasks"], { attempts }: EvalRecording): NewAttempt[] {
  const names = new Set(tasks.map(({ name }) => name));
  const found = attempts.filter(({ task }) => names.has(task));
  if (found.length === 0) throw invalidField("/replay", "The recording has none of these tasks");
  return found.map((one) => ({ ...one, worker: "agent" }));
}

function presentAttempt({ cost_nano, ...row }: AttemptRow): EvalAttempt {
  return { ...row, cost_usd: toUsd(cost_nano) };
}
