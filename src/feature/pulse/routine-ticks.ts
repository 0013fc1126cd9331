/** People's access to ticks of routines: list them, start one by hand, end one. */
import { DAY_MS, toTimestamp } from "../../core/clock.ts";
import { conflict, invalidField, notFound } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { timeOf } from "../../core/time-of.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Core } from "../feature.ts";
import type { Sessions } from "../sessions/service.ts";
import type { PulseTick, TimelineTick } from "./model.ts";
import type { PulseStore, RoutineRow, TickRow } from "./store.ts";
import type { Ticks } from "./ticks.ts";
import { createTimeline, keyAfter, keyText } from "./timeline.ts";

export interface RoutineTicksDeps extends Pick<Core, "store" | "clock"> {
  rows: PulseStore;
  ticks: Pick<Ticks, "trigger">;
  sessions: Pick<Sessions, "end">;
  /** @throws Problem 404 for an unknown routine or another user's. */
  find(agentId: string, id: string, caller: Caller): RoutineRow;
  /**
   * @param found number of the agent's routines that the caller sees.
   * @throws Problem 404 when that is 0 and there is no such agent.
   */
  assertKnown(agentId: string, found: number): void;
}

export function createRoutineTicks(deps: RoutineTicksDeps) {
  const { store, clock, rows, sessions, find, assertKnown } = deps;
  const timeline = createTimeline({ rows, clock });
  const findTick = (agentId: string, id: string, tickId: string, caller: Caller): TickRow => {
    const row = rows.tick(tickId);
    if (row?.routine_id !== find(agentId, id, caller).id) throw notFound("tick of this routine");
    return row;
  };
  const presentTick = ({ reason_code, reason, ...row }: TickRow): PulseTick => ({
    ...row,
    agent_id: rows.routine(row.routine_id)!.agent_id,
    due_at: toTimestamp(row.due_at),
    reason: reason_code === null ? null : { code: reason_code, message: reason ?? "" },
  });
  return {
    /** Starts a tick now. @throws Problem 409 with what keeps the routine from running. */
    trigger: (agentId: string, id: string, caller: Caller): PulseTick =>
      store.write(() => presentTick(deps.ticks.trigger(find(agentId, id, caller)))),
    /** The routine's ticks, newest first. */
    ticks(agentId: string, id: string, page: Page, caller: Caller): ListAnswer<PulseTick> {
      find(agentId, id, caller);
      const found = rows.ticks(id, keyAfter(page), page.limit + 1);
      return listAnswer(found, page, (row) => keyText({ due: row.due_at, id: row.id }), presentTick);
    },
    tick: (agentId: string, id: string, tickId: string, caller: Caller): PulseTick =>
      presentTick(findTick(agentId, id, tickId, caller)),
    /** Ends a tick's work. @throws Problem 409 when the tick has ended. */
    cancel: (agentId: string, id: string, tickId: string, caller: Caller): PulseTick =>
      store.write(() => {
        const { session_id, finished_at } = findTick(agentId, id, tickId, caller);
        if (finished_at !== null || session_id === null) throw conflict("It has ended already.", "tick_ended");
        sessions.end(session_id);
        return presentTick(rows.tick(tickId)!);
      }),
    /**
     * Past and future ticks of an agent's routines, oldest first.
     * @param span RFC 3339; a day back and a day ahead when absent.
     */
    timeline(
      agentId: string,
      span: { from?: string | undefined; to?: string | undefined },
      page: Page,
      caller: Caller,
    ): ListAnswer<TimelineTick> {
      const routines = rows.ofAgent(agentId, caller);
      assertKnown(agentId, routines.length);
      const from = span.from === undefined ? clock.now() - DAY_MS : timeOf(span.from, "from");
      const to = span.to === undefined ? Math.max(clock.now(), from) + DAY_MS : timeOf(span.to, "to");
      if (to < from) throw invalidField("to", "Must not be before `from`");
      if (to - from > LIMITS.timelineMs)
        throw invalidField("to", `Must be at most ${LIMITS.timelineMs / DAY_MS} days after \`from\``);
      return timeline(routines, from, to, page);
    },
  };
}
