/** Swarms, as people and agents use them: checks, starts, reads and cancels them. */
import { DAY_SECONDS, toTimestamp } from "../../core/clock.ts";
import { conflict, invalidField, notFound } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Asker } from "../../core/ownership.ts";
import type { ExecutionInfo } from "../../engine/tool.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import { mayRead, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import type { SessionDraft } from "../sessions/model.ts";
import type { SessionRow, Sessions } from "../sessions/service.ts";
import type { Swarm, SwarmPlan, SwarmRequest, SwarmTask } from "./model.ts";
import { checkPlan } from "./plan.ts";
import type { Progress } from "./progress.ts";
import type { SwarmRow, SwarmRows, TaskRow } from "./store.ts";
import { createSwarmViews } from "./views.ts";

export type Swarms = ReturnType<typeof createSwarms>;

interface SwarmsDeps extends Pick<Core, "store" | "clock"> {
  rows: SwarmRows;
  progress: Progress;
  sessions: Sessions;
  /** @throws Problem 404 for an unknown agent, 409 for one that is switched off. */
  assertAgent(id: string): void;
  agentExists(id: string): boolean;
  /** Whether the project exists; false also for a project that the asker does not see. */
  projectExists(id: string, asker: Asker): boolean;
  /** What is wrong with a model's name; undefined for a model that can be called. */
  wrongModel(id: string): string | undefined;
  timeoutSeconds(): number;
  /** Called when a swarm has started, which adds a deadline. */
  deadlinesChanged(): void;
}

const TITLE_CHARACTERS = 100;
const CONCURRENT = 3;

const idOf = (sessionId: string): string => sessionId.replace(/^sess_/, "swm_");
const titleOf = (text: string): string => text.trim().split("\n")[0]!.slice(0, TITLE_CHARACTERS).toWellFormed();

