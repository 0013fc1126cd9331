/** A client for a local or remote server: JSON calls, and an event stream that continues after a broken connection. */

import { EventSourceParserStream } from "eventsource-parser/stream";
import type { AnswerOf, Method, Rest } from "../../api/types.ts";
import { badUsage, codeOf, type FieldError, messageOf, Problem } from "../../core/errors.ts";
import type { SkepEvent } from "../../core/events.ts";
import { listIn, membersOf, textIn } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { ownJson } from "../../core/own-json.ts";
import { nameMissing, type Question } from "./name-missing.ts";

type FormFields = Readonly<Record<string, string | undefined>>;

export type Client = ReturnType<typeof createClient>;

/** How often a broken stream is retried, with increasing pauses. */
const STREAM_TRIES = 10;

/**
 * Serializes a body. @throws Problem 422 `bad_usage` for a number that JSON cannot hold, such as 1e400 or NaN. JSON would
 * turn it into null, and null removes a limit.
 */
const writeBody = (body: unknown): string =>
  JSON.stringify(body, (name, value: unknown) => {
    if (typeof value === "number" && !Number.isFinite(value))
      throw badUsage(`${name}${Number.isNaN(value) ? " must be a number." : ": the number is too large to be sent."}`);
    return value;
  });

/** @param data the server's data folder, if it is on this machine. */
export function createClient(url: string, token?: string, data?: string) {
  const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {};
  const reach = async (path: string, init: RequestInit): Promise<Response> => {
    let answer: Response;
    try {
      answer = await fetch(`${url}${path}`, { ...init, redirect: "manual" });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw createUnreachableProblem(url, error);
    }
    const target = answer.headers.get("Location");
    if (answer.status >= 300 && answer.status < 400 && target) throw createRedirectProblem(url, path, target);
    if (!answer.ok) throw await problemOf(url, answer, { path, body: init.body });
    return answer;
  };
  async function bodyOf<T>(answer: Response): Promise<T> {
    const text = await readToEnd(answer.text());
    try {
      return ownJson<T>(text || "{}");
    } catch {
      throw createStrangerProblem(url);
    }
  }
  /** Reads an answer to its end and reports a connection that breaks meanwhile. */
  const readToEnd = <T>(reading: Promise<T>): Promise<T> =>
    reading.catch((error: unknown) => {
      throw createUnreachableProblem(url, error);
    });
  const fetchBody = async <T>(path: string, init: RequestInit): Promise<T> => bodyOf<T>(await reach(path, init));
  function send<T>(method: Method, path: string, body: unknown, ifMatch: unknown): Promise<T> {
    const json = body === undefined ? {} : { body: writeBody(body) };
    const condition: Record<string, string> = typeof ifMatch === "string" ? { "If-Match": ifMatch } : {};
    const all = { ...headers, ...condition, "Content-Type": "application/json" };
    return fetchBody<T>(path, { method, headers: all, ...json });
  }
  return {
    url,
    data,
    /**
     * Calls an operation of the API, with the types of its request and answer.
     * @param address `/v1/runs/${id}`, with its query; the OpenAPI document has an operation for it.
     * @param rest the body, and the ETag of what was read: the server answers 412 if that has changed since.
     */
    call: <M extends Method, const Address extends string>(
      method: M,
      address: Address,
      ...[body, ifMatch]: Rest<M, Address, [ifMatch?: string]>
    ): Promise<AnswerOf<M, Address>> => send(method, address, body, ifMatch),
    /** Like `call`, for an address that is known only at run time, such as that of any resource. */
    ask: <T>(method: Method, path: string, body?: unknown, ifMatch?: string): Promise<T> =>
      send(method, path, body, ifMatch),
    /** Reads an object that is to be changed, with its ETag. */
    async readTagged<T = Record<string, unknown>>(path: string) {
      const answer = await reach(path, { headers });
      const body = await bodyOf<T>(answer);
      return { body, tag: answer.headers.get("ETag") ?? undefined };
    },
    /** Uploads a file as form data. */
    upload<T = Record<string, unknown>>(path: string, file: File, fields: FormFields = {}) {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.append(name, value);
      body.append("file", file);
      return fetchBody<T>(path, { method: "POST", headers, body });
    },
    /** Reads an answer as text. */
    text: (path: string): Promise<string> =>
      reach(path, { headers: { ...headers, Accept: "text/plain" } }).then((answer) => readToEnd(answer.text())),
    /** Sends JSON and receives a file's bytes. */
    async file(path: string, body: unknown) {
      const all = { ...headers, "Content-Type": "application/json" };
      const answer = await reach(path, { method: "POST", headers: all, body: writeBody(body) });
      return { bytes: await readToEnd(answer.bytes()), headers: answer.headers };
    },
    /** Yields the events of a stream, over broken connections, until the server ends the stream or `signal` aborts. */
    async *events(path: string, signal: AbortSignal): AsyncGenerator<SkepEvent> {
      let last = 0;
      let fails = 0;
      while (!signal.aborted) {
        try {
          const at: Record<string, string> = last > 0 ? { "Last-Event-ID": String(last) } : {};
          const answer = await reach(path, { headers: { ...headers, ...at, Accept: "text/event-stream" }, signal });
          // 204: what was followed has ended, and all its events were read.
          if (answer.status === 204 || !answer.body) return;
          fails = 0;
          for await (const event of parseEvents(answer.body)) {
            last = event.id ?? last;
            yield event;
          }
          return;
        } catch (error) {
          if (signal.aborted) return;
          const refused = error instanceof Problem && error.status < 500;
          if (refused || ++fails > STREAM_TRIES) throw error;
          await Bun.sleep(Math.min(200 * 2 ** fails, 5_000));
        }
      }
    },
  };
}

