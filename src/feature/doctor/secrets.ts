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
import { type Finding, fail, ok } from "./model.ts";
import { readDatabase } from "./storage.ts";

const CHECK = "secrets";
const MAX_NAMED = 20;
const REMEDY =
  "put the right key back (SECRET_ENCRYPTION_KEY or keys/secrets.key), or give each a new value: PUT /v1/secrets/NAME";

/** The sealed values to check: for each a name for people, and the sealed text. */
const SEALED = `
  SELECT name, sealed FROM secrets
  UNION ALL SELECT 'the key of provider ' || id, sealed_key FROM providers WHERE sealed_key IS NOT NULL
  UNION ALL SELECT 'a personal key for ' || provider_id, sealed_key FROM user_provider_keys
  UNION ALL SELECT 'a personal log-in of ' || harness, sealed_login FROM harness_logins`;

export function checkSecrets({ data, secretEncryptionKey, secretKeyEphemeral }: SecretsConfig): Finding {
  const path = databasePath(data);
  if (!existsSync(path)) return ok(CHECK, "none yet");
  try {
    const rows = readDatabase(path, (db) => db.prepare<unknown[], { name: string; sealed: string }>(SEALED).all());
    if (rows.length === 0) return ok(CHECK, "none yet");
    if (!secretEncryptionKey && secretKeyEphemeral)
      return ok(CHECK, `${rows.length}, sealed with the running server's own key (SECRET_KEY_EPHEMERAL)`);
    const sealer = createSealer(() => keyOf(data, secretEncryptionKey));
    const damaged = rows.filter(({ sealed }) => attempt(() => sealer.open(sealed)) === undefined);
    if (damaged.length === 0) return ok(CHECK, `${rows.length}, all of which can be opened`);
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
