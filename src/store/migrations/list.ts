/**
 * The migrations, in order, forward only. The first makes the whole schema, a file for each area as in `../tables`, which
 * says what columns mean. A later change is a file `<number>-<what>.sql` beside its folder and a line at the end of the
 * list; what was released is never edited.
 */
import accounts from "./0001-schema/accounts.sql" with { type: "text" };
import admin from "./0001-schema/admin.sql" with { type: "text" };
import agents from "./0001-schema/agents.sql" with { type: "text" };
import attachments from "./0001-schema/attachments.sql" with { type: "text" };
import codehost from "./0001-schema/codehost.sql" with { type: "text" };
import cookies from "./0001-schema/cookies.sql" with { type: "text" };
import documents from "./0001-schema/documents.sql" with { type: "text" };
import foundation from "./0001-schema/foundation.sql" with { type: "text" };
import inbox from "./0001-schema/inbox.sql" with { type: "text" };
import jobs from "./0001-schema/jobs.sql" with { type: "text" };
import mcp from "./0001-schema/mcp.sql" with { type: "text" };
import memory from "./0001-schema/memory.sql" with { type: "text" };
import notificationChannels from "./0001-schema/notification-channels.sql" with { type: "text" };
import onboarding from "./0001-schema/onboarding.sql" with { type: "text" };
import preferences from "./0001-schema/preferences.sql" with { type: "text" };
import projects from "./0001-schema/projects.sql" with { type: "text" };
import providers from "./0001-schema/providers.sql" with { type: "text" };
import pulses from "./0001-schema/pulses.sql" with { type: "text" };
import reviews from "./0001-schema/reviews.sql" with { type: "text" };
import runs from "./0001-schema/runs.sql" with { type: "text" };
import secrets from "./0001-schema/secrets.sql" with { type: "text" };
import sessions from "./0001-schema/sessions.sql" with { type: "text" };
import settings from "./0001-schema/settings.sql" with { type: "text" };
import swarms from "./0001-schema/swarms.sql" with { type: "text" };
import tasks from "./0001-schema/tasks.sql" with { type: "text" };
import usage from "./0001-schema/usage.sql" with { type: "text" };
import voice from "./0001-schema/voice.sql" with { type: "text" };
import runVersions from "./0002-run-versions.sql" with { type: "text" };
import pruneIndexes from "./0003-prune-indexes.sql" with { type: "text" };
import executionWaits from "./0004-execution-waits.sql" with { type: "text" };
import outsideText from "./0005-outside-text.sql" with { type: "text" };
import callsWithoutPrice from "./0006-calls-without-price.sql" with { type: "text" };
import workspaceSizes from "./0007-workspace-sizes.sql" with { type: "text" };
import providerWaits from "./0008-provider-waits.sql" with { type: "text" };
import reviewsAndSums from "./0009-reviews-and-sums.sql" with { type: "text" };
import harnessSessions from "./0010-harness-sessions.sql" with { type: "text" };
import permissions from "./0011-permissions.sql" with { type: "text" };
import egress from "./0012-egress.sql" with { type: "text" };
import sessionsOnBranches from "./0013-sessions-on-branches.sql" with { type: "text" };
import history from "./0014-history.sql" with { type: "text" };
import evals from "./0015-evals.sql" with { type: "text" };
import runTraces from "./0018-run-traces.sql" with { type: "text" };

export interface Migration {
  name: string;
  sql: string;
}

const SCHEMA = [
  foundation,
  settings,
  accounts,
  preferences,
  secrets,
  admin,
  jobs,
  providers,
  usage,
  agents,
  projects,
  sessions,
  runs,
  reviews,
  tasks,
  attachments,
  documents,
  memory,
  swarms,
  inbox,
  pulses,
  onboarding,
  mcp,
  cookies,
  voice,
  codehost,
  notificationChannels,
];

export const MIGRATIONS: readonly Migration[] = [
  { name: "0001-schema", sql: SCHEMA.join("\n") },
  { name: "0002-run-versions", sql: runVersions },
  { name: "0003-prune-indexes", sql: pruneIndexes },
  { name: "0004-execution-waits", sql: executionWaits },
  { name: "0005-outside-text", sql: outsideText },
  { name: "0006-calls-without-price", sql: callsWithoutPrice },
  { name: "0007-workspace-sizes", sql: workspaceSizes },
  { name: "0008-provider-waits", sql: providerWaits },
  { name: "0009-reviews-and-sums", sql: reviewsAndSums },
  { name: "0010-harness-sessions", sql: harnessSessions },
  { name: "0011-permissions", sql: permissions },
  { name: "0012-egress", sql: egress },
  { name: "0013-sessions-on-branches", sql: sessionsOnBranches },
  { name: "0014-history", sql: history },
  { name: "0015-evals", sql: evals },
  { name: "0018-run-traces", sql: runTraces },
];
