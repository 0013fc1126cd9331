/** The migrations, in order, forward only. A new one is a file and a line here; what was released is never edited. */
import foundation from "./0001-foundation.sql" with { type: "text" };
import secrets from "./0002-secrets.sql" with { type: "text" };
import executions from "./0003-executions.sql" with { type: "text" };
import runs from "./0004-runs.sql" with { type: "text" };
import accounts from "./0010-accounts.sql" with { type: "text" };
import singleSignOn from "./0011-single-sign-on.sql" with { type: "text" };
import waitlist from "./0012-waitlist.sql" with { type: "text" };

export interface Migration {
  name: string;
  sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  { name: "0001-foundation", sql: foundation },
  { name: "0002-secrets", sql: secrets },
  { name: "0003-executions", sql: executions },
  { name: "0004-runs", sql: runs },
  { name: "0010-accounts", sql: accounts },
  { name: "0011-single-sign-on", sql: singleSignOn },
  { name: "0012-waitlist", sql: waitlist },
];
