/** Verifies signatures of webhooks: HMAC-SHA-256 over the bytes as they were received. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { CodeHostKind } from "./code-host.ts";

const HEX = /^[0-9a-f]{64}$/i;

/**
 * Reads the signature in hex; undefined when there is no usable one. When Forgejo's own header is present, only that
 * one counts.
 */
function signatureOf(kind: CodeHostKind, headers: Headers): string | undefined {
  const given =
    kind === "github"
      ? /^sha256=(.*)$/.exec(headers.get("x-hub-signature-256") ?? "")?.[1]
      : (headers.get("x-forgejo-signature") ?? headers.get("x-gitea-signature"));
  return given && HEX.test(given) ? given : undefined;
}

/** True when a host that knows the secret sent these bytes. The signature covers neither event name nor delivery id. */
export function isSigned(kind: CodeHostKind, headers: Headers, body: Uint8Array, secret: string): boolean {
  const given = signatureOf(kind, headers);
  if (given === undefined || secret === "") return false;
  return timingSafeEqual(createHmac("sha256", secret).update(body).digest(), Buffer.from(given, "hex"));
}

export const bodyHash = (body: Uint8Array): string => createHash("sha256").update(body).digest("hex");

/** Reads delivery id and event name from the headers, which the signature does not cover. */
export function deliveryOf(kind: CodeHostKind, headers: Headers): { id: string | null; event: string | null } {
  if (kind === "github") return { id: headers.get("x-github-delivery"), event: headers.get("x-github-event") };
  const read = (name: string) => headers.get(`x-forgejo-${name}`) ?? headers.get(`x-gitea-${name}`);
  return { id: read("delivery"), event: read("event") };
}
