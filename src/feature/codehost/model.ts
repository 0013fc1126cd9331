/** The code host as the API shows it. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";

const strict = { additionalProperties: false } as const;
const HostError = t.Object({ code: t.String(), message: t.String() });
const Kind = oneOf("github", "gitea");

export const HostRepository = t.Object(
  {
    full_name: t.String({ description: "`owner/name`" }),
    private: t.Boolean(),
    archived: t.Boolean(),
    default_branch: t.String(),
    description: t.String(),
    url: t.String(),
    clone_url: t.String({ description: "Value for a project's `repository`." }),
    project_id: orNull(t.String({ description: "The project that has this repository." })),
  },
  { title: "HostRepository" },
);
export type HostRepository = Static<typeof HostRepository>;

export const AppStatus = t.Object(
  {
    configured: t.Boolean({ description: "There are credentials for the host's API." }),
    connected: t.Boolean({ description: "The host accepted them just now." }),
    kind: orNull(Kind),
    url: orNull(t.String()),
    login: orNull(t.String({ description: "Account that we act as." })),
    name: orNull(t.String()),
    permissions: t.Record(t.String(), t.String(), { description: "What the App may do, as far as the host says." }),
    error: orNull(HostError),
    webhook: t.Object({
      configured: t.Boolean({ description: "There is a secret; without one every delivery is refused." }),
      path: t.String({ description: "Path below this server's address that the host is to call." }),
      last_delivery_at: orNull(Time),
      deliveries: t.Object(
        { queued: t.Integer(), done: t.Integer(), ignored: t.Integer(), failed: t.Integer() },
        { description: "By state." },
      ),
    }),
  },
  { title: "CodeHostStatus" },
);
export type AppStatus = Static<typeof AppStatus>;

export const Connection = t.Object(
  {
    source: oneOf("settings", "environment", "none"),
    kind: Kind,
    url: t.String(),
    app_id: orNull(t.String()),
    has_private_key: t.Boolean(),
    has_token: t.Boolean(),
    has_webhook_secret: t.Boolean(),
  },
  { title: "CodeHostConnection", description: "How the code host is reached; secrets are never shown." },
);
export type Connection = Static<typeof Connection>;

const Secret = (minLength: number, description: string) =>
  t.Optional(orNull(t.String({ minLength, maxLength: 16_384, description })));
export const ConnectionUpdate = t.Object(
  {
    kind: t.Optional(Kind),
    url: t.Optional(
      orNull(
        t.String({
          pattern: "^https?://[^\\s]+$",
          maxLength: 500,
          description: "GitHub's API, or the site of a Gitea or Forgejo; null: GitHub's own.",
        }),
      ),
    ),
    app_id: t.Optional(orNull(t.String({ pattern: "^[\\w.]{1,64}$", description: "Of a GitHub App." }))),
    private_key: Secret(64, "Of the GitHub App, PEM."),
    token: Secret(8, "Access token, where there is no App."),
    webhook_secret: Secret(16, "What the host signs its webhooks with."),
  },
  { ...strict, description: "Fields that are left out stay; null takes one away." },
);
export type ConnectionUpdate = Static<typeof ConnectionUpdate>;

export const WebhookAnswer = t.Object(
  {
    status: oneOf("accepted", "ignored", "duplicate", "retried"),
    id: orNull(t.String({ description: "Of the delivery here." })),
  },
  { title: "WebhookAnswer" },
);
export type WebhookAnswer = Static<typeof WebhookAnswer>;

export const DeliveryState = oneOf("queued", "done", "ignored", "failed");
export const Delivery = t.Object(
  {
    id: t.String(),
    delivery_id: t.String({ description: "As the host names it." }),
    event: t.String(),
    repository: orNull(t.String()),
    state: DeliveryState,
    detail: orNull(t.String({ description: "Result." })),
    error: orNull(HostError),
    run_id: orNull(t.String()),
    received_at: Time,
    finished_at: orNull(Time),
  },
  { title: "CodeHostDelivery" },
);
export type Delivery = Static<typeof Delivery>;

const Id = t.String({ minLength: 1, maxLength: LIMITS.nameCharacters });
const Login = t.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(\\[bot\\])?$" });
const RuleEvent = oneOf(
  ...(["issue_opened", "issue_labeled", "issue_comment", "pull_request_opened", "pull_request_labeled"] as const),
);
const ruleFields = {
  name: t.String({ minLength: 1, maxLength: LIMITS.nameCharacters }),
  enabled: t.Boolean(),
  event: RuleEvent,
  label: orNull(
    t.String({ minLength: 1, maxLength: 250, description: "Only with this label; needed by `…_labeled`." }),
  ),
  command: orNull(
    t.String({
      pattern: "^[/@!][\\w-]{1,49}$",
      description: "Word that the comment begins with, e.g. `/skep`; needed by `issue_comment`.",
    }),
  ),
  permission: oneOf("read", "write", "admin"),
  /** Bots that may start a run, each named by its login. */
  bots: t.Array(Login, { maxItems: 50, uniqueItems: true }),
  pipeline_id: Id,
  pull_request: t.Boolean({ description: "Open a pull request when the run succeeds." }),
};
export const Rule = t.Object(
  {
    id: t.String(),
    project_id: t.String(),
    repository: t.String({ description: "`owner/name`, from the project's repository." }),
    ...ruleFields,
    user_id: orNull(t.String({ description: "The user its runs are started for: the rule's creator." })),
    created_at: Time,
    updated_at: Time,
  },
  { title: "CodeHostRule" },
);
export type Rule = Static<typeof Rule>;

