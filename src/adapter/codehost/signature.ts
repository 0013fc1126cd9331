/** Signatures of webhooks: HMAC-SHA-256 over the bytes as they came. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { CodeHostKind } from "./code-host.ts";

const HEX = /^[0-9a-f]{64}$/i;

/** The signature that counts, in hex; undefined without a usable one. Forgejo's own header alone counts when present. */
function signatureOf(kind: CodeHostKind, headers: Headers): string | undefined {
  const given =
    kind === "github"
      ? /^sha256=(.*)$/.exec(headers.get("x-hub-signature-256") ?? "")?.[1]
      : (headers.get("x-forgejo-signature") ?? headers.get("x-gitea-signature"));
  return given && HEX.test(given) ? given : undefined;
}

/** True when the host that knows the secret sent these bytes. Event name and delivery id are not signed. */
export function isSigned(kind: CodeHostKind, headers: Headers, body: Uint8Array, secret: string): boolean {
  const given = signatureOf(kind, headers);
  if (given === undefined || secret === "") return false;
  return timingSafeEqual(createHmac("sha256", secret).update(body).digest(), Buffer.from(given, "hex"));
}

export const bodyHash = (body: Uint8Array): string => createHash("sha256").update(body).digest("hex");

/** What the host says of the delivery, in headers that nothing signs. */
export function deliveryOf(kind: CodeHostKind, headers: Headers): { id: string | null; event: string | null } {
  if (kind === "github") return { id: headers.get("x-github-delivery"), event: headers.get("x-github-event") };
  const read = (name: string) => headers.get(`x-forgejo-${name}`) ?? headers.get(`x-gitea-${name}`);
  return { id: read("delivery"), event: read("event") };
}
