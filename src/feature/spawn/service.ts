/**
 * Spawned executions: sessions of the kind `spawn`, with one execution each. Their ids are their sessions' ids with
 * another prefix.
 */

import { conflict, invalidField, notFound } from "../../core/errors.ts";
import { toUsd } from "../../core/money.ts";
import type { Asker } from "../../core/ownership.ts";
import { shownOf } from "../../core/schema.ts";
import { textOf } from "../../engine/parts.ts";
import type { ExecutionInfo } from "../../engine/tool.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import { sessions as table } from "../../store/tables/sessions.ts";
import { buildReadCondition, mayRead, WHOSE_SESSIONS } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import type { SessionDraft } from "../sessions/model.ts";
import type { SessionRow, Sessions } from "../sessions/service.ts";
import { type HandedOn, SpawnedExecution, type SpawnRequest } from "./model.ts";

export type Spawns = ReturnType<typeof createSpawns>;

interface SpawnsDeps extends Pick<Core, "store"> {
  sessions: Sessions;
  /** @throws Problem 404 for an unknown agent, 409 for one that is switched off. */
  assertAgent(id: string): void;
  /** Whether the project exists; false also for a project that the asker does not see. */
  projectExists(id: string, asker: Asker): boolean;
  taskExists(projectId: string, taskId: string): boolean;
  /** What is wrong with a model's name; undefined for a model that can be called. */
  wrongModel(id: string): string | undefined;
  timeoutSeconds(): number;
}

const spawnId = (sessionId: string): string => sessionId.replace(/^sess_/, "spn_");
const sessionId = (id: string): string => id.replace(/^spn_/, "sess_");

export function createSpawns(deps: SpawnsDeps) {
  const { store, sessions } = deps;
  const all = store.rows(table);
  const open = (draft: Omit<SessionDraft, "kind">, prompt: string, timeoutSeconds: number | undefined) =>
    store.write(() => {
      const session = sessions.open({ ...draft, kind: "spawn", title: prompt.split("\n")[0]?.slice(0, 100) });
      sessions.queue(session.id, { input: prompt, timeout_seconds: timeoutSeconds ?? deps.timeoutSeconds() });
      return present(sessions.find(session.id)!);
    });
  const find = (id: string, caller: Caller): SessionRow => {
    const row = id.startsWith("spn_") ? sessions.find(sessionId(id)) : undefined;
    if (row?.kind !== "spawn" || !mayRead(caller, WHOSE_SESSIONS.spawn, row)) throw notFound("spawned execution");
    return row;
  };
  const present = (session: SessionRow): SpawnedExecution => {
    const work = sessions.latest(session.id);
    return {
      ...shownOf(SpawnedExecution, session),
      id: spawnId(session.id),
      session_id: session.id,
      status: work?.status ?? "cancelled",
      prompt: textOf(work?.input ?? []),
      output: work?.text || null,
      outputs: work?.outputs ?? {},
      error: work?.error ?? null,
      model: work?.model ?? session.wanted_model,
      cost_usd: toUsd(session.spent_nano),
      started_at: work?.started_at ?? null,
      finished_at: work?.finished_at ?? session.ended_at,
    };
  };
  return {
    /**
     * @throws Problem 404 for an unknown agent, 409 for one that is switched off, 413 `workspaces_full`, 422 for a
     * project or model that does not exist.
     */
    execute(input: SpawnRequest, caller: Caller): SpawnedExecution {
      const { agent_id, prompt, project_id, task_id, model, budget_usd } = input;
      deps.assertAgent(agent_id);
      if (project_id && !deps.projectExists(project_id, caller))
        throw invalidField("/project_id", "There is no such project");
      if (task_id && (!project_id || !deps.taskExists(project_id, task_id)))
        throw invalidField("/task_id", "The project has no such task");
      if (input.branch)
        throw invalidField(
          "/branch",
          "Spawned work with a project gets a branch of its own, which cannot be chosen. Leave this out, and merge its changes where you want them",
        );
      const wrongModel = model && deps.wrongModel(model);
      if (wrongModel) throw invalidField("/model", wrongModel);
      const of = { agent_id, user_id: caller.userId, project_id: project_id ?? undefined };
      const how = { task_id: task_id ?? undefined, model: model ?? undefined, budget_usd: budget_usd ?? undefined };
      return open({ ...of, ...how }, prompt, input.timeout_seconds);
    },
    /**
     * Hands work on from a running agent, below its session. A repeat of the same call returns the same execution.
     * @throws Problem 404 for an unknown agent, 409 for one that is switched off, `too_deep`, `too_many_sessions`,
     * `budget_too_small`.
     */
    executeFor(
      { sessionId: parent_id }: ExecutionInfo,
      call_id: string,
      { agent_id, prompt, budget_usd, timeout_seconds }: HandedOn,
    ): SpawnedExecution {
      const started = sessions.startedBy(parent_id, call_id);
      if (started) return present(started);
      deps.assertAgent(agent_id);
      return open({ agent_id, parent_id, call_id, budget_usd }, prompt, timeout_seconds);
    },
    /** The state of an execution, for the agent that started it. */
    report: (id: string): SpawnedExecution => present(sessions.find(sessionId(id))!),
    /** @throws Problem 404 for an unknown execution or another user's. */
    get: (id: string, caller: Caller): SpawnedExecution => present(find(id, caller)),
    /** The caller's own executions, or all for an administrator; newest first. */
    list(page: Page, caller: Caller): ListAnswer<SpawnedExecution> {
      const after = page.after === null ? null : sessionId(page.after);
      const where = [["kind = 'spawn'"] as const, buildReadCondition(caller, WHOSE_SESSIONS.spawn)];
      const rows = all.page(where, { ...page, after });
      return listAnswer(rows, page, ({ id }) => spawnId(id), present);
    },
    /** @throws Problem 404, 409 when the execution has ended. */
    cancel: (id: string, caller: Caller): SpawnedExecution =>
      store.write(() => {
        const row = find(id, caller);
        if (row.ended_at !== null) throw conflict("The execution has ended already.", "execution_ended");
        sessions.end(row.id);
        return present(sessions.find(row.id)!);
      }),
  };
}
