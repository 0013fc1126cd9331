/** The instance's own keys: from the configuration, or created when first needed and stored in the data folder. */
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
  // An invalid key is reported now instead of at its first use.
  if (!given && !secretKeyEphemeral && folder.hasKey("secrets.key")) folder.key("secrets.key");
  let ephemeral: Uint8Array | undefined;
  return {
    /** Key for everything that is sealed at rest. */
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
    /**
     * Undefined only when no other machine can reach the server, no credential is required, and ENGINE_INTERNAL_TOKEN
     * is not set.
     */
    // If other machines can reach the server, also through a proxy, it always has a token, so the plaintext endpoint is
    // never open.
    engineToken:
      config.engineInternalToken ??
      (isLoopback(config.host) && !config.authRequired
        ? undefined
        : Buffer.from(folder.key("engine-token.key")).toString("base64url")),
  };
}
