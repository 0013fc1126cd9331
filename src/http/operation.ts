/**
 * An operation of the API as data: what it is called, who may ask for it, what it takes and answers. One table of them is
 * read by the gate, the scopes of API keys, the compression, the OpenAPI document, the access matrix, the tools of /mcp and
 * the command line. `elysia.ts` routes requests to them, `perform.ts` answers.
 */
import { Kind, type Static, type StaticDecode, type TOptional, type TSchema, Type } from "@sinclair/typebox";
import type { ProjectRole } from "../core/ownership.ts";
import type { Answer, PathNames, Reply, Setting } from "./answer.ts";
import type { Access, Caller } from "./caller.ts";
import type { SpooledFile } from "./form.ts";
import type { RateLimitName } from "./rate-limit.ts";
import type { OperationScope } from "./scopes.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
/** Method and path with `:name` parameters: `POST /v1/runs/:id/merge`. */
type Route = `${Method} /${string}`;

/** Schemas by status, where it is not 200 alone. 204 as a whole: nothing is answered. */
type Answers = TSchema | Readonly<Record<number, TSchema>> | 204;

interface Declared {
  access: Access;
  /** Which API keys with scopes may ask; by default `read` for a GET, else `write`, `admin` where an administrator is needed. */
  scope?: OperationScope;
  /**
   * The least role in the project that it names, by its path or body, or whose run, chat or document it names. By default
   * `viewer` for a question, else `contributor`.
   */
  project?: ProjectRole;
  /** Tokens of running executions are let in too; the handler limits them to their own agent. */
  execution?: true;
  /** The answer holds a value that lets somebody in or is shown once: it is never compressed. */
  credential?: true;
  /** A limit of its own, by address, before the credential is looked at. */
  limit?: RateLimitName;
  /** Takes a signed body, of a service that has no credential; the handler reads its bytes. */
  webhook?: true;
  /** Most bytes of its body, where that is more than of others; it may take as long as a file. */
  bodyBytes?: number;
  /** A member of the body that the schema does not name, or of another type, is an error; it is not dropped or converted. */
  strict?: true;
  /** Takes a form with a file, `upload` in the handler. */
  upload?: true;
  /** The page, script or style of a person's browser: not in the OpenAPI document. */
  hidden?: true;
  /** Words of the OpenAPI document: the section, one line, and what else is to be known. */
  tag?: string;
  summary?: string;
  description?: string;
  /** What the OpenAPI document says of answers that no schema describes, and of a body that the handler reads itself. */
  documented?: { responses?: Record<number, object>; requestBody?: object };
}

export interface Operation extends Readonly<Omit<Declared, "execution">> {
  /** Unique; the name of the generated client's function: `mergeRun`. */
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly execution: boolean;
  readonly params?: TSchema | undefined;
  readonly query?: TSchema | undefined;
  readonly body?: TSchema | undefined;
  /** By status. */
  readonly answers: Readonly<Record<number, TSchema>>;
  readonly handler: (context: never) => unknown;
}

interface Schemas<Params, Query, Body, A> {
  /** Where a parameter is more than text. */
  params?: Params;
  query?: Query;
  body?: Body;
  answer?: A;
}

/** What a handler gets, checked by the schemas. */
interface Context<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  caller: Caller;
  answer: Answer;
  /** The file of a form, in operations that take one. */
  upload: SpooledFile | undefined;
  request: Request;
  /** The request's path, without a slash at its end. */
  path: string;
  /** The body as it came, of a webhook. */
  bytes: Uint8Array | null;
  /** Headers of the answer. */
  set: Setting;
}

type ParamsOf<Params, R extends Route> = [Params] extends [TSchema]
  ? StaticDecode<Params>
  : Record<PathNames<R>, string>;
type QueryOf<Query> = [Query] extends [TSchema] ? StaticDecode<Query> : Record<string, string>;
type BodyOf<Body> = [Body] extends [TOptional<infer B>]
  ? StaticDecode<B> | undefined
  : [Body] extends [TSchema]
    ? StaticDecode<Body>
    : unknown;
type AnswerOf<A> = [A] extends [204]
  ? undefined
  : [A] extends [TSchema]
    ? Static<A>
    : [A] extends [Readonly<Record<number, TSchema>>]
      ? { [Status in keyof A]: A[Status] extends TSchema ? Static<A[Status]> : never }[keyof A]
      : unknown;
/** What a handler returns. Nothing at all belongs to 204. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler that answers nothing returns nothing.
type Result<A> = AnswerOf<A> | Response | Reply<AnswerOf<A>> | ([A] extends [204] ? void : never);

/**
 * @param name unique, a verb first: `listRuns`, `mergeRun`.
 * @param route `GET /v1/runs/:id`.
 * @throws Error for a route that is not of that form.
 */
export function operation<
  const R extends Route,
  const A extends Answers | undefined = undefined,
  Params extends TSchema | undefined = undefined,
  Query extends TSchema | undefined = undefined,
  Body extends TSchema | undefined = undefined,
>(
  name: string,
  route: R,
  {
    answer,
    ...declared
  }: Declared &
    Schemas<Params, Query, Body, A> & {
      handler(context: Context<ParamsOf<Params, R>, QueryOf<Query>, BodyOf<Body>>): Result<A> | Promise<Result<A>>;
    },
): Operation {
  const [, method, path] = /^([A-Z]+) (\/.*)$/.exec(route) ?? [];
  if (!isMethod(method) || path === undefined) throw new Error(`${route} is no route: write "GET /v1/things".`);
  return { ...declared, execution: declared.execution ?? false, name, method, path, answers: answersOf(answer) };
}

const METHODS: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE"] satisfies Method[];
const isMethod = (text: string | undefined): text is Method => text !== undefined && METHODS.includes(text);

const isSchema = (answer: Exclude<Answers, 204>): answer is TSchema => Kind in answer;

function answersOf(answer: Answers | undefined): Operation["answers"] {
  if (answer === undefined) return {};
  if (answer === 204) return { 204: Type.Void() };
  return isSchema(answer) ? { 200: answer } : answer;
}

/** Gives operations the section of the OpenAPI document that they stand in, where they name none. */
export const operations = (tag: string, list: readonly Operation[]): Operation[] =>
  list.map((one) => (one.tag === undefined && !one.hidden ? { ...one, tag } : one));

/** Operations that answer once `done` has resolved, too: when what they changed is on the disk. */
export const answeredAfter = (done: () => Promise<void> | void, list: readonly Operation[]): Operation[] =>
  list.map((one) => ({
    ...one,
    async handler(context: never) {
      const result = await one.handler(context);
      await done();
      return result;
    },
  }));
