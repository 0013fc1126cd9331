/**
 * Answers an admitted request for one operation: reads and validates its input, calls the handler, and shapes the
 * answer.
 */
import { OptionalKind, type TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";
import { memoize } from "../core/lazy.ts";
import type { Logger } from "../core/log.ts";
import type { Masking } from "../core/masking.ts";
import { type AnswerDeps, createAnswer, Reply, type Setting } from "./answer.ts";
import { createShaper } from "./answer-shape.ts";
import type { Asked } from "./asked.ts";
import { parseJson } from "./json-body.ts";
import { boundCursor, ownCursor } from "./list.ts";
import type { Operation } from "./operation.ts";
import { problemResponse, toProblem, validationProblem } from "./problem.ts";
import type { ProjectGate } from "./project-gate.ts";
import { readStrictly } from "./strict-body.ts";

export interface PerformDeps extends AnswerDeps {
  log: Logger;
  masking: Pick<Masking, "text">;
  /** Throws Problem when the caller's role in a project that the input names does not allow the operation. */
  assertRole: ProjectGate;
  /** Whether an answer that violates its schema becomes a 500: for development and tests. */
  checkAnswers: boolean;
}

/** Never throws: an error of the handler is answered as a problem. */
export type Perform = (asked: Asked) => Promise<Response>;

export function createPerform(operation: Operation, deps: PerformDeps): Perform {
  const { log, masking, checkAnswers } = deps;
  const readInput = memoize(() => inputReader(operation));
  const shaper = memoize(() => shapersOf(operation, checkAnswers));
  const handler = operation.handler as (context: Record<string, unknown>) => unknown;
  const usual = onlyEmpty(operation) ? 204 : 200;
  return async (asked) => {
    const { caller, request, requestId, path, pending, form, bytes } = asked;
    try {
      const input = readInput()(asked);
      deps.assertRole(operation, input, caller);
      const set: Setting = { headers: {} };
      const shape = shaper();
      const answer = createAnswer(deps, pending, set, shape);
      const result = await handler({ ...input, caller, answer, upload: form?.file, request, path, bytes, set });
      if (result instanceof Response) return withHeaders(result, set);
      const { status, value } = result instanceof Reply ? result : { status: set.status ?? usual, value: result };
      const shaped = shape(status, value);
      // `shaped` is a copy, so it may be changed. The cursor is bound to this list.
      if (isPage(shaped)) shaped.next_cursor = boundCursor(path, shaped.next_cursor);
      return respond(status, shaped, set);
    } catch (error) {
      const { problem, internal } = toProblem(error);
      if (internal) log.error({ requestId, path, err: error }, "request failed");
      return problemResponse(problem, { requestId, path, mask: masking.text });
    }
  };
}

const onlyEmpty = ({ answers }: Operation): boolean => 204 in answers && Object.keys(answers).length === 1;

/** Whether the answer is a page with another page after it. */
const isPage = (answer: unknown): answer is { next_cursor: string } =>
  typeof answer === "object" && answer !== null && "next_cursor" in answer && typeof answer.next_cursor === "string";

interface Input {
  params: unknown;
  query: unknown;
  body: unknown;
}

/** @returns a function that reads an operation's input. It throws Problem 400, 422. */
function inputReader({ params, query, body, strict, webhook }: Operation): (asked: Asked) => Input {
  const readParams = params && checkerOf("params", params);
  const readQuery = query && checkerOf("query", query);
  const readBody = body && !strict && checkerOf("body", body);
  return (asked) => {
    const sent = webhook ? undefined : bodyOf(asked);
    const strictly = strict && body ? readStrictly(asked.bytes, body) : undefined;
    const words: Record<string, string> = Object.fromEntries(asked.query);
    if (words["cursor"] !== undefined) words["cursor"] = ownCursor(asked.path, words["cursor"]);
    return {
      params: readParams ? readParams(asked.params) : asked.params,
      query: readQuery ? readQuery(words) : words,
      body: readBody ? readBody(sent) : (strictly ?? sent),
    };
  };
}

/** @throws Problem 400 when it is not JSON. */
function bodyOf({ form, bytes }: Asked): unknown {
  if (form) return { ...form.fields, ...(form.file ? { file: Bun.file(form.file.path) } : {}) };
  return bytes ? parseJson(new TextDecoder().decode(bytes)) : undefined;
}

/**
 * @returns a function that fills in defaults, drops members that the schema does not name, and throws Problem 422 for
 *   an invalid value.
 */
function checkerOf(where: "params" | "query" | "body", schema: TSchema): (value: unknown) => unknown {
  const checked = TypeCompiler.Compile(schema);
  const mayLack = OptionalKind in schema;
  return (given) => {
    if (mayLack && given === undefined) return undefined;
    const value = Value.Clean(schema, Value.Default(schema, given));
    if (!checked.Check(value)) throw validationProblem(where, checked.Errors(value));
    return checked.Decode(value);
  };
}

/** @returns a function that shapes a value by the schema of its status. */
function shapersOf({ answers }: Operation, check: boolean): (status: number, value: unknown) => unknown {
  const shapers = new Map(
    Object.entries(answers).map(([status, schema]) => [Number(status), createShaper(schema, check)]),
  );
  return (status, value) => shapers.get(status)?.(value) ?? value;
}

function withHeaders(response: Response, { headers }: Setting): Response {
  for (const [name, value] of Object.entries(headers)) setHeader(response.headers, name, value);
  return response;
}

function setHeader(headers: Headers, name: string, value: string | readonly string[]): void {
  if (typeof value === "string") headers.set(name, value);
  else for (const one of value) headers.append(name, one);
}

function respond(status: number, value: unknown, set: Setting): Response {
  if (value === undefined || status === 204) return withHeaders(new Response(null, { status }), set);
  const headers = { "Content-Type": "application/json;charset=utf-8" };
  return withHeaders(new Response(JSON.stringify(value), { status, headers }), set);
}
