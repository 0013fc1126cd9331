/** The code host as the API shows it. */
import { type Static, Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";

const strict = { additionalProperties: false } as const;
const HostError = t.Object({ code: t.String(), message: t.String() });
const Kind = oneOf("github", "gitea");

export const HostRepository = t.Object(
  {
    full_name: t.String({ description: "Name of the repository as `owner/name`." }),
    private: t.Boolean(),
    archived: t.Boolean(),
    default_branch: t.String(),
    description: t.String(),
    url: t.String(),
    clone_url: t.String({ description: "Clone address, which is the value for a project's `repository`." }),
    project_id: orNull(
      t.String({ description: "Id of the project that uses this repository, if you can see that project." }),
    ),
  },
  { title: "HostRepository" },
);
export type HostRepository = Static<typeof HostRepository>;

export const AppStatus = t.Object(
  {
    configured: t.Boolean({ description: "Whether there are credentials for the code host's API." }),
    connected: t.Boolean({ description: "Whether the code host accepted the credentials just now." }),
    kind: orNull(Kind),
    url: orNull(t.String()),
    login: orNull(t.String({ description: "Account that Skep acts as on the code host." })),
    name: orNull(t.String()),
    permissions: t.Record(t.String(), t.String(), {
      description: "Permissions of the GitHub App, as far as the code host reports them.",
    }),
    error: orNull(HostError),
    webhook: t.Object({
      configured: t.Boolean({
        description: "Whether there is a webhook secret. Without one, every delivery is refused.",
      }),
      path: t.String({ description: "Path below this server's address that the code host has to call." }),
      last_delivery_at: orNull(Time),
      deliveries: t.Object(
        { queued: t.Integer(), done: t.Integer(), ignored: t.Integer(), failed: t.Integer() },
        { description: "Number of deliveries in each state." },
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
  { title: "CodeHostConnection", description: "How Skep reaches the code host. Secrets are never returned." },
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
          description: "Address of GitHub's API, or of a Gitea or Forgejo site; `null` for GitHub's own API.",
        }),
      ),
    ),
    app_id: t.Optional(orNull(t.String({ pattern: "^[\\w.]{1,64}$", description: "Id of the GitHub App." }))),
    private_key: Secret(64, "Private key of the GitHub App, in PEM format."),
    token: Secret(8, "Access token to use if there is no GitHub App."),
    webhook_secret: Secret(16, "Secret with which the code host signs its webhooks."),
  },
  { ...strict, description: "Absent fields keep their values; `null` removes a value." },
);
export type ConnectionUpdate = Static<typeof ConnectionUpdate>;

export const WebhookAnswer = t.Object(
  {
    status: oneOf("accepted", "ignored", "duplicate", "retried"),
    id: orNull(t.String({ description: "Id of the delivery on this server." })),
  },
  { title: "WebhookAnswer" },
);
export type WebhookAnswer = Static<typeof WebhookAnswer>;

export const DeliveryState = oneOf("queued", "done", "ignored", "failed");
export const Delivery = t.Object(
  {
    id: t.String(),
    delivery_id: t.String({ description: "Id of the delivery on the code host." }),
    event: t.String(),
    repository: orNull(t.String()),
    state: DeliveryState,
    detail: orNull(t.String({ description: "Result of the delivery." })),
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
    t.String({
      minLength: 1,
      maxLength: 250,
      description: "Label that the issue or pull request must have; required for the events `…_labeled`.",
    }),
  ),
  command: orNull(
    t.String({
      pattern: "^[/@!][\\w-]{1,49}$",
      description: "Word with which the comment must begin, such as `/skep`; required for `issue_comment`.",
    }),
  ),
  permission: oneOf("read", "write", "admin"),
  /** Bots that may start a run, each named by its login. */
  bots: t.Array(Login, { maxItems: 50, uniqueItems: true }),
  pipeline_id: Id,
  pull_request: t.Boolean({ description: "Whether to open a pull request when the run succeeds." }),
};
export const Rule = t.Object(
  {
    id: t.String(),
    project_id: t.String(),
    repository: t.String({ description: "Repository of the project, as `owner/name`." }),
    ...ruleFields,
    user_id: orNull(t.String({ description: "User for whom the rule starts runs: the creator of the rule." })),
    created_at: Time,
    updated_at: Time,
  },
  { title: "CodeHostRule" },
);
export type Rule = Static<typeof Rule>;

const permission = t.Optional(
  t.Union([t.Literal("read"), t.Literal("write"), t.Literal("admin")], {
    description:
      "Least permission that the actor needs in the repository, as reported by the code host; `write` by default.",
  }),
);
const bots = t.Optional(
  t.Array(Login, { maxItems: 50, uniqueItems: true, description: "Logins of the bots that count as actors." }),
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
  number: t.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: "Number of an issue or pull request in the repository.",
  }),
  actor: t.Optional(
    t.String({
      ...Login,
      description:
        "Login of the actor who would open, label or comment; by default the author of the issue or pull request.",
    }),
  ),
  comment: t.Optional(t.String({ maxLength: 20_000, description: "Text of the comment to try the rule with." })),
});
export type TrialRequest = Static<typeof TrialRequest>;
export const Trial = t.Object(
  {
    starts: t.Boolean({ description: "Whether a run would start if the rule were enabled." }),
    detail: t.String({ description: "Why a run would or would not start." }),
    title: t.String({ description: "Title of the issue or pull request." }),
    url: t.String(),
    actor: t.String(),
    run_id: orNull(t.String({ description: "Run that is already working on the issue or pull request." })),
  },
  { title: "CodeHostTrial" },
);
export type Trial = Static<typeof Trial>;

export const RunOnHost = t.Object(
  {
    run_id: t.String(),
    repository: t.String(),
    issue: orNull(t.Integer({ description: "Number of the issue or pull request that the run was started from." })),
    read_only: t.Boolean({
      description: "Whether the run was started from a pull request of another repository. Nothing is pushed then.",
    }),
    number: orNull(t.Integer({ description: "Number of the run's own pull request." })),
    url: orNull(t.String()),
    pull_state: orNull(oneOf("open", "merged", "closed")),
    pushed_commit: orNull(t.String()),
    attempts: t.Integer({ description: "Number of times that reviews have started the run again." }),
    state: t.Union([t.Literal("pending"), t.Literal("done"), t.Literal("failed")], {
      description: "Whether the code host is up to date about the run. For `failed`, `error` gives the reason.",
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
  base: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 200,
      description: "Branch into which to merge; by default the project's default branch.",
    }),
  ),
});
export type PullCreate = Static<typeof PullCreate>;

export const Pushed = t.Object(
  { run_id: t.String(), branch: t.String(), commit: t.String() },
  { title: "PushedBranch" },
);
export type Pushed = Static<typeof Pushed>;
