/**
 * Web Push: encrypts a message for one browser (RFC 8291, aes128gcm), and makes the token that identifies this server
 * to the push service (VAPID, RFC 8292). The push service sees neither the text nor the address in a message.
 */
import { createCipheriv, createECDH, createPrivateKey, hkdfSync, type KeyObject, randomBytes, sign } from "node:crypto";

const CURVE = "prime256v1";
const POINT_BYTES = 65;
const AUTH_BYTES = 16;
const RECORD_BYTES = 4_096;
/** Most bytes of text that fit the single record that push services accept. */
export const PUSH_BYTES = RECORD_BYTES - 16 - 1 - 86;
const TOKEN_SECONDS = 12 * 3_600;

/** Keys of a browser's push subscription, base64url. */
interface PushKeys {
  p256dh: string;
  auth: string;
}

/** Whether the keys are a point on the curve and a secret of the right length. */
export function isPushKeys({ p256dh, auth }: PushKeys): boolean {
  const point = Buffer.from(p256dh, "base64url");
  if (point.length !== POINT_BYTES || Buffer.from(auth, "base64url").length !== AUTH_BYTES) return false;
  try {
    const ecdh = createECDH(CURVE);
    ecdh.generateKeys();
    ecdh.computeSecret(point);
    return true;
  } catch {
    return false;
  }
}

const derive = (secret: Uint8Array, salt: Uint8Array, info: Uint8Array, bytes: number): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, salt, info, bytes));
const infoOf = (name: string): Buffer => Buffer.from(`${name}\0`);

/** @param text at most `PUSH_BYTES` bytes. */
export function encryptPush(text: string, { p256dh, auth }: PushKeys): Buffer {
  const theirs = Buffer.from(p256dh, "base64url");
  const ecdh = createECDH(CURVE);
  const ours = ecdh.generateKeys();
  const info = Buffer.concat([infoOf("WebPush: info"), theirs, ours]);
  const secret = derive(ecdh.computeSecret(theirs), Buffer.from(auth, "base64url"), info, 32);
  const salt = randomBytes(16);
  const key = derive(secret, salt, infoOf("Content-Encoding: aes128gcm"), 16);
  const nonce = derive(secret, salt, infoOf("Content-Encoding: nonce"), 12);
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  // The byte 2 marks the end of the last record.
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.update(Buffer.of(2)), cipher.final()]);
  const head = Buffer.alloc(21);
  salt.copy(head);
  head.writeUInt32BE(RECORD_BYTES, 16);
  head[20] = ours.length;
  return Buffer.concat([head, ours, sealed, cipher.getAuthTag()]);
}

/**
 * The server's key pair for push services. @param secret 32 bytes; subscriptions are only valid while it stays the
 * same.
 */
export function createVapid(secret: Uint8Array, subject: string) {
  const ecdh = createECDH(CURVE);
  ecdh.setPrivateKey(Buffer.from(secret));
  const point = ecdh.getPublicKey();
  const encodePart = (from: number, to: number) => point.subarray(from, to).toString("base64url");
  const d = Buffer.from(secret).toString("base64url");
  const key: KeyObject = createPrivateKey({
    key: { kty: "EC", crv: "P-256", d, x: encodePart(1, 33), y: encodePart(33, POINT_BYTES) },
    format: "jwk",
  });
  const publicKey = point.toString("base64url");
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    publicKey,
    /** The Authorization header for a request to a subscription's address. @param now ms since the epoch. */
    authorization(endpoint: string, now: number): string {
      const claims = { aud: new URL(endpoint).origin, exp: Math.floor(now / 1_000) + TOKEN_SECONDS, sub: subject };
      const signed = `${encode({ typ: "JWT", alg: "ES256" })}.${encode(claims)}`;
      const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
      return `vapid t=${signed}.${signature.toString("base64url")}, k=${publicKey}`;
    },
  };
}
