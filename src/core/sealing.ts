/**
 * Encrypts values at rest: AES-256-GCM with a random 96-bit nonce and a 128-bit tag. The stored text is base64(nonce ‖
 * tag ‖ ciphertext), so any AES-GCM implementation with the key can open it.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const KEY_BYTES = 32;

export type Sealer = ReturnType<typeof createSealer>;

/** @param keyOf returns the 32-byte key; called at the first use. */
export function createSealer(keyOf: () => Uint8Array) {
  let key: Uint8Array | undefined;
  const theKey = (): Uint8Array => {
    key ??= keyOf();
    if (key.byteLength !== KEY_BYTES) throw new Error(`a sealing key has ${KEY_BYTES} bytes`);
    return key;
  };
  return {
    seal(plain: string): string {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", theKey(), nonce, { authTagLength: TAG_BYTES });
      const ciphertext = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString("base64");
    },
    /** @throws Error when the text was altered or sealed with another key. */
    open(sealed: string): string {
      const bytes = Buffer.from(sealed, "base64");
      if (bytes.byteLength < NONCE_BYTES + TAG_BYTES) throw new Error("a sealed value is cut short");
      const decipher = createDecipheriv("aes-256-gcm", theKey(), bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString(
        "utf8",
      );
    },
  };
}

/** Whether the text is the key itself (64 hexadecimal digits). From any other text, a key is derived. */
export const isRawKey = (text: string): boolean => /^[0-9a-fA-F]{64}$/.test(text);

/**
 * The key from SECRET_ENCRYPTION_KEY: 64 hexadecimal digits are the key itself, other text goes through HKDF-SHA-256
 * (RFC 5869).
 */
export function keyFromText(text: string): Uint8Array {
  if (isRawKey(text)) return Buffer.from(text, "hex");
  return new Uint8Array(hkdfSync("sha256", text, "", "skep/secrets", KEY_BYTES));
}
