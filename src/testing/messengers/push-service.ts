/**
 * A fake push service with the subscription of one browser. It decrypts what it receives (RFC 8291 and 8292), with code
 * that is independent of the product.
 */
import { createDecipheriv, createECDH, createHmac, createPublicKey, randomBytes, verify } from "node:crypto";
import { inbox } from "../receiver.ts";
import { objectOf } from "./fake.ts";

interface Pushed {
  headers: Headers;
  /** What the browser's page receives. */
  said: Record<string, unknown>;
  claims: Record<string, unknown>;
}

const hmac = (key: Uint8Array, ...parts: Uint8Array[]): Buffer => {
  const made = createHmac("sha256", key);
  for (const part of parts) made.update(part);
  return made.digest();
};
const text = (value: string) => Buffer.from(value, "latin1");

export function openPushService() {
  const ecdh = createECDH("prime256v1");
  const ours = ecdh.generateKeys();
  const auth = randomBytes(16);
  const pushed = inbox<Pushed>();
  const service = { ...pushed, status: 201, url: "", close: async () => {} };

  function decrypt(body: Buffer): string {
    const salt = body.subarray(0, 16);
    const length = body[20]!;
    const theirs = body.subarray(21, 21 + length);
    const sealed = body.subarray(21 + length);
    const one = Buffer.of(1);
    // HKDF by hand: extract, then one block of expand.
    const shared = hmac(auth, ecdh.computeSecret(theirs));
    const input = hmac(shared, text("WebPush: info\0"), ours, theirs, one);
    const secret = hmac(salt, input);
    const key = hmac(secret, text("Content-Encoding: aes128gcm\0"), one).subarray(0, 16);
    const nonce = hmac(secret, text("Content-Encoding: nonce\0"), one).subarray(0, 12);
    const decipher = createDecipheriv("aes-128-gcm", key, nonce);
    decipher.setAuthTag(sealed.subarray(-16));
    const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
    if (padded.at(-1) !== 2) throw new Error("the last record does not end with 2");
    return padded.subarray(0, -1).toString();
  }
  /** @throws Error unless the token is signed by the key that it names. */
  function claimsOf(authorization: string): Record<string, unknown> {
    const [, token = "", key = ""] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(authorization) ?? [];
    const [head, claims, signature = ""] = token.split(".");
    const point = Buffer.from(key, "base64url");
    const at = (from: number, to: number) => point.subarray(from, to).toString("base64url");
    const jwk = { kty: "EC", crv: "P-256", x: at(1, 33), y: at(33, 65) };
    const verifier = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" } as const;
    if (!verify("sha256", text(`${head}.${claims}`), verifier, Buffer.from(signature, "base64url")))
      throw new Error("the token is not signed by its key");
    return { ...objectOf(JSON.parse(Buffer.from(claims ?? "", "base64url").toString())), k: key };
  }
  const http = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = Buffer.from(await request.arrayBuffer());
      const said = objectOf(JSON.parse(decrypt(body)));
      pushed.put({ headers: request.headers, said, claims: claimsOf(request.headers.get("authorization") ?? "") });
      return new Response(null, { status: service.status });
    },
  });
  service.url = `http://127.0.0.1:${http.port}`;
  service.close = () => http.stop(true);
  return {
    service,
    /** The subscription as the browser returns it. */
    subscription: {
      url: `${service.url}/push/canary-endpoint-4471`,
      p256dh: ours.toString("base64url"),
      auth: auth.toString("base64url"),
    },
  };
}
