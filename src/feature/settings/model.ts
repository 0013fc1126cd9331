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
    description: "Id in the form `provider/model`.",
  }),
);
const Usd = (description: string) =>
  orNull(t.Number({ minimum: 0, maximum: 1_000_000, description: `${description}, in USD; null: no limit.` }));
const Days = (description: string) =>
  orNull(t.Integer({ minimum: 1, maximum: 36_500, description: `${description}, in days; null: forever.` }));
const Gigabytes = (description: string) =>
  orNull(t.Number({ minimum: 0.001, maximum: 1_000_000, description: `${description}, in GB; null: no limit.` }));
const Kept = (periods: string) =>
  t.Integer({
    minimum: 0,
    maximum: 1_000,
    description: `Number of ${periods} for which the last scheduled backup is kept, counting only ${periods} that have one. The newest backup is always kept.`,
  });

export const Settings = t.Object(
  {
    models: t.Object(
      {
        default: ModelId,
        fallback: t.Array(t.String({ maxLength: LIMITS.nameCharacters, pattern: "^[a-z0-9][a-z0-9-]{0,63}/\\S+$" }), {
          maxItems: 5,
          description: "Models to try, in order, when a model has no quota left, fails or refuses.",
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
          "Models to use if neither run, step, pipeline nor agent names one. Null uses `default`. For `embedding`, which finds memory by meaning, null means that memory is only searched by words.",
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
          description:
            "Longest time, in hours, that an execution waits for a provider whose quota is used up. With 0 the execution fails instead.",
        }),
        permission_minutes: t.Integer({
          minimum: 1,
          maximum: 7 * 24 * 60,
          description:
            "Minutes that a person has to answer whether a tool may be used. Without an answer, the tool may not be used.",
        }),
        user_unfinished_runs: t.Integer({
          minimum: 1,
          maximum: 100_000,
          description: "Most runs of one user that have not ended; only applies with accounts on.",
        }),
        user_open_chats: t.Integer({
          minimum: 1,
          maximum: 100_000,
          description: "Most chats of one user that have not ended; only applies with accounts on.",
        }),
        user_stored_mb: t.Integer({
          minimum: 1,
          maximum: 1_048_576,
          description:
            "Most space for one user's attachments, documents, own memory entries and evals together, in MiB.",
        }),
        user_workspaces_mb: t.Integer({
          minimum: 1,
          maximum: 104_857_600,
          description: "Most space for the files of one user's runs and chats, in MiB; only applies with accounts on.",
        }),
      },
      {
        ...strict,
        description: "`max_turns`, `timeout_seconds` and `max_attempts` apply to agents that set none of their own.",
      },
    ),
    retention: t.Object(
      {
        llm_calls_days: orNull(
          t.Integer({
            minimum: 32,
            maximum: 36_500,
            description:
              "How long logged model calls are kept, in days; null: forever. At least a month, because budgets are computed from them. Daily totals are always kept.",
          }),
        ),
        runs_days: Days("How long runs are kept after they ended, with all their data"),
        runs_gb: Gigabytes("Most space for runs that have ended, with their files; the oldest are deleted first"),
        chats_days: Days("How long chats and the work of routines, swarms and onboardings are kept after they ended"),
        chats_gb: Gigabytes(
          "Most space for chats, routines, swarms and onboardings that have ended, with their files; the oldest are deleted first",
        ),
        transcripts_days: Days(
          "How long the words of agents in runs and routines are kept after these ended, while results stay",
        ),
        events_days: t.Integer({
          minimum: 1,
          maximum: 3_650,
          description: "How long events are kept, in days; at most the newest 500,000.",
        }),
        api_usage_days: Days("How long request counts are kept"),
        audit_days: Days("How long the audit log is kept"),
        onboarding_days: Days("How long onboarding sessions that nobody continues stay open"),
        notifications_days: Days("How long dismissed notifications are kept"),
        jobs_days: Days("How long finished background jobs and the results of routines are kept"),
        backups_days: Days("How long backups made by the server are kept, except the newest one, which always stays"),
        merged_branches_days: Days("How long branches of runs are kept after their work was merged"),
      },
      strict,
    ),
    budgets: t.Object(
      {
        run_usd: Usd("Most that one run may cost"),
        agent_per_run_usd: Usd("Most that one agent may cost in one run"),
        agent_per_day_usd: Usd("Most that one agent may cost in a day"),
        user_per_day_usd: Usd("Most that one user may cost in a day"),
        user_per_month_usd: Usd("Most that one user may cost in a month"),
        instance_per_day_usd: Usd("Most that all users together may cost in a day"),
        instance_per_month_usd: Usd("Most that all users together may cost in a month"),
        warn_at_percent: t.Integer({
          minimum: 1,
          maximum: 100,
          description: "Percentage of a budget at which a warning is given.",
        }),
      },
      { ...strict, description: "Limits of spending. Days and months are in UTC." },
    ),
    sandbox: t.Object(
      {
        image: orNull(ImageName, { description: "Container image of sandboxes; null uses AGENT_IMAGE." }),
        network: oneOf("none", "bridge"),
        runtime: orNull(RuntimeName),
        memory_mb: t.Integer({ minimum: 64, maximum: 1_048_576 }),
        cpus: t.Number({ minimum: 0.1, maximum: 256 }),
        git_depth: t.Integer({
          minimum: 0,
          maximum: 100_000,
          description:
            "Number of commits of the run's branch that an agent's git can read. With 0, agents have no git.",
        }),
        idle_minutes: t.Integer({
          minimum: 0,
          maximum: 1_440,
          description:
            "Minutes from a chat's last reply until its sandbox is stopped. With 0 it is stopped after each reply.",
        }),
      },
      { ...strict, description: "Settings of sandboxes for agents that set none of their own." },
    ),
    backup: t.Object(
      {
        schedule: orNull(
          t.String({
            maxLength: 100,
            pattern: "^\\S+( +\\S+){4}$",
            description:
              "Schedule of automatic backups as a cron expression with five fields, such as `30 3 * * *`. Null: no automatic backups.",
          }),
        ),
        timezone: t.String({ pattern: "^[A-Za-z][A-Za-z0-9_+/-]{0,63}$", description: "Time zone of the schedule." }),
        keep_daily: Kept("days"),
        keep_weekly: Kept("weeks"),
        keep_monthly: Kept("months"),
        folder: orNull(
          t.String({
            maxLength: 1_000,
            pattern: "^/",
            description:
              "Absolute path of an existing folder outside the data folder for scheduled backups. Null: `backups/` in the data folder.",
          }),
        ),
      },
      { ...strict, description: "Settings of automatic backups." },
    ),
    telemetry: t.Object(
      {
        endpoint: orNull(
          t.String({
            maxLength: 1_000,
            pattern: "^https?://[^\\s@]+$",
            description:
              "Address of the OTLP/HTTP receiver of traces, without /v1/traces; it may be a private address. Null uses OTEL_EXPORTER_OTLP_ENDPOINT, if set.",
          }),
        ),
        content: t.Boolean({
          description: "Whether traces include prompts, replies, and the inputs and outputs of tools.",
        }),
      },
      { ...strict, description: "Settings of traces, which are sent to an OpenTelemetry receiver." },
    ),
    monitor: t.Object(
      {
        every_minutes: t.Integer({
          minimum: 1,
          maximum: 1_440,
          description: "Minutes between requests to PUSH_MONITOR_URL.",
        }),
      },
      strict,
    ),
    updates: t.Object(
      {
        check: t.Boolean({ description: "Whether the server looks for updates, provided UPDATE_CHECK_URL is set." }),
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
