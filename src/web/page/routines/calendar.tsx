/** A week of routines: results of past ticks, and the planned ones. */
import { useQueries } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { Link } from "wouter";
import { client, must } from "../../api/client.ts";
import type { RowOf } from "../../api/queries.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { pluralize } from "../../ui/format.ts";
import { Loading, Warning } from "../../ui/note.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { Status, statusWord } from "../../ui/status.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { useNow } from "../../ui/time.tsx";

type Tick = RowOf<"/v1/pulse-routines/{agent_id}/timeline"> & { agent_id: string };

const DAYS = 7;
/** Most ticks shown of an agent's week, and ticks per request. */
const MOST = 1_000;
const AT_ONCE = 200;
/** A routine with at least this many ticks in a day is folded into one line. */
const FOLDED = 4;

const startOfWeek = (at: Date): Date => {
  const monday = new Date(at.getFullYear(), at.getMonth(), at.getDate());
  monday.setDate(monday.getDate() - ((monday.getDay() + 6) % DAYS));
  return monday;
};
const addDays = (day: Date, days: number): Date => new Date(day.getFullYear(), day.getMonth(), day.getDate() + days);
const isoDay = (day: Date): string =>
  [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");

async function timesOf(agent_id: string, from: Date, to: Date, signal: AbortSignal) {
  const span = { from: from.toISOString(), to: new Date(to.getTime() - 1).toISOString(), limit: AT_ONCE };
  const ticks: RowOf<"/v1/pulse-routines/{agent_id}/timeline">[] = [];
  let cursor: string | null = null;
  do {
    const params = { path: { agent_id }, query: { ...span, ...(cursor ? { cursor } : {}) } };
    const page: { items: typeof ticks; next_cursor: string | null } = await must(
      client.GET("/v1/pulse-routines/{agent_id}/timeline", { params, signal }),
    );
    ticks.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && ticks.length < MOST);
  return { ticks, cut: cursor !== null };
}

export function Calendar({ agents }: { agents: string[] }) {
  const [week, setWeek] = useParam("week");
  const now = new Date(useNow());
  const [year = Number.NaN, month = 1, date = 1] = week.split("-").map(Number);
  const from = startOfWeek(Number.isNaN(year) || week === "" ? now : new Date(year, month - 1, date));
  const to = addDays(from, DAYS);
  const answers = useQueries({
    queries: agents.map((agent_id) => ({
      queryKey: ["get", "/v1/pulse-routines/{agent_id}/timeline", agent_id, isoDay(from)],
      queryFn: ({ signal }: { signal: AbortSignal }) => timesOf(agent_id, from, to, signal),
    })),
  });
  const ticks = answers.flatMap(({ data }, at) =>
    (data?.ticks ?? []).map((tick): Tick => ({ ...tick, agent_id: agents[at] ?? "" })),
  );
  const cut = agents.filter((_, at) => answers[at]?.data?.cut);
  const formatDay = (day: Date) =>
    day.toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
  return (
    <section aria-label="Week">
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <IconButton
          label="Week before"
          onClick={() => setWeek(isoDay(addDays(from, -DAYS)))}
          icon={ChevronLeft}
          iconSize={16}
        />
        <IconButton label="Week after" onClick={() => setWeek(isoDay(to))} icon={ChevronRight} iconSize={16} />
        <Button onClick={() => setWeek("")}>This week</Button>
        <h2 className="font-semibold" aria-live="polite">
          {formatDay(from)} – {formatDay(addDays(from, DAYS - 1))}
        </h2>
      </div>
      <ProblemNote error={answers.find(({ error }) => error)?.error} />
      {cut.length > 0 && (
        <Warning>
          Only the first {MOST} times of {cut.join(", ")} are shown. <code>skep routines timeline {cut[0]}</code> lists
          all.
        </Warning>
      )}
      {answers.some(({ isPending }) => isPending) ? (
        <Loading rows={5} />
      ) : (
        <ol className="grid gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-7">
          {Array.from({ length: DAYS }, (_, at) => addDays(from, at)).map((day) => (
            <Day
              key={isoDay(day)}
              day={day}
              today={isoDay(day) === isoDay(now)}
              ticks={ticks.filter(({ at }) => isoDay(new Date(at)) === isoDay(day))}
            />
          ))}
        </ol>
      )}
    </section>
  );
}

function Day({ day, today, ticks }: { day: Date; today: boolean; ticks: Tick[] }) {
  const byRoutine = Map.groupBy(ticks, ({ routine_id }) => routine_id);
  const lines = [...byRoutine.values()].flatMap((all) => (all.length < FOLDED ? all.map((one) => [one]) : [all]));
  lines.sort(([a], [b]) => (a?.at ?? "").localeCompare(b?.at ?? ""));
  return (
    <li className={`min-w-0 bg-panel p-2 lg:min-h-56 ${lines.length === 0 ? "max-lg:hidden" : ""}`}>
      <h3 className={`mb-2 text-sm ${today ? "font-semibold text-accent" : "text-dim"}`}>
        {day.toLocaleDateString(undefined, { weekday: "short", day: "numeric" })}
        {today && <span className="sr-only"> (today)</span>}
      </h3>
      <ul className="flex flex-col gap-1">
        {lines.map((all) => (
          <Line key={`${all[0]?.routine_id} ${all[0]?.at}`} ticks={all} />
        ))}
      </ul>
    </li>
  );
}

/** A single tick, or all ticks of a routine on that day. */
function Line({ ticks }: { ticks: Tick[] }) {
  const [first] = ticks;
  if (!first) return null;
  const counts = [...Map.groupBy(ticks, ({ status }) => status)];
  const status = counts.find(([one]) => one === "failed")?.[0] ?? first.status;
  const clock = new Date(first.at).toLocaleTimeString(undefined, { hour: "numeric", minute: "2-digit" });
  return (
    <li>
      <Link
        href={`/routines/${first.agent_id}/${first.routine_id}${first.tick_id && ticks.length === 1 ? `?tick=${first.tick_id}` : ""}`}
        title={first.reason?.message ?? statusWord(first.status)}
        data-row
        className="block rounded-md bg-sunken px-2 py-1 text-sm hover:bg-hover max-sm:min-h-11"
      >
        <span className="flex items-center gap-1.5">
          <Status status={status} bare />
          <span className="text-dim tabular-nums">
            {clock}
            {ticks.length > 1 && `, ${pluralize(ticks.length, "time")}`}
          </span>
        </span>
        <span className="line-clamp-2 break-words">{first.name}</span>
        {ticks.length > 1 && (
          <span className="block text-xs text-dim">
            {counts.map(([one, all]) => `${all.length} ${statusWord(one).toLowerCase()}`).join(", ")}
          </span>
        )}
      </Link>
    </li>
  );
}
