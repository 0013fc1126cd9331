/**
 * Reads request bodies: a form's file to the disk, everything else whole into memory, if its type is one that the route
 * takes. Size, time, and the memory of all current bodies together are limited. A refused body is not read: the runtime
 * drops the rest of it, and the server closes the connection when that takes long (`server.ts`).
 */
import type { Clock } from "../core/clock.ts";
import { badRequest, Problem } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import { takeTurns } from "../core/turns.ts";
import type { Caller } from "./caller.ts";
import { type Form, readForm } from "./form.ts";
import { addressKey } from "./rate-limit.ts";
import type { RouteEntry } from "./route-table.ts";

interface Body {
  /** Null when there is no body. For a form, bytes that identify its content. */
  bytes: Uint8Array | null;
  form?: Form;
  /** Frees its share of the bodies' limits, and removes a form's file. Called once the request is answered. */
  release(): void;
}

export type Bodies = ReturnType<typeof createBodies>;

/** What a body costs in addition to its bytes, so that many empty bodies are limited as well. */
const OVERHEAD_BYTES = 4_096;

/** @param folder where files of forms are kept while their requests are answered. */
export function createBodies(clock: Pick<Clock, "monotonic">, folder: string) {
  const inMemory = createHolds(LIMITS.bodiesBytes, LIMITS.bodiesOfAddressBytes);
  const onDisk = createHolds(LIMITS.uploadsBytes, LIMITS.uploadsOfAddressBytes);
  const read = new WeakSet<Request>();

  /** Passes on the pieces of a body as they come. @throws Problem 408 when it is too slow, 400 when it broke off. */
  async function eachPiece(request: Request, ms: number, take: (piece: Uint8Array) => unknown): Promise<void> {
    const reader = request.body!.getReader();
    // Data that arrived while others were served would otherwise be read without a pause.
    const turn = takeTurns();
    const end = clock.monotonic() + ms;
    for (;;) {
      const { done, value } = await inTime(reader.read(), Math.min(LIMITS.bodySilenceMs, end - clock.monotonic()));
      if (done) return;
      await take(value);
      await turn();
    }
  }
  async function collectBody(
    request: Request,
    { limit, hold, ms }: { limit: number; hold: Hold; ms: number },
  ): Promise<Uint8Array | null> {
    if (request.body === null) return null;
    const announced = Number(request.headers.get("content-length") ?? 0);
    const body = createCollector({ limit, announced, hold });
    await eachPiece(request, ms, body.add);
    return body.bytes();
  }
  async function formOf(request: Request, type: string, hold: Hold): Promise<Body> {
    const reader = await readForm(type, folder);
    const release = () => {
      reader.remove();
      hold.release();
    };
    try {
      let size = 0;
      await eachPiece(request, LIMITS.uploadMs, (piece) => {
        size += piece.byteLength;
        if (size > LIMITS.uploadBytes) throw tooLarge(LIMITS.uploadBytes);
        hold.add(piece.byteLength);
        return reader.add(piece);
      });
      const form = await reader.end();
      // Each attempt of the same request has another boundary, so the fields and the file's digest identify the body.
      const { name, sha256 } = form.file ?? {};
      return { bytes: new TextEncoder().encode(JSON.stringify([form.fields, name, sha256])), form, release };
    } catch (error) {
      release();
      throw error;
    }
  }
  return {
    /** Whether the client may still be sending. */
    isUnread: (request: Request): boolean => request.body !== null && !read.has(request),
    /**
     * @throws Problem 408 too slow, 413 too large, 415 wrong type, 503 when all current bodies together hold too much.
     */
    async read(request: Request, route: RouteEntry, caller: Caller): Promise<Body> {
      const type = request.headers.get("content-type") ?? "";
      const isForm = route.upload && mediaOf(type) === "multipart/form-data" && request.body !== null;
      const limit = isForm ? LIMITS.uploadBytes : limitOf(route);
      if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge(limit);
      const group = route.webhook ? "webhooks" : caller.kind === "anonymous" ? "strangers" : undefined;
      const address = addressKey(caller.address ?? "");
      const hold = inMemory.open(address, group);
      try {
        hold.add(OVERHEAD_BYTES);
        if (isForm) {
          const form = await formOf(request, type, onDisk.open(address, undefined));
          read.add(request);
          const release = () => {
            form.release();
            hold.release();
          };
          return { ...form, release };
        }
        const bytes = await collectBody(request, {
          limit,
          hold,
          ms: route.bodyBytes ? LIMITS.uploadMs : LIMITS.bodyMs,
        });
        read.add(request);
        if (bytes !== null) assertType(type, route);
        return { bytes, release: hold.release };
      } catch (error) {
        hold.release();
        throw error;
      }
    },
  };
}

