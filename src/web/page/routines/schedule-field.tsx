/** When a routine runs, with the next times as the server computes them. */
import { useDeferredValue, useState } from "react";
import { api, problemOf, type Schemas } from "../../api/client.ts";
import { DataList, Field, Input, InputField, Select, TextAreaField } from "../../ui/field.tsx";
import { blackoutsOf, blackoutText, localZone } from "./when.ts";

type Routine = Schemas["PulseRoutine"];
export type When = Pick<Routine, "schedule" | "timezone" | "blackouts">;

interface Times {
  cron: string;
  every: string;
  offset: string;
  kind: "cron" | "every";
  timezone: string;
  blackouts: string;
}

export function timesOf(routine: When | undefined): Times {
  const { schedule = "0 9 * * mon-fri", timezone = localZone(), blackouts = [] } = routine ?? {};
  const every = typeof schedule === "string" ? undefined : schedule;
  return {
    kind: every ? "every" : "cron",
    cron: typeof schedule === "string" ? schedule : "0 9 * * mon-fri",
    every: String(every?.every_minutes ?? 60),
    offset: String(every?.offset_minutes ?? 0),
    timezone,
    blackouts: blackouts.map(blackoutText).join("\n"),
  };
}

/** @throws Error for a blackout that cannot be parsed. */
export function whenOf({ kind, cron, every, offset, timezone, blackouts }: Times): When {
  const schedule = kind === "cron" ? cron : { every_minutes: Number(every), offset_minutes: Number(offset) };
  return { schedule, timezone: timezone.trim(), blackouts: blackoutsOf(blackouts) };
}

const PRESETS: [cron: string, name: string][] = [
  ["0 9 * * mon-fri", "Weekdays at 9"],
  ["0 9 * * *", "Every day at 9"],
  ["0 16 * * fri", "Fridays at 16"],
  ["0 * * * *", "Every hour"],
];

interface Props {
  agent: string;
  times: Times;
  onChange(times: Times): void;
  /** The fields of the form for the routine's times. */
}

export function ScheduleField({ agent, times, onChange }: Props) {
  const set = (change: Partial<Times>) => onChange({ ...times, ...change });
  const [zones] = useState(() => [...new Set(["UTC", localZone(), ...Intl.supportedValuesOf("timeZone")])]);
  return (
    <>
      <Field label="When">
        <Select value={times.kind} onPick={(kind: Times["kind"]) => set({ kind })}>
          <option value="cron">At set times (cron)</option>
          <option value="every">Every N minutes</option>
        </Select>
      </Field>
      {times.kind === "cron" ? (
        <InputField
          label="Cron"
          hint={
            <span className="flex flex-wrap gap-x-3">
              {PRESETS.map(([cron, name]) => (
                <button
                  key={cron}
                  type="button"
                  className="min-h-6 underline max-sm:min-h-11"
                  onClick={() => set({ cron })}
                >
                  {name}
                </button>
              ))}
            </span>
          }
          name="schedule"
          value={times.cron}
          onChange={(event) => set({ cron: event.target.value })}
          required
          spellCheck={false}
          className="font-mono"
        />
      ) : (
        <div className="grid grid-cols-2 gap-3">
          <Field label="Minutes between" name="schedule/every_minutes">
            <Input
              type="number"
              min={1}
              required
              value={times.every}
              onChange={(event) => set({ every: event.target.value })}
            />
          </Field>
          <Field label="Minutes later" hint="5: at 00:05" name="schedule/offset_minutes">
            <Input
              type="number"
              min={0}
              required
              value={times.offset}
              onChange={(event) => set({ offset: event.target.value })}
            />
          </Field>
        </div>
      )}
      <Field label="Time zone" name="timezone">
        <Input
          list="time-zones"
          required
          spellCheck={false}
          value={times.timezone}
          onChange={(event) => set({ timezone: event.target.value })}
        />
      </Field>
      <DataList id="time-zones" options={zones} />
      <TextAreaField
        label="Not at these times"
        hint="One per line: 22:00-06:00, or 00:00-00:00 sat,sun for whole days."
        name="blackouts"
        rows={2}
        spellCheck={false}
        className="font-mono"
        value={times.blackouts}
        onChange={(event) => set({ blackouts: event.target.value })}
      />
      <Preview agent={agent} times={times} />
    </>
  );
}

/** Shows the next times, or why they are unknown. */
function Preview({ agent, times }: { agent: string; times: Times }) {
  const settled = useDeferredValue(times);
  let when: When | undefined;
  let problem: string | undefined;
  try {
    when = whenOf(settled);
  } catch (error) {
    problem = (error as Error).message;
  }
  const query = api.useQuery(
    "post",
    "/v1/pulse-routines/{agent_id}/preview",
    { params: { path: { agent_id: agent } }, body: when ?? { schedule: settled.cron } },
    { enabled: agent !== "" && when !== undefined, placeholderData: (old) => old, retry: false },
  );
  if (query.error) {
    const { detail, errors } = problemOf(query.error);
    problem = errors?.[0]?.message ?? detail;
  }
  const formatClock = (at: string) =>
    new Date(at).toLocaleString(undefined, {
      weekday: "short",
      day: "numeric",
      month: "short",
      timeStyle: undefined,
      hour: "numeric",
      minute: "2-digit",
    });
  return (
    <section aria-label="Next times" aria-live="polite" className="mb-3 rounded-md bg-sunken px-3 py-2 text-sm">
      <h3 className="font-medium">Next times, by your clock</h3>
      {problem ? (
        <p className="text-bad">{problem}</p>
      ) : (
        <ul className="mt-1 grid grid-cols-2 gap-x-4 text-dim tabular-nums max-sm:grid-cols-1">
          {query.data?.times.slice(0, 6).map(({ at, blackout }) => (
            <li key={at}>
              {blackout ? (
                <>
                  <s>{formatClock(at)}</s> not then
                </>
              ) : (
                formatClock(at)
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
