/**
 * Secrets in an archive. They are sealed with a key that scrypt (RFC 7914) derives from a passphrase, so that each
 * guess costs time and memory.
 */
import { randomBytes, scrypt } from "node:crypto";
import { Problem } from "../../core/errors.ts";
import { createSealer, KEY_BYTES, type Sealer } from "../../core/sealing.ts";
import type { SealedSecrets } from "./model.ts";

/** These parameters cost 64 MiB for each guess. */
const COST = { N: 2 ** 16, r: 8, p: 1, maxmem: 128 * 1024 * 1024 };
const SALT_BYTES = 16;

const sealerOf = (passphrase: string, salt: Uint8Array): Promise<Sealer> =>
  new Promise((resolve, reject) => {
    scrypt(passphrase.normalize("NFC"), salt, KEY_BYTES, COST, (error, key) => {
      if (error) reject(error);
      else resolve(createSealer(() => key));
    });
  });

export async function sealSecrets(text: string, passphrase: string): Promise<SealedSecrets> {
  const salt = randomBytes(SALT_BYTES);
  return { salt: salt.toString("hex"), sealed: (await sealerOf(passphrase, salt)).seal(text) };
}

/** @throws Problem 422 `wrong_passphrase`. */
export async function openSecrets({ salt, sealed }: SealedSecrets, passphrase: string): Promise<string> {
  const sealer = await sealerOf(passphrase, Buffer.from(salt, "hex"));
  try {
    return sealer.open(sealed);
  } catch {
    throw new Problem(422, "wrong_passphrase", "The passphrase does not open the secrets of this archive.");
  }
}
