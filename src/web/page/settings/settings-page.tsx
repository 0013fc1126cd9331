/**
 * The instance's settings, by topic. Each group is saved separately, so that a change of another group is no conflict.
 */

import { api, client, type Schemas } from "../../api/client.ts";
import { changePart, ifMatch, type Tagged, useTagged, versionOf } from "../../api/tagged.ts";
import { EditForm } from "../../kit/edit-form.tsx";
import { Check, DataList, Field, Input, Select } from "../../ui/field.tsx";
import type { Fields } from "../../ui/form.tsx";
import { Await } from "../../ui/note.tsx";
import { PageHeader, Panel } from "../../ui/page.tsx";
import { Tabs, useParam } from "../../ui/tabs.tsx";

type Settings = Schemas["Settings"];
type Body = Schemas["UpdateSettingsBody"];

interface Row {
  name: string;
  label: string;
  hint?: string;
  /** Text shown in the empty field: what leaving it empty means. */
  empty?: string;
  kind: "number" | "text" | "model" | "models" | "check" | "network";
  step?: string;
}
interface Group {
  id: keyof Settings & string;
  title: string;
  about: string;
  rows: Row[];
}

const amount = (name: string, label: string, step: string): Row => ({
  name,
  label,
  kind: "number",
  step,
  empty: "no limit",
});
const money = (name: string, label: string): Row => amount(name, label, "0.01");
const whole = (name: string, label: string, hint?: string): Row => ({
  name,
  label,
  kind: "number",
  step: "1",
  ...(hint ? { hint } : {}),
});
const days = (name: string, label: string): Row => ({ ...whole(name, label), empty: "forever" });
const model = (name: string, label: string): Row => ({ name, label, kind: "model" });

const GROUPS: Group[] = [
  {
    id: "models",
    title: "Models",
    about: "Which model is used where neither the run, nor the pipeline, nor the agent says.",
    rows: [
      model("default", "For everything else"),
      model("pipeline", "Steps of pipelines"),
      model("chat", "Chats"),
      model("pulse", "Routines"),
      model("swarm", "Swarms"),
      model("onboarding", "Onboarding"),
      model("transcript", "Meeting transcripts"),
      model("summary", "Summaries of long sessions"),
      model("embedding", "Memories found by meaning (an embedding model)"),
      {
        name: "fallback",
        label: "Other models instead",
        hint: "Asked in this order when the one above has no quota left, does not answer or refuses. Separated by commas.",
        kind: "models",
      },
    ],
  },
  {
    id: "budgets",
    title: "Budgets",
    about: "A call that would pass a budget is not made.",
    rows: [
      money("run_usd", "Each run, USD"),
      money("agent_per_run_usd", "Each agent, a run, USD"),
      money("agent_per_day_usd", "Each agent, a day, USD"),
      money("user_per_day_usd", "Each user, a day, USD"),
      money("user_per_month_usd", "Each user, a month, USD"),
      money("instance_per_day_usd", "Everybody, a day, USD"),
      money("instance_per_month_usd", "Everybody, a month, USD"),
      whole("warn_at_percent", "Warn at, percent"),
    ],
  },
  {
    id: "limits",
    title: "Limits",
    about: "Where an agent's own file says nothing.",
    rows: [
      whole("max_turns", "Turns of a session"),
      whole("timeout_seconds", "Time limit of a session, seconds"),
      whole("max_attempts", "Attempts of a step that is tried again"),
      whole("executions_per_agent", "Sessions of one agent at once"),
      whole("provider_wait_hours", "Longest wait for a model provider, hours", "0: the work fails instead."),
      whole("permission_minutes", "Time to answer a question for permission, minutes"),
      whole("user_unfinished_runs", "Unfinished runs of one user"),
      whole("user_open_chats", "Open chats of one user"),
      whole("user_stored_mb", "What one user keeps here, MiB", "Attachments, documents, memory and evals."),
      whole("user_workspaces_mb", "Files of one user's work, MiB", "Of runs and chats."),
    ],
  },
  {
    id: "sandbox",
    title: "Sandbox",
    about: "The containers that agents work in.",
    rows: [
      { name: "image", label: "Image", empty: "the shipped one", kind: "text" },
      { name: "network", label: "Network", kind: "network" },
      whole("memory_mb", "Memory, MB"),
      whole("git_depth", "Commits that agents' git can read"),
      whole("idle_minutes", "Minutes that an idle chat's sandbox is kept"),
      { name: "cpus", label: "Processors", kind: "number", step: "0.1" },
      {
        name: "runtime",
        label: "Runtime",
        hint: "As the container engine knows it, such as runsc.",
        empty: "the engine's own",
        kind: "text",
      },
    ],
  },
  {
    id: "retention",
    title: "Retention",
    about: "How many days each is kept. What goes cannot be brought back.",
    rows: [
      days("runs_days", "Runs that have ended, with everything"),
      amount("runs_gb", "Runs at most, GB", "0.1"),
      days("chats_days", "Chats that have ended, with everything"),
      amount("chats_gb", "Chats at most, GB", "0.1"),
      days("transcripts_days", "What agents said in runs"),
      days("events_days", "Events"),
      days("llm_calls_days", "Model calls"),
      days("api_usage_days", "API usage"),
      days("audit_days", "Audit log"),
      days("onboarding_days", "Onboardings that nobody continues"),
      days("notifications_days", "Notifications"),
      days("jobs_days", "Background work"),
      days("backups_days", "Backups made here, except the newest"),
      days("merged_branches_days", "Merged branches of runs"),
    ],
  },
  {
    id: "backup",
    title: "Backups",
    about:
      "Backups that the server makes by itself. After a good one older ones go, as these numbers say; the newest stays.",
    rows: [
      {
        name: "schedule",
        label: "When",
        hint: "Five fields of cron: 30 3 * * * is every night.",
        empty: "never",
        kind: "text",
      },
      { name: "timezone", label: "Time zone", kind: "text" },
      whole("keep_daily", "Days of which the last is kept"),
      whole("keep_weekly", "Weeks"),
      whole("keep_monthly", "Months"),
      {
        name: "folder",
        label: "Folder",
        hint: "One that exists, on another disk.",
        empty: "in the data folder",
        kind: "text",
      },
    ],
  },
  {
    id: "telemetry",
    title: "Traces",
    about: "What runs, agents, tools and models did, sent to a receiver of OpenTelemetry.",
    rows: [
      {
        name: "endpoint",
        label: "Receiver",
        hint: "Its address for OTLP over HTTP: http://localhost:4318.",
        empty: "as the server was started, else none",
        kind: "text",
      },
      { name: "content", label: "Send prompts, replies, and what tools are given and answer", kind: "check" },
    ],
  },
  {
    id: "monitor",
    title: "Monitor",
    about: "A push address, such as Uptime Kuma's, is asked only if the server was started with PUSH_MONITOR_URL.",
    rows: [whole("every_minutes", "Every, minutes")],
  },
  {
    id: "updates",
    title: "Updates",
    about: "The server looks for updates only if it was started with UPDATE_CHECK_URL.",
    rows: [{ name: "check", label: "Look for updates", kind: "check" }, whole("interval_hours", "Every, hours")],
  },
];

