/**
 * Update manifests: the available version, and the digest of its executable for each platform, signed with Ed25519. The
 * file holds the manifest's bytes in base64 beside the signature, so exactly the signed bytes are parsed.
 */

import { createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { type Static, Type as t } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Problem } from "./errors.ts";
import { jsonIn } from "./json-reader.ts";

const FORMAT = "skep-update-1";
/** Signed together with the manifest, so that other data signed with this key cannot pass for a manifest. */
const DOMAIN = Buffer.from(`${FORMAT}\n`);
export const MANIFEST_BYTES = 256 * 1024;
const EXECUTABLE_BYTES = 1024 * 1024 * 1024;

const Envelope = t.Object({ format: t.Literal(FORMAT), manifest: t.String(), signature: t.String() });

export const UpdateFile = t.Object({
  /** File name next to the manifest, or a URL. */
  path: t.String({ maxLength: 2_048, pattern: "^[!-~]+$" }),
  size: t.Integer({ minimum: 1, maximum: EXECUTABLE_BYTES }),
  sha256: t.String({ pattern: "^[0-9a-f]{64}$" }),
});
export type UpdateFile = Static<typeof UpdateFile>;

export const UpdateManifest = t.Object({
  version: t.String({ pattern: "^(0|[1-9]\\d{0,8})(\\.(0|[1-9]\\d{0,8})){2}(-[0-9A-Za-z.-]{1,64})?$" }),
  released_at: t.String({ maxLength: 40, pattern: "^\\d{4}-\\d{2}-\\d{2}T[\\d:.]+(Z|[+-]\\d{2}:\\d{2})$" }),
  // Shown on terminals, so it may not contain control characters.
  notes_url: t.Optional(t.String({ maxLength: 2_048, pattern: "^https?://[!-~]+$" })),
  /** By platform, e.g. `linux-x64`. */
  files: t.Record(t.String({ maxLength: 64 }), UpdateFile),
});
export type UpdateManifest = Static<typeof UpdateManifest>;

const createProblem = (why: string) => new Problem(422, "update_untrusted", why);

/** @param key 32 bytes in base64. @throws Problem 422 `update_untrusted` when it is not a key. */
function publicKeyOf(key: string): KeyObject {
  const bytes = Buffer.from(key, "base64");
  if (bytes.byteLength !== 32)
    throw createProblem("This build has no release key. Give the publisher's with UPDATE_PUBLIC_KEY.");
  return createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") } });
}

/**
 * The manifest after its signature was verified; before that, nothing in it is read.
 * @throws Problem 422 `update_untrusted`.
 */
export function openManifest(text: string, key: string): UpdateManifest {
  const publicKey = publicKeyOf(key);
  const envelope = jsonIn(text);
  if (!Value.Check(Envelope, envelope)) throw createProblem("This is not an update manifest.");
  const bytes = Buffer.from(envelope.manifest, "base64");
  const signature = Buffer.from(envelope.signature, "base64");
  if (signature.byteLength !== 64 || !verify(null, Buffer.concat([DOMAIN, bytes]), publicKey, signature))
    throw createProblem("The update's signature is not by the release key. Nothing was changed.");
  const manifest = jsonIn(bytes.toString("utf8"));
  if (!Value.Check(UpdateManifest, manifest))
    throw createProblem("The update manifest is signed but not of a known form.");
  return manifest;
}

/** Signs a manifest. @returns the text of the manifest file. */
export function sealManifest(manifest: UpdateManifest, privateKey: KeyObject): string {
  const bytes = Buffer.from(JSON.stringify(manifest));
  const signature = sign(null, Buffer.concat([DOMAIN, bytes]), privateKey);
  const envelope = { format: FORMAT, manifest: bytes.toString("base64"), signature: signature.toString("base64") };
  return `${JSON.stringify(envelope, null, 2)}\n`;
}

/** Negative when `a` is older than `b`, as semantic versioning orders them. */
export const compareVersions = (a: string, b: string): number => Bun.semver.order(a, b);
