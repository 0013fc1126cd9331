/**
 * An operation of the API as data: its name, who may call it, what it takes and answers. This one table serves the
 * gate, the scopes of API keys, compression, the OpenAPI document, the access matrix, the tools of /mcp and the command
 * line. `elysia.ts` routes requests to operations, `perform.ts` answers them.
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

/** Schemas by status, or a single schema for 200. 204 alone: the answer is empty. */
type Answers = TSchema | Readonly<Record<number, TSchema>> | 204;

interface Declared {
  access: Access;
  /**
   * Scope that an API key with scopes needs. Default: `read` for a GET, else `write`, or `admin` when an administrator
   * is needed.
   */
  scope?: OperationScope;
  /**
   * The least role in the project that the request names by its path or body, directly or by a run, chat or document.
   * Default: `viewer` for reading, else `contributor`.
   */
  project?: ProjectRole;
  /** Also lets in tokens of running executions; the handler limits them to their own agent. */
  execution?: true;
  /** The answer holds a value that grants access or is shown only once, so it is never compressed. */
  credential?: true;
  /** Name of its own rate limit, counted by address before the credential is checked. */
  limit?: RateLimitName;
  /** Takes a signed body from a service that has no credential; the handler verifies the raw bytes. */
  webhook?: true;
  /** The most bytes of its body, when other bodies may hold fewer. Such a body may take as long as a file. */
  bodyBytes?: number;
  /** Unknown members of the body, and members of another type, are errors; they are not dropped or converted. */
  strict?: true;
  /** Takes a form with a file; the handler gets it as `upload`. */
  upload?: true;
  /** A page, script or style for a person's browser, which is not in the OpenAPI document. */
  hidden?: true;
  /** Texts for the OpenAPI document: the section, a one-line summary, and further details. */
  tag?: string;
  summary?: string;
  description?: string;
  /** Describes, for the OpenAPI document, answers without a schema, and a body that the handler reads itself. */
  documented?: { responses?: Record<number, object>; requestBody?: object };
}

export interface Operation extends Readonly<Omit<Declared, "execution">> {
  /** Unique name, also of the generated client's function: `mergeRun`. */
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly execution: boolean;
  readonly params?: TSchema | undefined;
  readonly query?: TSchema | undefined;
  readonly body?: TSchema | undefined;
  /** Answers by status. */
  readonly answers: Readonly<Record<number, TSchema>>;
  readonly handler: (context: never) => unknown;
}

interface Schemas<Params, Query, Body, A> {
  /** Schema of the path's parameters, when they are more than plain texts. */
  params?: Params;
  query?: Query;
  body?: Body;
  answer?: A;
}

/** What a handler gets; it was validated by the schemas. */
interface Context<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  caller: Caller;
  answer: Answer;
  /** The file of a form, for operations that take one. */
  upload: SpooledFile | undefined;
  request: Request;
  /** The request's path, without a trailing slash. */
  path: string;
  /** The raw body, for webhooks. */
  bytes: Uint8Array | null;
  /** Headers of the answer, and its status. */
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
 * @param name unique, beginning with a verb: `listRuns`, `mergeRun`.
 * @param route for example `GET /v1/runs/:id`.
 * @throws Error when the route does not have this form.
 */
export function defineOperation<
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

/** Sets the section of the OpenAPI document for operations that name none. */
export const tagOperations = (tag: string, list: readonly Operation[]): Operation[] =>
  list.map((one) => (one.tag === undefined && !one.hidden ? { ...one, tag } : one));

/** Delays the answers of operations until `waitUntilDone` has resolved: when their changes are on disk. */
export const answerAfter = (waitUntilDone: () => Promise<void> | void, list: readonly Operation[]): Operation[] =>
  list.map((one) => ({
    ...one,
    async handler(context: never) {
      const result = await one.handler(context);
      await waitUntilDone();
      return result;
    },
  }));
