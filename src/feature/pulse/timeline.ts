/** Ticks of an agent's routines between two times. Past ticks come from their rows, future ones from the schedules. */
import { type Clock, toTimestamp } from "../../core/clock.ts";
import { type Plan, planOf } from "../../core/schedule.ts";
import { badCursor, type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { TimelineTick } from "./model.ts";
import type { PulseStore, RoutineRow, TickRow } from "./store.ts";

/** The sort key of items: the time, then an id. */
interface Key {
  due: number;
  id: string;
}
type Entry = Key & { routine: RoutineRow; tick?: TickRow; plan?: Plan };

const isAfter = (one: Key, other: Key | undefined): boolean =>
  other === undefined || one.due > other.due || (one.due === other.due && one.id > other.id);
const inOrder = (a: Key, b: Key): number => a.due - b.due || (a.id < b.id ? -1 : 1);

/** The key in a cursor. @throws Problem 400 for a cursor of another list. */
export function keyAfter({ after }: Page): Key | undefined {
  if (after === null) return undefined;
  const [, due, id] = /^(\d{1,15})\|(\w{1,64})$/.exec(after) ?? [];
  if (due === undefined || id === undefined) throw badCursor();
  return { due: Number(due), id };
}
export const keyText = ({ due, id }: Key): string => `${due}|${id}`;

/** Merges the next ticks of several routines in the order of time. */
function mergeTicks(
  routines: readonly RoutineRow[],
  from: number,
  to: number,
  after: Key | undefined,
  most: number,
): Entry[] {
  const findNext = (routine: RoutineRow, plan: Plan, before: number): Entry | undefined => {
    const due = plan.next(before);
    return due === null || due > to ? undefined : { due, id: routine.id, routine, plan };
  };
  const heads = routines.flatMap((routine) => {
    if (routine.planned_at === null) return [];
    const plan = planOf(routine);
    const start = Math.max(from, routine.planned_at, after?.due ?? 0);
    return findNext(routine, plan, start - 1) ?? [];
  });
  const found: Entry[] = [];
  while (heads.length > 0 && found.length < most) {
    heads.sort(inOrder);
    const first = heads.shift()!;
    if (isAfter(first, after)) found.push(first);
    const following = findNext(first.routine, first.plan!, first.due);
    if (following) heads.push(following);
  }
  return found;
}

function present({ due, routine, tick, plan }: Entry): TimelineTick {
  const at = toTimestamp(due);
  const of = { at, routine_id: routine.id, name: routine.name };
  if (!tick) {
    const status = plan?.isBlackedOut(due) ? ("blackout" as const) : ("planned" as const);
    return { ...of, status, tick_id: null, session_id: null, reason: null, summary: null };
  }
  const { id, status, session_id, reason_code, reason, summary } = tick;
  const why = reason_code === null ? null : { code: reason_code, message: reason ?? "" };
  return { ...of, status, tick_id: id, session_id, reason: why, summary };
}

export function createTimeline({ rows, clock }: { rows: Pick<PulseStore, "past">; clock: Clock }) {
  /** The timeline, oldest first. */
  return (routines: readonly RoutineRow[], from: number, to: number, page: Page): ListAnswer<TimelineTick> => {
    const after = keyAfter(page);
    const most = page.limit + 1;
    const byId = new Map(routines.map((routine) => [routine.id, routine]));
    const past = rows
      .past([...byId.keys()], { from, to, after }, most)
      .map((tick): Entry => ({ due: tick.due_at, id: tick.id, routine: byId.get(tick.routine_id)!, tick }));
    const isFull = past.length === most && past.at(-1)!.due < clock.now();
    const all = isFull ? past : [...past, ...mergeTicks(routines, from, to, after, most)].sort(inOrder);
    return listAnswer(all.slice(0, most), page, keyText, present);
  };
}