export function createSwarms(deps: SwarmsDeps) {
  const { store, clock, rows, progress, sessions } = deps;
  const { present, presentTask } = createSwarmViews(rows, sessions);

  const find = (id: string, caller: Caller): SwarmRow => {
    const row = rows.swarm(id);
    if (!row || !mayRead(caller, WHOSE.swarms, sessions.find(row.session_id)!)) throw notFound("swarm");
    return row;
  };

  function assertTasks({ tasks }: SwarmPlan): void {
    for (const [at, { agent_id, model }] of tasks.entries()) {
      if (agent_id && !deps.agentExists(agent_id))
        throw invalidField(`/tasks/${at}/agent_id`, `There is no agent ${agent_id}.`);
      const wrongModel = model && deps.wrongModel(model);
      if (wrongModel) throw invalidField(`/tasks/${at}/model`, wrongModel);
    }
  }

  /** @throws Problem 409 when there is no room for that many tasks below the session. */
  function assertRoom({ depth, root_id }: SessionRow, count: number): void {
    if (depth >= LIMITS.sessionTreeDepth)
      throw conflict(
        `Agents may hand work on ${LIMITS.sessionTreeDepth} times, one below the other; the tasks of this swarm would be one more.`,
        "too_deep",
      );
    const used = sessions.find(root_id)!.tree_size;
    if (used + count > LIMITS.sessionTreeSize)
      throw conflict(
        `One piece of work may start ${LIMITS.sessionTreeSize} sessions in all; ${used} are there, and ${count} tasks are too many.`,
        "too_many_sessions",
      );
  }

  function start(draft: Omit<SessionDraft, "kind">, plan: SwarmPlan): Swarm {
    const max_depth = checkPlan(plan.tasks);
    assertTasks(plan);
    const { tasks, max_concurrent = CONCURRENT, on_failure = "skip_dependents", budget_usd } = plan;
    const each = tasks.map(({ timeout_seconds }) => timeout_seconds ?? deps.timeoutSeconds());
    const inTurn = each.reduce((sum, seconds) => sum + seconds, 0);
    const timeout_seconds = plan.timeout_seconds ?? Math.min(DAY_SECONDS, inTurn);
    return store.write((tx) => {
      const title = titleOf(tasks[0]!.title ?? tasks[0]!.prompt);
      const session = sessions.open({ ...draft, kind: "swarm", title, budget_usd: budget_usd ?? undefined });
      assertRoom(session, tasks.length);
      const id = idOf(session.id);
      const swarm: SwarmRow = {
        id,
        session_id: session.id,
        status: "running",
        stop: null,
        error: null,
        max_concurrent,
        max_depth,
        on_failure,
        timeout_seconds,
        deadline_at: clock.now() + timeout_seconds * 1_000,
        created_at: toTimestamp(clock.now()),
        finished_at: null,
      };
      rows.insert(
        swarm,
        tasks.map((task, position) => rowOf(task, { id, position, agentId: session.agent_id })),
      );
      progress.goOn(tx, id);
      tx.after(deps.deadlinesChanged);
      return present(rows.swarm(id)!);
    });
  }

  return {
    /**
     * Starts a swarm for the caller.
     * @throws Problem 404 for an unknown agent, 409 for one that is switched off, 422 naming an invalid field.
     */
    execute(input: SwarmRequest, caller: Caller): Swarm {
      const { agent_id, project_id, ...plan } = input;
      deps.assertAgent(agent_id);
      if (project_id && !deps.projectExists(project_id, caller))
        throw invalidField("/project_id", "There is no such project");
      return start({ agent_id, user_id: caller.userId, project_id: project_id ?? undefined }, plan);
    },
    /**
     * Starts a swarm below the session of a running agent. A repeat of the same call returns the same swarm.
     * @throws Problem as `execute`, and 409 `too_deep`, `too_many_sessions`, `budget_too_small`.
     */
    executeFor({ sessionId, agentId }: ExecutionInfo, callId: string, plan: SwarmPlan): Swarm {
      const started = sessions.startedBy(sessionId, callId);
      if (started) return present(rows.ofSession(started.id)!);
      return start({ agent_id: agentId, parent_id: sessionId, call_id: callId }, plan);
    },
    /** @throws Problem 404 for an unknown swarm or another user's. */
    get: (id: string, caller: Caller): Swarm => present(find(id, caller)),
    /** The caller's own swarms, or all for an administrator; newest first. */
    list(page: Page, caller: Caller): ListAnswer<Swarm> {
      const found = rows.page(page, caller);
      return listAnswer(found, page, ({ session_id }) => session_id, present);
    },
    /** The swarm's tasks in the order of the request. @throws Problem 404. */
    tasks(id: string, page: Page, caller: Caller): ListAnswer<SwarmTask> {
      const all = rows.tasks(find(id, caller).id);
      const from = page.after === null ? 0 : all.findIndex(({ key }) => key === page.after) + 1;
      const shown = page.after !== null && from === 0 ? [] : all.slice(from, from + page.limit + 1);
      return listAnswer(shown, page, ({ key }) => key, presentTask);
    },
    /** @throws Problem 404, 409 when the swarm has ended. */
    cancel: (id: string, caller: Caller): Swarm =>
      store.write((tx) => {
        const row = find(id, caller);
        if (row.status !== "running") throw conflict("The swarm has ended already.", "swarm_ended");
        progress.stop(tx, row.id, "cancelled", null);
        return present(rows.swarm(row.id)!);
      }),
    /** Repeats a task. @throws Problem 404, 409 as `Progress.retry` says. */
    retry: (id: string, key: string, caller: Caller): Swarm =>
      store.write((tx) => {
        const row = find(id, caller);
        const task = rows.tasks(row.id).find((one) => one.key === key);
        if (!task) throw notFound("task in this swarm");
        deps.assertAgent(task.agent_id);
        progress.retry(tx, row.id, task);
        tx.after(deps.deadlinesChanged);
        return present(rows.swarm(row.id)!);
      }),
    /** The swarm's state and all its tasks, for the agent that started it. */
    report: (id: string): { swarm: Swarm; tasks: SwarmTask[] } => ({
      swarm: present(rows.swarm(id)!),
      tasks: rows.tasks(id).map(presentTask),
    }),
  };
}

function rowOf(
  task: SwarmPlan["tasks"][number],
  { id, position, agentId }: { id: string; position: number; agentId: string },
): TaskRow {
  return {
    swarm_id: id,
    position,
    key: task.key,
    title: task.title ?? titleOf(task.prompt),
    prompt: task.prompt,
    agent_id: task.agent_id ?? agentId,
    model: task.model ?? null,
    timeout_seconds: task.timeout_seconds ?? null,
    depends_on: task.depends_on ?? [],
    status: "pending",
    session_id: null,
    error: null,
    started_at: null,
    finished_at: null,
  };
}
