/** Deliveries of a code host, the rules by which they start runs, and what these runs have on the code host. */

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { partOf } from "./part-of.ts";
import { projects } from "./projects.ts";
import { runs } from "./runs.ts";
import type { RowError } from "./sessions.ts";

/** The parts of a webhook that the server acts on. */
interface CodeHostNotice {
  kind: "push" | "issue" | "comment" | "pull_request" | "review" | "review_comment";
  action: string;
  repository: string;
  actor: string;
  /** Number of the issue or pull request. */
  number?: number;
  label?: string;
  comment_id?: string;
  ref?: string;
}

export const codehostDeliveries = sqliteTable("codehost_deliveries", {
  id: text().primaryKey(),
  /** From the host's header, which is not signed. */
  delivery_id: text().notNull(),
  /** SHA-256 of the verified body, hex. */
  body_hash: text().notNull(),
  event: text().notNull(),
  repository: text(),
  /** What the server acts on; null: nothing. */
  notice: text({ mode: "json" }).$type<CodeHostNotice>(),
  state: text({ enum: ["queued", "done", "ignored", "failed"] }).notNull(),
  detail: text(),
  error: text({ mode: "json" }).$type<RowError>(),
  run_id: text(),
  received_at: text().notNull(),
  finished_at: text(),
});

export const codehostRules = sqliteTable("codehost_rules", {
  id: text().primaryKey(),
  name: text().notNull(),
  enabled: integer({ mode: "boolean" }).notNull(),
  project_id: partOf(() => projects.id),
  /** `owner/name` */
  repository: text().notNull(),
  event: text({
    enum: ["issue_opened", "issue_labeled", "issue_comment", "pull_request_opened", "pull_request_labeled"],
  }).notNull(),
  label: text(),
  command: text(),
  permission: text({ enum: ["read", "write", "admin"] }).notNull(),
  bots: text({ mode: "json" }).$type<string[]>().notNull(),
  pipeline_id: text().notNull(),
  pull_request: integer({ mode: "boolean" }).notNull(),
  /** The user that its runs are for; null: the local administrator. */
  user_id: text(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
});

export const codehostRuns = sqliteTable("codehost_runs", {
  run_id: partOf(() => runs.id).primaryKey(),
  repository: text().notNull(),
  rule_id: text(),
  /** Number of the issue or pull request that started the run. */
  number: integer(),
  comment_id: text(),
  comment_text: text(),
  /** True when it was started from a pull request of another repository: nothing of it is pushed. */
  read_only: integer({ mode: "boolean" }).notNull(),
  wants_pull: integer({ mode: "boolean" }).notNull(),
  /** Title of the pull request to open; null: made from the run and its issue. */
  pull_title: text(),
  pull_body: text(),
  pull_base: text(),
  pull_number: integer(),
  pull_url: text(),
  pull_state: text({ enum: ["open", "merged", "closed"] }),
  pushed_commit: text(),
  /** True when another attempt is wanted once the run has ended. */
  again: integer({ mode: "boolean" }).notNull(),
  attempts: integer().notNull(),
  /** Whether the code host was told the run's current state. */
  state: text({ enum: ["pending", "done", "failed"] }).notNull(),
  error: text({ mode: "json" }).$type<RowError>(),
  created_at: text().notNull(),
  updated_at: text().notNull(),
});
