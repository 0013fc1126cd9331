/**
 * The migrations, in order, forward only. The first creates the whole schema of its time. A later change is a file
 * `<number>-<what>.sql` and a line at the end of the list. Released migrations are never edited.
 */
import { SCHEMA } from "./0001-schema/schema.ts";
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
import projectScip from "./0016-project-scip.sql" with { type: "text" };
import runTraces from "./0017-run-traces.sql" with { type: "text" };
import evalSizes from "./0018-eval-sizes.sql" with { type: "text" };
import projectMembers from "./0019-project-members.sql" with { type: "text" };
import oidcGroups from "./0020-oidc-groups.sql" with { type: "text" };
import harnessLogins from "./0021-harness-logins.sql" with { type: "text" };
import phone from "./0022-phone.sql" with { type: "text" };
import environments from "./0025-environments.sql" with { type: "text" };
import secretsAtTheEdge from "./0026-secrets-at-the-edge.sql" with { type: "text" };
import projectInvitations from "./0027-project-invitations.sql" with { type: "text" };
import projectSetups from "./0028-project-setups.sql" with { type: "text" };
import drainedHosts from "./0030-drained-hosts.sql" with { type: "text" };
import previews from "./0031-previews.sql" with { type: "text" };
import screenshots from "./0032-screenshots.sql" with { type: "text" };
import phoneCommands from "./0033-phone-commands.sql" with { type: "text" };
import eventsOfUsers from "./0034-events-of-users.sql" with { type: "text" };
import dockerfiles from "./0036-dockerfiles.sql" with { type: "text" };
import checkServices from "./0038-check-services.sql" with { type: "text" };

export interface Migration {
  name: string;
  sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  { name: "0001-schema", sql: SCHEMA },
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
  { name: "0016-project-scip", sql: projectScip },
  { name: "0017-run-traces", sql: runTraces },
  { name: "0018-eval-sizes", sql: evalSizes },
  { name: "0019-project-members", sql: projectMembers },
  { name: "0020-oidc-groups", sql: oidcGroups },
  { name: "0021-harness-logins", sql: harnessLogins },
  { name: "0022-phone", sql: phone },
  { name: "0025-environments", sql: environments },
  { name: "0026-secrets-at-the-edge", sql: secretsAtTheEdge },
  { name: "0027-project-invitations", sql: projectInvitations },
  { name: "0028-project-setups", sql: projectSetups },
  { name: "0030-drained-hosts", sql: drainedHosts },
  { name: "0031-previews", sql: previews },
  { name: "0032-screenshots", sql: screenshots },
  { name: "0033-phone-commands", sql: phoneCommands },
  { name: "0034-events-of-users", sql: eventsOfUsers },
  { name: "0036-dockerfiles", sql: dockerfiles },
  { name: "0038-check-services", sql: checkServices },
];
