/** Reading a request's body: whole, bounded, of a type that the route takes. */
import { badRequest, Problem } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import type { RouteEntry } from "./route-table.ts";

/** @throws Problem 413 too large, 415 wrong type. @returns null for no body. */
export async function readBody(request: Request, route: RouteEntry): Promise<Uint8Array | null> {
  const limit = route.uploads ? LIMITS.uploadBytes : LIMITS.bodyBytes;
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > limit) throw tooLarge(limit);
  if (request.body === null) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw badRequest("The body broke off.", "incomplete_body");
    });
    if (done) break;
    size += value.byteLength;
    if (size > limit) {
      await reader.cancel().catch(() => {});
      throw tooLarge(limit);
    }
    chunks.push(value);
  }
  if (size === 0) return null;
  assertType(request.headers.get("content-type") ?? "", route);
  const body = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}

function assertType(type: string, route: RouteEntry): void {
  const media = type.split(";")[0]?.trim().toLowerCase() ?? "";
  if (media === "application/json" || media.endsWith("+json")) return;
  if (route.uploads && media === "multipart/form-data") return;
  const takes = route.uploads ? "application/json or multipart/form-data" : "application/json";
  throw new Problem(415, "unsupported_media_type", `This operation takes ${takes}.`, { headers: { Accept: takes } });
}

const tooLarge = (limit: number) =>
  new Problem(413, "too_large", `The body may hold ${limit} bytes at most.`, { headers: { Connection: "close" } });