const readSettings = () => client.GET("/v1/settings");

export default function SettingsPage() {
  const query = useTagged("/v1/settings", {}, readSettings);
  const [tab] = useParam("tab", "models");
  const group = GROUPS.find(({ id }) => id === tab) ?? GROUPS[0]!;
  return (
    <div className="max-w-3xl">
      <PageHeader title="Settings" cli="skep settings" />
      <Tabs label="Settings" tabs={GROUPS.map(({ id, title }) => ({ id, title }))} />
      <Await query={query} rows={6}>
        {(tagged) => <GroupForm key={group.id} group={group} tagged={tagged} />}
      </Await>
    </div>
  );
}

function settingOf(row: Row, { text, number, isChecked }: Fields): unknown {
  if (row.kind === "check") return isChecked(row.name);
  if (row.kind === "number") return number(row.name) ?? null;
  if (row.kind === "models") return listOf(text(row.name));
  return text(row.name) || null;
}

const listOf = (line: string): string[] => line.split(",").flatMap((one) => one.trim() || []);
const fieldText = (value: unknown): string =>
  value === null || value === undefined ? "" : Array.isArray(value) ? value.join(", ") : String(value);

const textOf = (values: unknown): string => JSON.stringify(values, null, 2);

function GroupForm({ group, tagged }: { group: Group; tagged: Tagged<Settings> }) {
  const rowsOf = (values: object) => group.rows.filter(({ name }) => name in values);
  const valuesOf = (settings: Settings): Record<string, unknown> => settings[group.id] ?? {};
  const values = valuesOf(tagged.value);
  const unknown = Object.keys(values).filter((name) => !group.rows.some((row) => row.name === name));
  const bodyOf = (fields: Fields) => {
    const own = Object.fromEntries(rowsOf(values).map((row) => [row.name, settingOf(row, fields)]));
    return { [group.id]: own } as Body;
  };
  return (
    <Panel className="p-4">
      <p className="mb-4 text-dim">{group.about}</p>
      <EditForm
        tagged={{ value: tagged.value, etag: versionOf(values) }}
        // Budgets are also shown on the usage page and on Home.
        changes={["/v1/settings", "/v1/usage"]}
        what={`the settings “${group.title}”`}
        draft={`settings/${group.id}`}
        long
        bodyOf={bodyOf}
        send={(body, version) =>
          changePart(readSettings, valuesOf, version, (etag) => client.PUT("/v1/settings", { body, ...ifMatch(etag) }))
        }
        mine={(body) => textOf(body[group.id])}
        theirs={(settings) => textOf(settings[group.id])}
      >
        {(settings) => (
          <div className="grid gap-x-4 sm:grid-cols-2">
            {rowsOf(values).map((row) => (
              <SettingField key={row.name} group={group.id} row={row} value={valuesOf(settings)[row.name]} />
            ))}
          </div>
        )}
      </EditForm>
      {unknown.length > 0 && (
        <p className="mt-2 text-sm text-dim">
          Also here, to be set over the API: <code>{unknown.join(", ")}</code>
        </p>
      )}
      <ModelList />
    </Panel>
  );
}

function SettingField({ group, row, value }: { group: string; row: Row; value: unknown }) {
  const { name, label, hint, empty, kind, step } = row;
  if (kind === "check") return <Check name={name} label={label} defaultChecked={value === true} />;
  return (
    <Field label={label} hint={hint} name={`${group}/${name}`} short={kind === "number"}>
      {kind === "network" ? (
        <Select name={name} defaultValue={String(value)}>
          <option value="none">none</option>
          <option value="bridge">bridge: they reach the internet</option>
        </Select>
      ) : (
        <Input
          name={name}
          type={kind === "number" ? "number" : "text"}
          {...(kind === "number" ? { step, min: 0 } : {})}
          {...(empty ? { placeholder: empty } : {})}
          {...(kind === "model" ? { list: "setting-models", placeholder: "provider/model" } : {})}
          defaultValue={fieldText(value)}
          spellCheck={false}
        />
      )}
    </Field>
  );
}

function ModelList() {
  const { data } = api.useQuery("get", "/v1/models", { params: { query: { limit: 200 } } });
  return <DataList id="setting-models" options={data?.items} />;
}
