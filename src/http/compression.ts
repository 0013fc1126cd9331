/**
 * Compresses answers for clients that accept it: whole texts of more than 1 kB, with gzip or else Brotli. Event
 * streams, parts of files, and what is compressed already are passed on unchanged.
 *
 * Somebody who sees the lengths of many compressed answers that contain both a secret and text of theirs can guess the
 * secret (BREACH). So answers of operations that return credentials (`credential: true`) are never compressed. Neither
 * are answers to requests with a body, because they may repeat the body beside a value that is shown once.
 */

const LEAST_BYTES = 1_024;
/** Longer texts are compressed off the server's thread. */
const AT_ONCE_BYTES = 64_000;
/** Longer texts are not compressed, because that takes seconds. */
const MOST_BYTES = 16_000_000;
const TEXT =
  /^(application\/(json|problem\+json|javascript|yaml)|text\/(html|css|javascript|plain|markdown)|image\/svg\+xml)\b/;

type Coding = "gzip" | "br";

/** The coding to use for the client: gzip if accepted, since it takes less time here, else Brotli. */
export function codingOf(accepted: string | null): Coding | undefined {
  if (!accepted) return undefined;
  const taken = new Map<string, boolean>();
  for (const part of accepted.split(",")) {
    const [name = "", ...parameters] = part
      .trim()
      .toLowerCase()
      .split(";")
      .map((word) => word.trim());
    taken.set(name, !parameters.some((one) => /^q=0(\.0*)?$/.test(one)));
  }
  const isAccepted = (name: Coding) => taken.get(name) ?? taken.get("*") ?? false;
  return isAccepted("gzip") ? "gzip" : isAccepted("br") ? "br" : undefined;
}

/** Compresses an answer if it is a text of some length. Its tag then becomes a weak one, because the bytes differ. */
export async function compress(response: Response, accepted: string | null): Promise<Response> {
  const { headers } = response;
  if (response.status !== 200 || !TEXT.test(headers.get("content-type") ?? "")) return response;
  if (headers.has("content-encoding") || headers.has("accept-ranges")) return response;
  if (!/\baccept-encoding\b/i.test(headers.get("vary") ?? "")) headers.append("Vary", "Accept-Encoding");
  const coding = codingOf(accepted);
  if (!coding || Number(headers.get("content-length") ?? 0) > MOST_BYTES) return response;
  const bytes = await response.arrayBuffer();
  headers.delete("content-length");
  if (bytes.byteLength <= LEAST_BYTES || bytes.byteLength > MOST_BYTES) return new Response(bytes, { headers });
  headers.set("Content-Encoding", coding);
  const tag = headers.get("etag");
  if (tag && !tag.startsWith("W/")) headers.set("ETag", `W/${tag}`);
  return new Response(await encode(bytes, coding), { headers });
}

async function encode(bytes: ArrayBuffer, coding: Coding): Promise<Uint8Array<ArrayBuffer>> {
  if (coding === "gzip" && bytes.byteLength <= AT_ONCE_BYTES) return Bun.gzipSync(bytes);
  const { brotliCompress, constants, gzip } = await import("node:zlib");
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null, made: Buffer<ArrayBuffer>) => (error ? reject(error) : resolve(made));
    if (coding === "gzip") gzip(bytes, settle);
    else brotliCompress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }, settle);
  });
}

/** Answers 304 when the client's copy is still current. */
export function unlessSame(request: Request, response: Response): Response {
  const wanted = request.headers.get("if-none-match");
  const tag = response.headers.get("etag");
  if (wanted === null || tag === null || response.status !== 200) return response;
  const stripWeak = (one: string) => one.trim().replace(/^W\//, "");
  if (wanted.trim() !== "*" && !wanted.split(",").some((one) => stripWeak(one) === stripWeak(tag))) return response;
  const headers = new Headers(response.headers);
  for (const name of ["Content-Encoding", "Content-Type", "Content-Length"]) headers.delete(name);
  return new Response(null, { status: 304, headers });
}