const mediaOf = (type: string): string => type.split(";")[0]?.trim().toLowerCase() ?? "";

function limitOf({ webhook, access, bodyBytes = LIMITS.bodyBytes }: RouteEntry): number {
  if (webhook) return LIMITS.webhookBytes;
  return access === "public" ? LIMITS.publicBodyBytes : bodyBytes;
}

/** Collects a body in one growing buffer. An object for each small piece would cost more than its bytes. */
function createCollector({ limit, announced, hold }: { limit: number; announced: number; hold: Hold }) {
  // The announced size is reserved at once only up to a limit, because the bytes may never come.
  const expected = Math.min(announced, LIMITS.bodyBytes);
  let buffer: Uint8Array | undefined;
  let size = 0;
  return {
    add(piece: Uint8Array) {
      const before = size;
      size += piece.byteLength;
      if (size > limit) throw tooLarge(limit);
      const capacity = buffer?.byteLength ?? 0;
      if (size > capacity) {
        const grown =
          before === 0 ? piece : Buffer.allocUnsafeSlow(Math.min(limit, Math.max(2 * capacity, size, expected)));
        hold.add(grown.byteLength - capacity);
        if (buffer) grown.set(buffer.subarray(0, before));
        buffer = grown;
      }
      if (buffer !== piece) buffer?.set(piece, before);
    },
    bytes: () => (size === 0 ? null : (buffer?.subarray(0, size) ?? null)),
  };
}

interface Hold {
  /** @throws Problem 503 `too_many_bodies`. */
  add(bytes: number): void;
  release(): void;
}

/** Counts the bytes that bodies hold: in all and per address, with lower limits for strangers and for webhooks. */
function createHolds(all: number, ofAddress: number) {
  const held = new Map<string, number>();
  const assertRoom = (group: string, limit: number) => {
    if ((held.get(group) ?? 0) > limit)
      throw new Problem(503, "too_many_bodies", "Too many request bodies are under way. Try again in a few seconds.", {
        headers: { "Retry-After": "5" },
      });
  };
  return {
    open(address: string, group: "strangers" | "webhooks" | undefined): Hold {
      const limits: [group: string, limit: number][] = [
        ["all", all],
        [`of ${address}`, ofAddress],
      ];
      if (group === "webhooks")
        limits.push(["webhooks", LIMITS.webhooksBytes], [`webhooks ${address}`, LIMITS.webhooksOfAddressBytes]);
      if (group === "strangers")
        limits.push(["strangers", LIMITS.strangersBytes], [`stranger ${address}`, LIMITS.strangersOfAddressBytes]);
      let mine = 0;
      const change = (bytes: number) => {
        mine += bytes;
        for (const [group] of limits) {
          const now = (held.get(group) ?? 0) + bytes;
          if (now > 0) held.set(group, now);
          else held.delete(group);
        }
      };
      return {
        add(bytes) {
          change(bytes);
          for (const [group, limit] of limits) assertRoom(group, limit);
        },
        release: () => change(-mine),
      };
    },
  };
}

/** @throws Problem 408 after `ms`, 400 when the connection broke. */
async function inTime<T>(reading: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(tooSlow()), Math.max(0, ms));
  });
  const broken = reading.catch(() => {
    throw badRequest("The body ended before it was complete.", "incomplete_body");
  });
  try {
    return await Promise.race([broken, late]);
  } finally {
    clearTimeout(timer);
  }
}

function assertType(type: string, route: RouteEntry): void {
  const media = mediaOf(type);
  if (media === "application/json" || media.endsWith("+json")) return;
  const takes = route.upload ? "application/json or multipart/form-data" : "application/json";
  throw new Problem(415, "unsupported_media_type", `This operation takes ${takes}.`, { headers: { Accept: takes } });
}

const tooLarge = (limit: number) => new Problem(413, "too_large", `The body may hold ${limit} bytes at most.`);
/** Nothing is being received, so the connection can close at once. */
const tooSlow = () =>
  new Problem(408, "body_too_slow", "The body did not arrive in time.", { headers: { Connection: "close" } });
