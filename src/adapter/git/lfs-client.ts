/**
 * Fetches objects from a Git LFS server with its batch API. The addresses in its answers are untrusted: the guard
 * resolves each, and the repository's credentials are only sent to the repository's own host.
 * An object is kept only if its size and SHA-256 are right.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { dirname } from "node:path";
import { isProblem, messageOf, Problem } from "../../core/errors.ts";
import { isObject, membersOf, numberIn, textIn } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import type { OpenGuarded } from "../guarded-fetch.ts";

interface LfsObject {
  oid: string;
  size: number;
}

interface LfsFetch {
  /** `https://host/path.git/info/lfs` */
  endpoint: string;
  authorization?: string | undefined;
  open: OpenGuarded;
  objects: readonly LfsObject[];
  /** Path that the object is stored at. */
  pathOf(oid: string): string;
  signal: AbortSignal;
}

const MEDIA_TYPE = "application/vnd.git-lfs+json";
const BATCH_OBJECTS = 100;
const ANSWER_BYTES = 4 * 1024 * 1024;
const HEADERS = 20;
const HEADER_CHARACTERS = 8_000;
const REDIRECTS = 3;
/** A transfer fails when no byte arrives for this long. */
const SILENCE_MS = 30_000;

interface Action {
  href: URL;
  headers: Record<string, string>;
}

/**
 * Downloads objects. @returns the reasons why objects are missing, by oid. @throws Problem 502 `git_failed` when the
 * server refuses the whole request.
 */
export async function fetchObjects(request: LfsFetch): Promise<Map<string, string>> {
  const missing = new Map<string, string>();
  for (let at = 0; at < request.objects.length; at += BATCH_OBJECTS) {
    const objects = request.objects.slice(at, at + BATCH_OBJECTS);
    const actions = await askBatch(request, objects);
    for (const object of objects)
      try {
        const action = actions.get(object.oid);
        if (action === undefined || typeof action === "string")
          throw new Problem(502, "lfs_failed", action ?? "The server does not have it.");
        await download(request, object, action);
      } catch (error) {
        request.signal.throwIfAborted();
        missing.set(
          object.oid,
          isProblem(error) ? error.detail : `It could not be fetched (${messageOf(error).slice(0, 100)}).`,
        );
      }
  }
  return missing;
}

/** Asks how to download each object. @returns the request for each, or the reason why there is none. */
async function askBatch(request: LfsFetch, objects: readonly LfsObject[]): Promise<Map<string, Action | string>> {
  const url = new URL(`${request.endpoint}/objects/batch`);
  const { authorization, signal } = request;
  const body = JSON.stringify({ operation: "download", transfers: ["basic"], objects });
  const headers = {
    Accept: MEDIA_TYPE,
    "Content-Type": MEDIA_TYPE,
    ...(authorization === undefined ? {} : { Authorization: authorization }),
  };
  const response = await request.open(url.href, { method: "POST", headers, body, silenceMs: SILENCE_MS, signal });
  if (response.statusCode !== 200) {
    response.destroy();
    // Callers recognize a refused credential by this wording.
    throw new Problem(502, "git_failed", `The Git LFS server returned error: ${response.statusCode}.`);
  }
  const pieces: Uint8Array[] = [];
  await eachPiece(response, ANSWER_BYTES, (piece) => void pieces.push(piece));
  const answer = membersOf(readJson(Buffer.concat(pieces).toString()));
  const found = new Map<string, Action | string>();
  const items = Array.isArray(answer["objects"]) ? answer["objects"].slice(0, BATCH_OBJECTS) : [];
  for (const item of items) {
    const oid = textIn(item, "oid");
    if (oid === undefined) continue;
    const { actions, error } = membersOf(item);
    const download = membersOf(actions)["download"];
    const href = textIn(download, "href");
    if (isObject(error))
      found.set(oid, `The server says: ${(textIn(error, "message") ?? String(numberIn(error, "code"))).slice(0, 200)}`);
    else if (href !== undefined && URL.canParse(href, url.href))
      found.set(oid, actionOf(new URL(href, url), membersOf(membersOf(download)["header"]), url, authorization));
  }
  return found;
}

function actionOf(href: URL, given: Record<string, unknown>, own: URL, authorization: string | undefined): Action {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given).slice(0, HEADERS))
    if (/^[A-Za-z0-9-]{1,100}$/.test(name) && typeof value === "string" && /^[\x20-\x7e]*$/.test(value))
      if (value.length <= HEADER_CHARACTERS && !/^(host|content-length|transfer-encoding|connection)$/i.test(name))
        headers[name] = value;
  const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  if (authorization !== undefined && !hasOwn && href.origin === own.origin) headers["Authorization"] = authorization;
  return { href, headers };
}

async function download(request: LfsFetch, { oid, size }: LfsObject, action: Action): Promise<void> {
  const response = await openFollowing(request, action);
  const path = request.pathOf(oid);
  const draft = `${path}.${randomUUID()}`;
  await mkdir(dirname(path), { recursive: true });
  const file = await open(draft, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    let bytes = 0;
    await eachPiece(response, size, async (piece) => {
      hash.update(piece);
      bytes += piece.byteLength;
      await file.writeFile(piece);
    });
    if (bytes !== size || hash.digest("hex") !== oid)
      throw new Problem(502, "lfs_damaged", "What the server sent is not the content that the pointer names.");
    await file.close();
    await rename(draft, path);
  } finally {
    response.destroy();
    await file.close().catch(() => {});
    await rm(draft, { force: true });
  }
}

/** Sends the request and follows redirects. Headers for one host are not sent to another. */
async function openFollowing(request: LfsFetch, { href, headers }: Action): Promise<IncomingMessage> {
  let url = href;
  let sent = headers;
  for (let hops = 0; hops <= REDIRECTS; hops++) {
    const wanted = { method: "GET", headers: sent, silenceMs: SILENCE_MS, signal: request.signal } as const;
    const response = await request.open(url.href, wanted);
    if (response.statusCode === 200) return response;
    response.destroy();
    const { location } = response.headers;
    const isRedirect = response.statusCode !== undefined && response.statusCode >= 300 && response.statusCode < 400;
    if (!isRedirect || location === undefined || !URL.canParse(location, url.href))
      throw new Problem(502, "lfs_failed", `The server answered ${response.statusCode}.`);
    const next = new URL(location, url);
    if (next.origin !== url.origin) sent = {};
    url = next;
  }
  throw new Problem(502, "lfs_failed", `The address redirects more than ${REDIRECTS} times.`);
}

/** Passes on the pieces of the body. @throws Problem 502 when it has more than `most` bytes. */
async function eachPiece(
  response: IncomingMessage,
  most: number,
  take: (piece: Uint8Array) => void | Promise<void>,
): Promise<void> {
  let bytes = 0;
  for await (const piece of response) {
    bytes += piece.byteLength;
    if (bytes > most) {
      response.destroy();
      throw new Problem(502, "lfs_too_large", "The server sent more than it should.");
    }
    await take(piece);
  }
}
