/** The migrations, in order, forward only. A new one is a file and a line here; what was released is never edited. */
import foundation from "./0001-foundation.sql" with { type: "text" };
import secrets from "./0002-secrets.sql" with { type: "text" };
import executions from "./0003-executions.sql" with { type: "text" };
import runs from "./0004-runs.sql" with { type: "text" };

export interface Migration {
  name: string;
  sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  { name: "0001-foundation", sql: foundation },
  { name: "0002-secrets", sql: secrets },
  { name: "0003-executions", sql: executions },
  { name: "0004-runs", sql: runs },
];