const permission = t.Optional(
  t.Union([t.Literal("read"), t.Literal("write"), t.Literal("admin")], {
    description: "Least that the actor may do in the repository, as the host says; `write` unless given.",
  }),
);
const bots = t.Optional(
  t.Array(Login, { maxItems: 50, uniqueItems: true, description: "Logins of bots that count as actors, one by one." }),
);
export const RuleCreate = t.Object({
  name: ruleFields.name,
  project_id: Id,
  event: RuleEvent,
  label: t.Optional(ruleFields.label),
  command: t.Optional(ruleFields.command),
  pipeline_id: Id,
  permission,
  bots,
  enabled: t.Optional(t.Boolean()),
  pull_request: t.Optional(ruleFields.pull_request),
});
export type RuleCreate = Static<typeof RuleCreate>;
export const RuleUpdate = t.Partial(t.Omit(RuleCreate, ["project_id"]));
export type RuleUpdate = Static<typeof RuleUpdate>;

export const TrialRequest = t.Object({
  number: t.Integer({ minimum: 1, maximum: 2_147_483_647, description: "Of an issue or pull request there." }),
  actor: t.Optional(
    t.String({
      ...Login,
      description: "Login of the actor who would open, label or comment; its author unless given.",
    }),
  ),
  comment: t.Optional(t.String({ maxLength: 20_000, description: "What the comment would say." })),
});
export type TrialRequest = Static<typeof TrialRequest>;
export const Trial = t.Object(
  {
    starts: t.Boolean({ description: "A run would start if the rule were switched on." }),
    detail: t.String({ description: "Why, or why not." }),
    title: t.String({ description: "Of the issue or pull request." }),
    url: t.String(),
    actor: t.String(),
    run_id: orNull(t.String({ description: "The run that is at work there already." })),
  },
  { title: "CodeHostTrial" },
);
export type Trial = Static<typeof Trial>;

export const RunOnHost = t.Object(
  {
    run_id: t.String(),
    repository: t.String(),
    issue: orNull(t.Integer({ description: "Issue or pull request that it was started from." })),
    read_only: t.Boolean({ description: "Started from another repository's pull request: nothing is pushed." }),
    number: orNull(t.Integer({ description: "Of the run's own pull request." })),
    url: orNull(t.String()),
    pull_state: orNull(oneOf("open", "merged", "closed")),
    pushed_commit: orNull(t.String()),
    attempts: t.Integer({ description: "How often reviews have started the run again." }),
    state: t.Union([t.Literal("pending"), t.Literal("done"), t.Literal("failed")], {
      description: "How far the host is up to date on the run; `failed` says why in `error`.",
    }),
    error: orNull(HostError),
    updated_at: Time,
  },
  { title: "RunPullRequest" },
);
export type RunOnHost = Static<typeof RunOnHost>;

export const PullCreate = t.Object({
  title: t.Optional(t.String({ minLength: 1, maxLength: LIMITS.nameCharacters })),
  body: t.Optional(t.String({ maxLength: 20_000 })),
  base: t.Optional(t.String({ minLength: 1, maxLength: 200, description: "Branch; the project's default if absent." })),
});
export type PullCreate = Static<typeof PullCreate>;

export const Pushed = t.Object(
  { run_id: t.String(), branch: t.String(), commit: t.String() },
  { title: "PushedBranch" },
);
export type Pushed = Static<typeof Pushed>;
