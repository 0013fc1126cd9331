/** Routines of agents. Each has an owner; they can be created, changed, started by hand and handed over. */
import { toTimestamp } from "../../core/clock.ts";
import { conflict, invalidField, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { didYouMean } from "../../core/near.ts";
import type { Asker } from "../../core/ownership.ts";
import { checkedPlan, planOf } from "../../core/schedule.ts";
import type { Caller } from "../../http/caller.ts";
import { badCursor, type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import { removeOld } from "../../store/remove-old.ts";
import { mayRead, WHOSE } from "../../store/whose.ts";
import { pulseRoutineChanged } from "./events.ts";
import type { PulseRoutine, RoutineCreate, RoutineUpdate, SchedulePreview, SchedulePreviewBody } from "./model.ts";
import type { Obstacles } from "./obstacles.ts";
import { createRoutineTicks, type RoutineTicksDeps } from "./routine-ticks.ts";
import type { RoutineRow } from "./store.ts";

interface PulsesDeps extends Omit<RoutineTicksDeps, "find" | "assertKnown"> {
  obstacles: Pick<Obstacles, "standing">;
  agentExists(id: string): boolean;
  /** Whether the project exists; false also for a project that the asker does not see. */
  projectExists(id: string, asker: Asker): boolean;
  /** What is wrong with a model's name; undefined for a model that can be called. */
  wrongModel(id: string): string | undefined;
  /** Names of all tools. */
  toolNames(): string[];
  /** Called when a routine's next time has changed. */
  onChange(): void;
}

export type Pulses = ReturnType<typeof createPulses>;

/** Number of times that a preview shows. */
const PREVIEWED = 10;
const ID = /^pls_[0-9a-z]{26}$/;

export function createPulses(deps: PulsesDeps) {
  const { store, clock, rows, obstacles, sessions } = deps;
  const readNow = () => toTimestamp(clock.now());
  const find = (agentId: string, id: string, caller: Caller): RoutineRow => {
    const row = rows.routine(id);
    if (row?.agent_id !== agentId || !mayRead(caller, WHOSE.pulse_routines, row)) throw notFound("routine");
    return row;
  };
  const present = (row: RoutineRow): PulseRoutine => {
    const { planned_at, stopped, ...rest } = row;
    const blocked = stopped === null ? obstacles.standing(row, "schedule") : { code: "stopped", message: stopped };
    const next = planned_at === null ? null : planOf(row).nextFree(planned_at - 1);
    return { ...rest, next_run_at: next === null ? null : toTimestamp(next), blocked: blocked ?? null };
  };
  const emit = (row: RoutineRow, change: "created" | "updated" | "stopped" | "deleted"): void =>
    store.write((tx) => {
      const { id: routine_id, agent_id, user_id, project_id, name } = row;
      const refs = { agent_id, user_id: user_id ?? undefined, project_id: project_id ?? undefined };
      tx.emit(pulseRoutineChanged, { ...refs, data: { routine_id, name, change } });
      tx.after(deps.onChange);
    });
  const assertAgent = (id: string): void => {
    if (!deps.agentExists(id)) throw notFound("agent");
  };
  /** @throws Problem 404 for an unknown agent, unless routines were found: they outlive the agent's file. */
  const assertKnown = (agentId: string, found: number): void => {
    if (found === 0) assertAgent(agentId);
  };
  function assertGood({ project_id, model, tools }: RoutineUpdate, caller: Caller): void {
    if (project_id && !deps.projectExists(project_id, caller))
      throw invalidField("/project_id", "There is no such project");
    const wrongModel = model && deps.wrongModel(model);
    if (wrongModel) throw invalidField("/model", wrongModel);
    const known = deps.toolNames();
    const at = tools?.findIndex((tool) => !known.includes(tool)) ?? -1;
    if (at >= 0) {
      const near = didYouMean(tools![at]!, known);
      throw invalidField(`/tools/${at}`, `There is no such tool.${near ? ` ${near}` : ""}`);
    }
  }
  const assertFree = (row: RoutineRow): void => {
    if (rows.isTaken(row.agent_id, row.user_id, row.name, row.id))
      throw conflict("Another routine of this agent has that name.", "name_taken");
  };
  const endWork = (routineId: string): void => {
    for (const { session_id } of rows.live(routineId)) if (session_id !== null) sessions.end(session_id);
  };

  return {
    /**
     * The caller's own routines, or all for an administrator; of one agent or of all agents.
     * @throws Problem 404 for an unknown agent.
     */
    list(agentId: string | undefined, page: Page, caller: Caller): ListAnswer<PulseRoutine> {
      if (page.after !== null && !ID.test(page.after)) throw badCursor();
      const found = rows.page(agentId, page, caller);
      if (agentId !== undefined) assertKnown(agentId, found.length);
      return listAnswer(found, page, ({ id }) => id, present);
    },
    /** @throws Problem 404 for an unknown routine or another user's. */
    get: (agentId: string, id: string, caller: Caller): PulseRoutine => present(find(agentId, id, caller)),
    /** @throws Problem 404 for an unknown agent, 409 when the name is taken or there are too many, 422. */
    create: (agentId: string, input: RoutineCreate, caller: Caller): PulseRoutine =>
      store.write(() => {
        assertAgent(agentId);
        assertGood(input, caller);
        const user_id = caller.userId ?? null;
        if (rows.countOf(agentId, user_id) >= LIMITS.routinesPerUserAndAgent)
          throw conflict(`An agent has at most ${LIMITS.routinesPerUserAndAgent} routines of one user.`, "too_many");
        const at = readNow();
        const row: RoutineRow = {
          id: newId("routine"),
          agent_id: agentId,
          user_id,
          name: input.name.trim(),
          project_id: input.project_id ?? null,
          description: input.description ?? null,
          instructions: input.instructions,
          schedule: input.schedule,
          timezone: input.timezone ?? "UTC",
          blackouts: input.blackouts ?? [],
          enabled: input.enabled ?? true,
          stopped: null,
          max_concurrent: input.max_concurrent ?? 1,
          timeout_seconds: input.timeout_seconds ?? null,
          model: input.model ?? null,
          tools: input.tools ?? null,
          planned_at: null,
          runs: 0,
          last_run_at: null,
          created_at: at,
          updated_at: at,
        };
        assertFree(row);
        const plan = checkedPlan(row, clock.now());
        if (row.enabled) row.planned_at = plan.next(clock.now());
        rows.insert(row);
        emit(row, "created");
        return present(row);
      }),
    update: (agentId: string, id: string, input: RoutineUpdate, caller: Caller): PulseRoutine =>
      store.write(() => {
        const before = find(agentId, id, caller);
        assertGood(input, caller);
        const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
        const row: RoutineRow = { ...before, ...given, updated_at: readNow() };
        row.name = row.name.trim();
        assertFree(row);
        const timesChanged = ["schedule", "timezone", "blackouts"].some((field) => Object.hasOwn(given, field));
        const plan = timesChanged || row.enabled !== before.enabled ? checkedPlan(row, clock.now()) : undefined;
        if (plan) row.planned_at = row.enabled ? plan.next(clock.now()) : null;
        if (row.enabled) row.stopped = null;
        rows.update(id, row);
        emit(row, "updated");
        return present(row);
      }),
    /** The next times of a schedule that is not saved. @throws Problem 404 for an unknown agent, 422. */
    preview(agentId: string, { schedule, timezone = "UTC", blackouts = [] }: SchedulePreviewBody): SchedulePreview {
      assertAgent(agentId);
      const plan = checkedPlan({ schedule, timezone, blackouts }, clock.now());
      const times: SchedulePreview["times"] = [];
      for (let at = plan.next(clock.now()); at !== null && times.length < PREVIEWED; at = plan.next(at))
        times.push({ at: toTimestamp(at), blackout: plan.isBlackedOut(at) });
      return { times };
    },
    /** Removes a routine and ends its running work. */
    remove: (agentId: string, id: string, caller: Caller): void =>
      store.write(() => {
        const row = find(agentId, id, caller);
        endWork(id);
        rows.remove(id);
        emit(row, "deleted");
      }),
    ...createRoutineTicks({ ...deps, find, assertKnown }),
    /** Passes a deleted user's routines on to the heir. Joins the deleting transaction. */
    handOver(from: string, to: string | null): void {
      for (const row of rows.ofUser(from)) {
        // It stops: another person's instructions must not act for the heir before the heir agrees.
        endWork(row.id);
        let name = row.name;
        for (let copy = 2; rows.isTaken(row.agent_id, to, name, row.id); copy++) name = `${row.name} (${copy})`;
        const stopped = "Its owner was deleted. It would now act for you: read what it does, then switch it on.";
        rows.update(row.id, { user_id: to, name, enabled: false, planned_at: null, stopped, updated_at: readNow() });
        emit({ ...row, user_id: to, name }, "stopped");
      }
    },
    prune: (before: number): boolean => removeOld(store, "pulse_ticks", "finished_at < ?", toTimestamp(before)),
  };
}
