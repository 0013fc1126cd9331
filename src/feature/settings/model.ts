/** The instance's settings: one typed object, in which every field has a default. Nothing else can be stored. */
import { type Static, type TObject, Type as t } from "@sinclair/typebox";
import { DAY_SECONDS } from "../../core/clock.ts";
import { ImageName } from "../../core/image-name.ts";
import { LIMITS } from "../../core/limits.ts";
import { RuntimeName } from "../../core/runtime-name.ts";
import { oneOf, orNull } from "../../core/schema.ts";

const strict = { additionalProperties: false } as const;
const ModelId = orNull(
  t.String({
    maxLength: LIMITS.nameCharacters,
    pattern: "^[a-z0-9][a-z0-9-]{0,63}/\\S+$",
    description: "provider/model",
  }),
);
const Usd = (description: string) =>
  orNull(t.Number({ minimum: 0, maximum: 1_000_000, description: `${description}, USD; null: no limit.` }));
const Days = (description: string) =>
  orNull(t.Integer({ minimum: 1, maximum: 36_500, description: `${description}, days; null: forever.` }));
const Gigabytes = (description: string) =>
  orNull(t.Number({ minimum: 0.001, maximum: 1_000_000, description: `${description}, GB; null: no limit.` }));
const Kept = (periods: string) =>
  t.Integer({
    minimum: 0,
    maximum: 1_000,
    description: `Of so many ${periods} that have scheduled backups the last one is kept. The newest stays always.`,
  });

export const Settings = t.Object(
  {
    models: t.Object(
      {
        default: ModelId,
        fallback: t.Array(t.String({ maxLength: LIMITS.nameCharacters, pattern: "^[a-z0-9][a-z0-9-]{0,63}/\\S+$" }), {
          maxItems: 5,
          description: "Models that are asked, in order, when one has no quota left, fails or refuses.",
        }),
        chat: ModelId,
        pipeline: ModelId,
        pulse: ModelId,
        swarm: ModelId,
        onboarding: ModelId,
        transcript: ModelId,
        summary: ModelId,
        embedding: ModelId,
      },
      {
        ...strict,
        description:
          "Model where neither run, step, pipeline nor agent names one. Null: `default`; for `embedding`, which finds memories by meaning: by words alone.",
      },
    ),
    limits: t.Object(
      {
        max_turns: t.Integer({ minimum: 1, maximum: LIMITS.turnsMax }),
        timeout_seconds: t.Integer({ minimum: 10, maximum: DAY_SECONDS }),
        max_attempts: t.Integer({ minimum: 1, maximum: 10 }),
        executions_per_agent: t.Integer({ minimum: 1, maximum: 100 }),
        provider_wait_hours: t.Integer({
          minimum: 0,
          maximum: 168,
          description: "Longest wait of an execution for a provider whose quota is used up; 0: it fails.",
        }),
        permission_minutes: t.Integer({
          minimum: 1,
          maximum: 7 * 24 * 60,
          description: "How long a person has to answer whether a tool may be used; without an answer it may not.",
        }),
        user_unfinished_runs: t.Integer({
          minimum: 1,
          maximum: 100_000,
          description: "Runs of one user that have not ended, with accounts on.",
        }),
        user_open_chats: t.Integer({
          minimum: 1,
          maximum: 100_000,
          description: "Chats of one user that have not ended, with accounts on.",
        }),
        user_stored_mb: t.Integer({
          minimum: 1,
          maximum: 1_048_576,
          description: "Attachments, documents, own memory entries and evals of one user together, MiB.",
        }),
        user_workspaces_mb: t.Integer({
          minimum: 1,
          maximum: 104_857_600,
          description: "Files of one user's runs and chats, MiB, with accounts on.",
        }),
      },
      { ...strict, description: "The first four are for agents that set none of their own." },
    ),
    retention: t.Object(
      {
        llm_calls_days: orNull(
          t.Integer({
            minimum: 32,
            maximum: 36_500,
            description:
              "Logged model calls are kept, days; null: forever. A month at least: budgets are sums over them. The daily totals stay.",
          }),
        ),
        runs_days: Days("Runs are kept after they ended, with all that belongs to them"),
        runs_gb: Gigabytes("Runs that have ended, with their files; the oldest go first"),
        chats_days: Days("Chats, and the work of routines, swarms and onboardings, are kept after they ended"),
        chats_gb: Gigabytes("Chats and their like that have ended, with their files; the oldest go first"),
        transcripts_days: Days("What agents said in runs and routines is kept after they ended; results stay"),
        events_days: t.Integer({
          minimum: 1,
          maximum: 3_650,
          description: "Events are kept, days; the newest 500,000 at most.",
        }),
        api_usage_days: Days("Request counts are kept"),
        audit_days: Days("The audit log is kept"),
        onboarding_days: Days("Onboarding sessions that nobody continues stay open"),
        notifications_days: Days("Dismissed notifications are kept"),
        jobs_days: Days("Finished background jobs, and the results of routines, are kept"),
        backups_days: Days("Backups made by the server are kept, the newest one always"),
        merged_branches_days: Days("Branches of runs are kept after their work was merged"),
      },
      strict,
    ),
    budgets: t.Object(
      {
        run_usd: Usd("Of one run"),
        agent_per_run_usd: Usd("Of one agent in one run"),
        agent_per_day_usd: Usd("Of one agent in a day"),
        user_per_day_usd: Usd("Of one user in a day"),
        user_per_month_usd: Usd("Of one user in a month"),
        instance_per_day_usd: Usd("Of everybody in a day"),
        instance_per_month_usd: Usd("Of everybody in a month"),
        warn_at_percent: t.Integer({ minimum: 1, maximum: 100, description: "When the warning is given." }),
      },
      { ...strict, description: "Days and months are UTC." },
    ),
    sandbox: t.Object(
      {
        image: orNull(ImageName, { description: "Null: AGENT_IMAGE." }),
        network: oneOf("none", "bridge"),
        runtime: orNull(RuntimeName),
        memory_mb: t.Integer({ minimum: 64, maximum: 1_048_576 }),
        cpus: t.Number({ minimum: 0.1, maximum: 256 }),
        git_depth: t.Integer({
          minimum: 0,
          maximum: 100_000,
          description: "Commits of its run's branch that an agent's git can read; 0: agents have no git.",
        }),
        idle_minutes: t.Integer({
          minimum: 0,
          maximum: 1_440,
          description: "Time from a chat's last reply until its sandbox is stopped; 0: with each reply.",
        }),
      },
      { ...strict, description: "For agents that set none of their own." },
    ),
    backup: t.Object(
      {
        schedule: orNull(
          t.String({
            maxLength: 100,
            pattern: "^\\S+( +\\S+){4}$",
            description: "When a backup is made: five fields of cron, e.g. `30 3 * * *`; null: never by itself.",
          }),
        ),
        timezone: t.String({ pattern: "^[A-Za-z][A-Za-z0-9_+/-]{0,63}$", description: "Of the schedule." }),
        keep_daily: Kept("days"),
        keep_weekly: Kept("weeks"),
        keep_monthly: Kept("months"),
        folder: orNull(
          t.String({
            maxLength: 1_000,
            pattern: "^/",
            description: "Folder of scheduled backups, which exists, outside the data folder; null: `backups/` in it.",
          }),
        ),
      },
      { ...strict, description: "Backups that the server makes by itself." },
    ),
    telemetry: t.Object(
      {
        endpoint: orNull(
          t.String({
            maxLength: 1_000,
            pattern: "^https?://[^\\s@]+$",
            description:
              "Receiver of traces over OTLP/HTTP, without /v1/traces; null: OTEL_EXPORTER_OTLP_ENDPOINT, else none. It may be a private address.",
          }),
        ),
        content: t.Boolean({ description: "Send prompts, replies, and what tools are given and answer, too." }),
      },
      { ...strict, description: "Traces that are sent to a receiver of OpenTelemetry." },
    ),
    monitor: t.Object(
      {
        every_minutes: t.Integer({ minimum: 1, maximum: 1_440, description: "How often PUSH_MONITOR_URL is asked." }),
      },
      strict,
    ),
    updates: t.Object(
      {
        check: t.Boolean({ description: "Look for updates, when UPDATE_CHECK_URL is set." }),
        interval_hours: t.Integer({ minimum: 1, maximum: 24 * 30 }),
      },
      strict,
    ),
  },
  strict,
);
export type Settings = Static<typeof Settings>;