export const noServer = (detail: string) => new Problem(503, "no_server", detail);
const createStrangerProblem = (url: string) => noServer(`What answers at ${url} is not Skep. Look at the address.`);

/** Reports a redirect without following it: the token and secrets are meant only for the address that was named. */
function createRedirectProblem(url: string, path: string, target: string): Problem {
  const wanted = URL.canParse(target, url) ? new URL(target, url).href : target;
  const address = wanted.endsWith(path) ? wanted.slice(0, -path.length) : wanted;
  return noServer(`${url} sends you on to ${address}. Use that address if you trust it: --url ${address}`);
}

/** Describes a failed connection: what failed and what to do. */
function createUnreachableProblem(url: string, error: unknown): Problem {
  const [code, message] = [codeOf(error) ?? "", messageOf(error)];
  if (code === "EPROTO" || /WRONG_VERSION|TLS handshake/.test(`${code} ${message}`))
    return noServer(`${url} does not speak TLS. Is it http:// rather than https://?`);
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return noServer(`TLS: the certificate of ${url} is for another name.`);
  if (/CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(code)) {
    const why =
      code === "CERT_HAS_EXPIRED" ? "has expired" : `is not trusted (${code.toLowerCase().replaceAll("_", " ")})`;
    return noServer(`TLS: the certificate of ${url} ${why}. Trust an authority of your own with SSL_CERT_FILE=FILE.`);
  }
  if (code === "ENOTFOUND") return noServer(`The host name in ${url} cannot be resolved.`);
  if (/^(ECONNRESET|ConnectionClosed|EPIPE|UnexpectedEOF)$/.test(code))
    return noServer(`The connection to ${url} broke off. Is the server still running? Try again.`);
  return noServer(`${url} does not answer. Is the server running?`);
}

async function problemOf(url: string, answer: Response, question: Question): Promise<Problem> {
  const body = await answer
    .text()
    .then(readJson)
    .catch(() => undefined);
  const [code, detail, errors] = [textIn(body, "code"), textIn(body, "detail"), fieldErrorsIn(body)];
  if (code === undefined && answer.status < 500 && answer.status !== 401) return createStrangerProblem(url);
  // Somebody who is logging in needs no advice to log in.
  const isLogin = answer.url.includes("/v1/auth/login");
  const hint =
    answer.status === 401 && !isLogin ? " Log in with: skep login, or set SKEP_TOKEN to a key of this server." : "";
  const said =
    detail === undefined ? `${url} answered ${answer.status}.` : withFields(nameMissing(detail, question), errors);
  return new Problem(answer.status, code ?? "error", `${said}${hint}`, {
    errors,
    data: membersOf(body),
  });
}

/** Reads the field errors of an answer. The answer need not come from Skep, so everything else in it is ignored. */
function fieldErrorsIn(body: unknown): FieldError[] {
  return listIn(body, "errors").flatMap((one) => {
    const [pointer, message] = [textIn(one, "pointer"), textIn(one, "message")];
    return pointer === undefined || message === undefined ? [] : [{ pointer, message }];
  });
}

/** How many fields are named. */
const FIELDS_MAX = 20;

/** Adds to the detail what it does not say about each field: one field on the same line, several on a line each. */
function withFields(detail: string, errors: readonly FieldError[]): string {
  const fields = errors.map(({ pointer, message }) => ({
    name: pointer.replace(/^\//, "").replaceAll("/", "."),
    message: message.replace(/\.$/, ""),
  }));
  const [first] = fields;
  if (errors.length === 1 && first?.name && detail.includes(first.message) && !detail.includes(first.name))
    return isInText(first.message) ? detail : `${first.name}: ${detail}`;
  const unsaid = fields.filter(({ name, message }) => !(detail.includes(name) && detail.includes(message)));
  const named = unsaid.map(({ name, message }) =>
    isInText(message) || name === "" ? `${message}.` : `${name}: ${message}.`,
  );
  if (errors.length < 2) return [detail, ...named].join(" ");
  const more = named.length - FIELDS_MAX;
  const lines = [...named.slice(0, FIELDS_MAX), ...(more > 0 ? [`And ${more} more.`] : [])];
  // Problems in a text already say where they are, and the detail only repeats the first of them.
  const head = fields.every(({ message }) => isInText(message)) ? `${fields.length} problems:` : detail;
  return [head, ...lines.map((line) => `  ${line.replace(/([.?])\.$/, "$1")}`)].join("\n");
}

/** Whether a message says where in a text the problem is. That is more precise than the field's path. */
const isInText = (message: string): boolean => /^Line \d+/.test(message);

/** Parses the server's event stream; `gap` frames have no id. */
async function* parseEvents(body: NonNullable<Response["body"]>): AsyncGenerator<SkepEvent> {
  const frames = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { data } of frames) yield ownJson<SkepEvent>(data);
}
