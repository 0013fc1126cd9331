/** Entity tags of objects that people edit: a digest of the object as the API shows it. */
import { createHash } from "node:crypto";
import { Problem } from "../core/errors.ts";

export const etagOf = (object: unknown): string =>
  `"${createHash("sha256").update(JSON.stringify(object)).digest("base64url").slice(0, 22)}"`;

/** @throws Problem 412 when the request's `If-Match` does not match the current object. */
export function assertIfMatch(request: Request, current: unknown): void {
  const wanted = request.headers.get("if-match");
  if (wanted === null || wanted.trim() === "*") return;
  const tags = wanted.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (!tags.includes(etagOf(current)))
    throw new Problem(
      412,
      "precondition_failed",
      "It has changed since you read it. Read it again, then repeat the change.",
    );
}