/** The body of a change: any of the groups, with any of their fields. Null resets a field to its default. */
export const SettingsUpdate = t.Object(
  Object.fromEntries(Object.entries(Settings.properties).map(([name, group]) => [name, t.Optional(fieldsOf(group))])),
  strict,
);
export type SettingsUpdate = { [G in keyof Settings]?: { [F in keyof Settings[G]]?: Settings[G][F] | null } };

function fieldsOf({ properties }: TObject): TObject {
  const fields = Object.entries(properties).map(([name, field]) => [name, t.Optional(orNull(field))]);
  return t.Object(Object.fromEntries(fields), strict);
}

export const DEFAULT_SETTINGS: Settings = {
  models: {
    default: null,
    fallback: [],
    chat: null,
    pipeline: null,
    pulse: null,
    swarm: null,
    onboarding: null,
    transcript: null,
    summary: null,
    embedding: null,
  },
  limits: {
    max_turns: LIMITS.turnsDefault,
    timeout_seconds: LIMITS.executionTimeoutSeconds,
    max_attempts: 2,
    executions_per_agent: LIMITS.executionsPerAgent,
    provider_wait_hours: 24,
    permission_minutes: 24 * 60,
    user_unfinished_runs: LIMITS.unfinishedRunsPerUser,
    user_open_chats: LIMITS.openChatsPerUser,
    user_stored_mb: LIMITS.storedPerUserBytes / 1024 ** 2,
    user_workspaces_mb: LIMITS.workspacesPerUserBytes / 1024 ** 2,
  },
  retention: {
    llm_calls_days: null,
    runs_days: null,
    runs_gb: null,
    chats_days: null,
    chats_gb: null,
    transcripts_days: null,
    events_days: LIMITS.eventKeepDays,
    api_usage_days: 400,
    audit_days: 400,
    onboarding_days: 30,
    notifications_days: 90,
    jobs_days: 30,
    backups_days: null,
    merged_branches_days: null,
  },
  budgets: {
    run_usd: null,
    agent_per_run_usd: null,
    agent_per_day_usd: null,
    user_per_day_usd: null,
    user_per_month_usd: null,
    instance_per_day_usd: null,
    instance_per_month_usd: null,
    warn_at_percent: 80,
  },
  sandbox: { image: null, network: "none", runtime: null, memory_mb: 1_024, cpus: 1, git_depth: 50, idle_minutes: 10 },
  backup: { schedule: null, timezone: "UTC", keep_daily: 7, keep_weekly: 4, keep_monthly: 6, folder: null },
  telemetry: { endpoint: null, content: false },
  monitor: { every_minutes: 5 },
  updates: { check: true, interval_hours: 24 },
};

/** Purposes that may have a default model of their own. */
export type ModelPurpose = Exclude<keyof Settings["models"], "default" | "embedding" | "fallback">;
