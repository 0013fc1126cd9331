/** Tasks of a project's board: created, changed, claimed by agents, moved by rules that apply to every caller. */
import { type Clock, timestamp } from "../../core/clock.ts";
import { conflict, invalidField, isProblem, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { withoutNull } from "../../core/schema.ts";
import type { ExecutionHolder } from "../../engine/tokens.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import type { BoardColumn, PlainProject } from "../projects/model.ts";
import type {
  NewTask,
  Task,
  TaskBulk,
  TaskBulkAnswer,
  TaskClaim,
  TaskFilter,
  TaskHistoryEntry,
  TaskMove,
  TaskTransition,
  TaskUpdate,
  Transitioned,
} from "./model.ts";
import { CLAIMABLE, FINISHED, type TaskRules } from "./rules.ts";
import { presentTask, priorityOf, type TaskRow, type TaskStore } from "./store.ts";

export interface Tasks {
  list(projectId: string, filter: TaskFilter, page: Page): ListAnswer<Task>;
  /** @throws Problem 404, also for a task of another project. */
  get(projectId: string, id: string): Task;
  /** @throws Problem 422 naming the field that is not valid. */
  create(projectId: string, input: NewTask, caller: Caller, id?: string): Task;
  update(projectId: string, id: string, input: TaskUpdate, caller: Caller): Task;
  remove(projectId: string, id: string, caller: Caller): void;
  /**
   * Takes the task for an agent, or gives it back; again by the same agent, it lengthens the lease.
   * @throws Problem 409 naming the holder, what is not done, or the status.
   */
  claim(projectId: string, id: string, input: TaskClaim, caller: Caller): { task: Task; branch: string | null };
  /** Whether the run, or the tree of sessions, that the caller works in was given the task or has claimed it. */
  isHeldBy(projectId: string, id: string, work: ExecutionHolder): boolean;
  /** @throws Problem 422 a status that is not on the board, 409 the rule that forbids it. */
  transition(projectId: string, id: string, input: TaskTransition, caller: Caller): Transitioned;
  move(projectId: string, id: string, input: TaskMove, caller: Caller): Task;
  /** Each task by itself: one that cannot be changed says why, the others are changed. */
  bulk(projectId: string, input: TaskBulk, caller: Caller): TaskBulkAnswer;
  history(projectId: string, id: string, page: Page): ListAnswer<TaskHistoryEntry>;
  nextStatuses(row: TaskRow): string[];
  /** Releases tasks whose lease has run out. */
  endLeases(): void;
}

export interface TasksDeps {
  store: Store;
  clock: Clock;
  /** A lease was given: its end may be the next thing due. */
  leaseChanged(): void;
  rows: TaskStore;
  rules: TaskRules;
  /** @throws Problem 404. */
  projectOf(id: string): PlainProject;
  agentExists(id: string): boolean;
  /** Stages of the task's work that must come before it is done and have not. */
  missingStages(row: TaskRow): string[];
  works: {
    /** The run of a session, else the root of its tree. */
    of(sessionId: string): string;
    /** Whether a run or a session has not ended. */
    isOpen(id: string): boolean;
  };
}

const METADATA_BYTES = 16_384;
const GAP = 1_024;

export function createTasks(deps: TasksDeps): Tasks {
  const { store, clock, rows, rules, projectOf, agentExists, missingStages, works } = deps;
  const claimantOf = ({ execution }: Caller): string | null => (execution ? works.of(execution.sessionId) : null);
  const rowOf = (projectId: string, id: string): TaskRow => {
    projectOf(projectId);
    const row = rows.find(id);
    if (!row || row.project_id !== projectId) throw notFound("task");
    return row;
  };
  const shown = (row: TaskRow): Task => presentTask(row, rows.dependenciesOf([row.id]).get(row.id) ?? []);
  const columnsOf = (projectId: string): BoardColumn[] => projectOf(projectId).columns;
  const assertStatus = (projectId: string, status: string): void => {
    const known = columnsOf(projectId).flatMap(({ statuses }) => statuses);
    if (!known.includes(status)) throw invalidField("/status", `The board has the statuses ${known.join(", ")}`);
  };
  const assertAgent = (id: string | null | undefined, pointer = "/assigned_agent"): void => {
    if (id && !agentExists(id)) throw invalidField(pointer, "There is no such agent");
  };
  const assertRelated = (projectId: string, id: string | null | undefined, pointer: string): void => {
    if (id && rows.find(id)?.project_id !== projectId) throw invalidField(pointer, "The project has no such task");
  };

  /** @throws Problem 422 unknown tasks, cycles, or values that are too large. */
  function assertFields(projectId: string, input: TaskUpdate, own?: string): void {
    assertAgent(input.assigned_agent);
    assertRelated(projectId, input.parent_id, "/parent_id");
    for (const [index, id] of (input.depends_on ?? []).entries()) assertRelated(projectId, id, `/depends_on/${index}`);
    if (own !== undefined && input.depends_on && rows.upstream(input.depends_on).has(own))
      throw invalidField("/depends_on", "The task would wait for itself");
    for (let at = input.parent_id, steps = 0; at; at = rows.find(at)?.parent_id, steps++)
      if (at === own || steps > 20) throw invalidField("/parent_id", "A task cannot be below itself, nor 20 deep");
    if (input.metadata && JSON.stringify(input.metadata).length > METADATA_BYTES)
      throw invalidField("/metadata", `At most ${METADATA_BYTES} bytes of JSON`);
  }
  const fieldsOf = ({ priority, depends_on: _, trusted, ...rest }: TaskUpdate): Partial<TaskRow> => ({
    ...(trusted ? { outside: null } : {}),
    ...withoutNull(rest),
    ...(priority === undefined ? {} : { priority: priorityOf(priority) }),
  });

  /** Why a task may not have a status, or undefined. */
  function obstacle(row: TaskRow, status: string): ReturnType<typeof conflict> | undefined {
    if (status === row.status) return undefined;
    const column = columnsOf(row.project_id).find(({ statuses }) => statuses.includes(status));
    if (column && column.wip_limit !== null && !column.statuses.includes(row.status)) {
      const there = rows.inStatuses(row.project_id, column.statuses);
      if (there >= column.wip_limit)
        return conflict(`The column ${column.name} holds ${there} tasks, its limit. Finish one first.`, "wip_limit");
    }
    if (["in_progress", "review", "done"].includes(status)) {
      const unmet = rows.unmet(row.id);
      if (unmet.length > 0)
        return conflict("Tasks that it depends on are not done.", "dependencies_unmet", { depends_on: unmet });
    }
    if (status === "done") {
      const missing = missingStages(row);
      if (missing.length > 0)
        return conflict(`Stages that its work requires are missing: ${missing.join(", ")}.`, "stage_required", {
          missing,
        });
    }
    return undefined;
  }
  const nextStatuses = (row: TaskRow): string[] =>
    columnsOf(row.project_id)
      .flatMap(({ statuses }) => statuses)
      .filter((status) => status !== row.status && obstacle(row, status) === undefined);

  function release(row: TaskRow, actor: string, note?: string): TaskRow {
    const fields = { assigned_agent: null, lease_until: null, claimed_by: null };
    const said = { actor, change: "released" as const, note };
    return row.status === "in_progress"
      ? rules.move(row, { status: "ready", note: said, fields })
      : rows.update(row.id, fields, said);
  }

  function transition(row: TaskRow, { status, note, force }: TaskTransition, caller: Caller): TaskRow {
    assertStatus(row.project_id, status);
    const problem = force ? undefined : obstacle(row, status);
    if (problem) throw problem;
    const renewed = row.lease_until === null ? {} : { lease_until: clock.now() + LIMITS.taskLeaseMs };
    return rules.move(row, { status, note: { actor: actorOf(caller), change: "moved", note }, fields: renewed });
  }

  return {
    nextStatuses,
    list(projectId, filter, page) {
      projectOf(projectId);
      const found = rows.page(projectId, filter, page);
      const dependencies = rows.dependenciesOf(found.map(({ id }) => id));
      return listAnswer(found, page, rows.keyOf, (row) => presentTask(row, dependencies.get(row.id) ?? []));
    },
    get: (projectId, id) => shown(rowOf(projectId, id)),
    create(projectId, input, caller, id = newId("task")) {
      return store.write(() => {
        assertFields(projectId, input);
        assertRelated(projectId, input.discovered_from, "/discovered_from");
        const status = input.status ?? "backlog";
        assertStatus(projectId, status);
        const at = timestamp(clock.now());
        const row: TaskRow = {
          id,
          project_id: projectId,
          title: input.title,
          description: input.description ?? "",
          status,
          blocked_from: null,
          priority: priorityOf(input.priority ?? "p2"),
          work_type: input.work_type ?? null,
          assigned_agent: input.assigned_agent ?? null,
          lease_until: null,
          parent_id: input.parent_id ?? null,
          discovered_from: input.discovered_from ?? null,
          tags: [...new Set(input.tags)],
          estimate_hours: input.estimate_hours ?? null,
          branch: null,
          run_id: null,
          completed_stages: [],
          position: rows.lastPosition(projectId, status) + GAP,
          metadata: input.metadata ?? {},
          created_by: caller.userId ?? null,
          created_at: at,
          updated_at: at,
          finished_at: FINISHED.has(status) ? at : null,
          outside: input.outside ?? null,
          claimed_by: null,
        };
        rows.insert(row, input.depends_on ?? [], { actor: actorOf(caller), change: "created", to: status });
        return shown(row);
      });
    },
    update(projectId, id, input, caller) {
      return store.write(() => {
        const row = rowOf(projectId, id);
        assertFields(projectId, input, id);
        const note = { actor: actorOf(caller), change: "updated" as const, note: Object.keys(input).join(", ") };
        return shown(rows.update(row.id, fieldsOf(input), note, input.depends_on));
      });
    },
    remove(projectId, id, caller) {
      store.write(() => {
        const row = rowOf(projectId, id);
        if (row.run_id !== null && !FINISHED.has(row.status) && row.status === "in_progress")
          throw conflict("A run is at work on the task. Cancel the run first.", "task_busy");
        rows.remove(row, actorOf(caller));
      });
    },
    claim(projectId, id, { agent_id, release: givesBack }, caller) {
      return store.write(({ after }) => {
        const row = rowOf(projectId, id);
        assertAgent(agent_id, "/agent_id");
        const holder = row.lease_until !== null && row.lease_until > clock.now() ? row.assigned_agent : null;
        if (holder !== null && holder !== agent_id)
          throw conflict(`${holder} holds the task until ${timestamp(row.lease_until!)}.`, "task_claimed", { holder });
        const mine = claimantOf(caller);
        if (holder !== null && mine !== null && row.claimed_by !== null && row.claimed_by !== mine)
          if (works.isOpen(row.claimed_by))
            throw conflict(`Other work of ${holder} holds the task: ${row.claimed_by}.`, "task_claimed", { holder });
        const answer = (claimed: TaskRow) => ({ task: shown(claimed), branch: claimed.branch });
        if (givesBack) return answer(holder === null ? row : release(row, actorOf(caller)));
        if (!CLAIMABLE.has(row.status))
          throw conflict(`A task that is ${row.status} cannot be claimed.`, "not_claimable");
        const problem = obstacle(row, "in_progress");
        if (problem) throw problem;
        after(deps.leaseChanged);
        return answer(
          rules.move(row, {
            status: "in_progress",
            note: { actor: actorOf(caller), change: "claimed", note: agent_id },
            fields: {
              assigned_agent: agent_id,
              lease_until: clock.now() + LIMITS.taskLeaseMs,
              claimed_by: mine,
              branch: row.branch ?? `task/${id}`,
            },
          }),
        );
      });
    },
    isHeldBy(projectId, id, { sessionId, runId }) {
      const row = rowOf(projectId, id);
      const mine = works.of(sessionId);
      return row.claimed_by === mine || (runId !== undefined && row.run_id === runId);
    },
    transition(projectId, id, input, caller) {
      return store.write(() => {
        const row = transition(rowOf(projectId, id), input, caller);
        return { ...shown(row), next_statuses: nextStatuses(row) };
      });
    },
    move(projectId, id, { status, before, after }, caller) {
      if (before !== undefined && after !== undefined)
        throw invalidField("/after", "Name one neighbour: before or after");
      return store.write(() => {
        let row = rowOf(projectId, id);
        if (status !== undefined && status !== row.status) row = transition(row, { status }, caller);
        const neighbour = before ?? after;
        if (neighbour === undefined || neighbour === id) return shown(row);
        place(row, neighbour, before === undefined);
        return shown(rows.update(id, {}, { actor: actorOf(caller), change: "moved" }));
      });
    },
    bulk(projectId, { ids, change }, caller) {
      projectOf(projectId);
      const { status, add_tags = [], remove_tags = [], ...fields } = change;
      const one = (id: string): Task =>
        store.write(() => {
          const row = rowOf(projectId, id);
          assertAgent(fields.assigned_agent, "/change/assigned_agent");
          if (status !== undefined) transition(row, { status }, caller);
          const tags = [...new Set([...row.tags, ...add_tags])].filter((tag) => !remove_tags.includes(tag));
          const note = { actor: actorOf(caller), change: "updated" as const, note: Object.keys(change).join(", ") };
          return shown(rows.update(id, { ...fieldsOf(fields), tags }, note));
        });
      return {
        items: [...new Set(ids)].map((id) => {
          try {
            return { id, task: one(id), error: null };
          } catch (error) {
            if (!isProblem(error)) throw error;
            return { id, task: null, error: { code: error.code, message: error.detail } };
          }
        }),
      };
    },
    history(projectId, id, page) {
      rowOf(projectId, id);
      return listAnswer(
        rows.history(id, page),
        page,
        (entry) => String(entry.id),
        (entry) => entry,
      );
    },
    endLeases() {
      store.write(() => {
        for (const row of rows.expired(clock.now())) {
          const minutes = LIMITS.taskLeaseMs / 60_000;
          if (row.run_id !== null && row.status === "in_progress")
            rows.update(
              row.id,
              { lease_until: clock.now() + LIMITS.taskLeaseMs },
              { actor: "rule", change: "updated", note: "Its run is at work." },
            );
          else release(row, "rule", `${row.assigned_agent} gave no sign of life for ${minutes} minutes.`);
        }
      });
    },
  };

  /** Puts a row before or after a neighbour; when there is no number left between, the column is renumbered. */
  function place(row: TaskRow, neighbourId: string, behind: boolean): void {
    const others = rows.column(row.project_id, row.status).filter(({ id }) => id !== row.id);
    const found = others.findIndex(({ id }) => id === neighbourId);
    if (found < 0) throw invalidField(behind ? "/after" : "/before", `No such task is ${row.status}`);
    const at = behind ? found + 1 : found;
    const low = others[at - 1]?.position ?? (others[at]?.position ?? 0) - 2 * GAP;
    const high = others[at]?.position ?? low + 2 * GAP;
    const position = Math.floor((low + high) / 2);
    if (position > low && position < high) return rows.reposition(row.id, position);
    const order = [...others.slice(0, at), row, ...others.slice(at)];
    for (const [index, { id }] of order.entries()) rows.reposition(id, (index + 1) * GAP);
  }
}
