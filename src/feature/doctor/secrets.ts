/**
 * Checks whether stored secrets, provider keys and log-ins can be opened with the current key. It only reads, and shows
 * no value.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../core/attempt.ts";
import type { Config } from "../../core/config.ts";
import { messageOf } from "../../core/errors.ts";
import { createSealer, keyFromText } from "../../core/sealing.ts";
import { databasePath } from "../../store/store.ts";
import { type Finding, fail, pass } from "./model.ts";
import { readDatabase } from "./storage.ts";

const CHECK = "secrets";
const MAX_NAMED = 20;
const REMEDY =
  "put the right key back (SECRET_ENCRYPTION_KEY or keys/secrets.key), or give each a new value: PUT /v1/secrets/NAME for a secret, the dashboard's settings for the others";

/**
 * The sealed values to check: for each row with one a name for people, the table, and the column. ID tokens of sessions
 * and replaced secrets are left out, because nobody can enter them again.
 */
export const SEALED: readonly (readonly [name: string, table: string, column: string])[] = [
  ["name", "secrets", "sealed"],
  ["'the key of provider ' || id", "providers", "sealed_key"],
  ["'a personal key for ' || provider_id", "user_provider_keys", "sealed_key"],
  ["'a personal log-in of ' || harness", "harness_logins", "sealed_login"],
  ["'the second factor of ' || email", "users", "totp_sealed"],
  ["'the client secret of single sign-on ' || slug", "oidc_providers", "client_secret_sealed"],
  ["'the environment of tool server ' || name", "mcp_servers", "sealed_env"],
  ["'the headers of tool server ' || name", "mcp_servers", "sealed_headers"],
  ["'the log-in of tool server ' || name", "mcp_servers", "sealed_tokens"],
  ["'the client of tool server ' || name", "mcp_servers", "sealed_oauth"],
  ["'the cookies ' || name", "cookie_sets", "sealed"],
  ["'the notification channel ' || name", "notification_channels", "sealed"],
  ["'the messenger ' || name", "messengers", "sealed"],
];

const QUERY = SEALED.map(
  ([name, table, column]) => `SELECT ${name} AS name, ${column} AS sealed FROM ${table} WHERE ${column} IS NOT NULL`,
)
  .concat(
    `SELECT 'the connection to the code host', json_extract(value, '$.sealed') AS sealed FROM settings
     WHERE name = 'codehost' AND sealed IS NOT NULL`,
  )
  .join(" UNION ALL ");

export function checkSecrets({ data, secretEncryptionKey, secretKeyEphemeral }: SecretsConfig): Finding {
  const path = databasePath(data);
  if (!existsSync(path)) return pass(CHECK, "none yet");
  try {
    const rows = readDatabase(path, (db) => db.prepare<unknown[], { name: string; sealed: string }>(QUERY).all());
    if (rows.length === 0) return pass(CHECK, "none yet");
    if (!secretEncryptionKey && secretKeyEphemeral)
      return pass(CHECK, `${rows.length}, sealed with the running server's own key (SECRET_KEY_EPHEMERAL)`);
    const sealer = createSealer(() => keyOf(data, secretEncryptionKey));
    const damaged = rows.filter(({ sealed }) => attempt(() => sealer.open(sealed)) === undefined);
    if (damaged.length === 0) return pass(CHECK, `${rows.length}, all of which can be opened`);
    const names = damaged.map(({ name }) => name).sort();
    const shown = names.slice(0, MAX_NAMED).join(", ");
    return fail(CHECK, `${names.length} of ${rows.length} cannot be opened: ${shown}`, REMEDY);
  } catch (error) {
    // The check of the database reports its own finding.
    return fail(CHECK, `could not be read: ${messageOf(error)}`, "see the finding on the database");
  }
}

type SecretsConfig = Pick<Config, "data" | "secretEncryptionKey" | "secretKeyEphemeral">;

function keyOf(data: string, given: string | undefined): Uint8Array {
  if (given) return keyFromText(given);
  return Buffer.from(readFileSync(join(data, "keys", "secrets.key"), "utf8").trim(), "hex");
}
