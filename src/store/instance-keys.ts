/** The instance's own keys: from the configuration, else made at first need and kept in the data folder. */
import { randomBytes } from "node:crypto";
import type { Config } from "../core/config.ts";
import { isLoopback } from "../core/config.ts";
import type { Logger } from "../core/log.ts";
import { isRawKey, KEY_BYTES, keyFromText } from "../core/sealing.ts";
import type { DataFolder } from "./data-folder.ts";

export type InstanceKeys = ReturnType<typeof instanceKeys>;

export function instanceKeys({ config, folder, log }: { config: Config; folder: DataFolder; log: Logger }) {
  const { secretEncryptionKey: given, secretKeyEphemeral } = config;
  for (const name of config.weakKeys)
    log.warn(`${name} is short enough to be guessed, and refused where others reach the server: openssl rand -hex 32`);
  if (given && !isRawKey(given))
    log.warn(
      "SECRET_ENCRYPTION_KEY is not 64 hexadecimal digits; it is stretched with HKDF-SHA-256. Better: openssl rand -hex 32",
    );
  // A key that is not valid is reported now, not at its first use.
  if (!given && !secretKeyEphemeral && folder.hasKey("secrets.key")) folder.key("secrets.key");
  let ephemeral: Uint8Array | undefined;
  return {
    /** Key of everything sealed at rest. */
    secretsKey(): Uint8Array {
      if (given) return keyFromText(given);
      if (secretKeyEphemeral) {
        ephemeral ??= randomBytes(KEY_BYTES);
        return ephemeral;
      }
      if (!folder.hasKey("secrets.key"))
        log.warn(
          "a key for stored secrets was made in the data folder (keys/secrets.key); without it the stored secrets are lost",
        );
      return folder.key("secrets.key");
    },
    /** Key that signs access tokens. */
    signingKey: (): Uint8Array => folder.key("signing.key"),
    /** Undefined only where this machine alone gets in without a credential, and ENGINE_INTERNAL_TOKEN is not set. */
    // A server that others reach, through a proxy too, never leaves the plaintext endpoint open because it has no token.
    engineToken:
      config.engineInternalToken ??
      (isLoopback(config.host) && !config.authRequired
        ? undefined
        : Buffer.from(folder.key("engine-token.key")).toString("base64url")),
  };
}
