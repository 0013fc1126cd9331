/**
 * Reduces a webhook's payload to what Skep acts on: who did what to which issue or pull request. Everything else is
 * requested from the host, so no text of a payload is kept.
 */
import { type Static, type TSchema, Type as t } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { membersOf, numberIn, textIn } from "../../core/is-object.ts";
import { oneOf } from "../../core/schema.ts";

const Word = t.String({ maxLength: 250 });
const Id = t.Number();
const Actor = t.Object({ login: Word, type: t.Optional(Word) });
const Repository = t.Object({ full_name: t.String({ pattern: "^[\\w.-]{1,100}/[\\w.-]{1,100}$" }) });
const Label = t.Object({ name: Word });
const common = { action: Word, repository: Repository, sender: Actor };

const Push = t.Object({
  ref: t.String({ maxLength: 400 }),
  before: Word,
  after: Word,
  repository: Repository,
  sender: t.Optional(Actor),
  deleted: t.Optional(t.Boolean()),
});
const Issue = t.Object({ ...common, issue: t.Object({ number: Id }), label: t.Optional(Label) });
const Comment = t.Object({ ...common, issue: t.Object({ number: Id }), comment: t.Object({ id: Id }) });
const Pull = t.Object({ ...common, pull_request: t.Object({ number: Id }), label: t.Optional(Label) });
const Review = t.Object({
  ...common,
  pull_request: t.Object({ number: Id }),
  review: t.Object({ state: t.Optional(Word), type: t.Optional(Word) }),
});
const ReviewComment = t.Object({ ...common, pull_request: t.Object({ number: Id }), comment: t.Object({ id: Id }) });

export const Notice = t.Object({
  kind: oneOf("push", "issue", "comment", "pull_request", "review", "review_comment"),
  action: t.String(),
  repository: t.String(),
  actor: t.String(),
  number: t.Optional(t.Number({ description: "Of the issue or pull request." })),
  label: t.Optional(t.String()),
  comment_id: t.Optional(t.String()),
  ref: t.Optional(t.String()),
});
export type Notice = Static<typeof Notice>;

/**
 * The shapes of payloads that Skep acts on, more specific ones first: the first shape that fits decides what the
 * payload is.
 */
const SHAPES: [kind: Notice["kind"], schema: TSchema][] = [
  ["review", Review],
  ["review_comment", ReviewComment],
  ["comment", Comment],
  ["pull_request", Pull],
  ["issue", Issue],
  ["push", Push],
];

/** Event names by kind. Gitea has one name for each outcome of a review. */
const NAMES: Record<Notice["kind"], readonly string[]> = {
  push: ["push"],
  issue: ["issues", "issue_label"],
  comment: ["issue_comment", "pull_request_comment"],
  pull_request: ["pull_request", "pull_request_label"],
  review: [
    "pull_request_review",
    "pull_request_approved",
    "pull_request_rejected",
    "pull_request_comment",
    "pull_request_review_comment",
  ],
  review_comment: ["pull_request_review_comment"],
};
const KNOWN = new Set(Object.values(NAMES).flat());

/**
 * @returns undefined for an event that Skep does not act on. `mismatch` when the event's name, which the signature does
 * not cover, does not fit the signed payload.
 */
export function readNotice(event: string, payload: unknown): Notice | "mismatch" | undefined {
  if (!KNOWN.has(event)) return undefined;
  const found = SHAPES.find(([, schema]) => Value.Check(schema, payload));
  if (!found || !NAMES[found[0]].includes(event)) return "mismatch";
  const [kind] = found;
  // A payload that fits its shape may hold other members of any type, so each member is checked.
  const { repository, sender, issue, pull_request, label, comment, review } = membersOf(payload);
  const action = textIn(payload, "action");
  const number = numberIn(issue, "number") ?? numberIn(pull_request, "number");
  const labelName = textIn(label, "name");
  const commentId = numberIn(comment, "id");
  const ref = textIn(payload, "ref");
  const outcome = (textIn(review, "state") ?? textIn(review, "type") ?? "")
    .toLowerCase()
    .replace("pull_request_review_", "");
  return {
    kind,
    action: kind === "review" ? outcomeOf(event, action, outcome) : (action ?? ""),
    repository: textIn(repository, "full_name") ?? "",
    actor: textIn(sender, "login") ?? "",
    ...(number === undefined ? {} : { number }),
    ...(labelName === undefined ? {} : { label: labelName }),
    ...(commentId === undefined ? {} : { comment_id: String(commentId) }),
    ...(ref === undefined ? {} : { ref }),
  };
}

/**
 * `approved`; `changes` when the review asks for another attempt; for anything but a submitted review, the action
 * itself.
 */
function outcomeOf(event: string, action = "", outcome: string): string {
  if (action !== "submitted" && action !== "reviewed") return action;
  return outcome.includes("approved") || event === "pull_request_approved" ? "approved" : "changes";
}
