/** Opaque tokens: 256 random bits behind a prefix that names their kind. Only their digest is stored. */
import { createHash, randomBytes } from "node:crypto";

export const TOKEN_PREFIXES = {
  refresh: "skrt_",
  cookie: "skck_",
  apiKey: "skep_",
  pending: "skpl_",
  setup: "skst_",
} as const;

export const newToken = (kind: keyof typeof TOKEN_PREFIXES): string =>
  TOKEN_PREFIXES[kind] + randomBytes(32).toString("base64url");

/**
 * The digest under which a token is stored and found. A plain digest is enough, because the token cannot be guessed.
 */
export const tokenHash = (token: string): string => createHash("sha256").update(token).digest("base64url");
