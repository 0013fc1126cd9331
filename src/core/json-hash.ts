/** Fingerprint of a JSON value. */
import { createHash } from "node:crypto";
import { isObject } from "./is-object.ts";

/** SHA-256 in hexadecimal. The order of members does not matter. */
export const hashJson = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(sortMembers(value)))
    .digest("hex");

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortMembers(value[key])]),
  );
}
