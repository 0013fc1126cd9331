/**
 * The one place that knows the framework: it routes requests to operations, checks what they take and shapes what they
 * answer. The gate (gate.ts) has decided about a request before it comes here.
 */
import type { TSchema } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { invalid } from "../core/errors.ts";
import { isObject } from "../core/is-object.ts";
import type { Logger } from "../core/log.ts";
import type { Masking } from "../core/masking.ts";
import { type AnswerDeps, createAnswer } from "./answer.ts";
import { withStandard } from "./answer-shape.ts";
import { ANONYMOUS } from "./caller.ts";
import type { RequestFacts } from "./facts.ts";
import { parseJson } from "./json-body.ts";
import { boundCursor, ownCursor } from "./list.ts";
import type { Operation } from "./operation.ts";
import { problemResponse, toProblem } from "./problem.ts";
import { readStrictly, strictBody } from "./strict-body.ts";

export interface FrameworkDeps extends AnswerDeps {
  facts: WeakMap<Request, RequestFacts>;
  log: Logger;
  masking: Pick<Masking, "text">;
  /** Whether an answer that does not match its schema becomes a 500: for development and tests. */
  checkAnswers: boolean;
}

type Handler = (context: Record<string, unknown>) => unknown;

/** An application that answers requests for these operations. */
export function serveOperations(operations: readonly Operation[], deps: FrameworkDeps): AnyElysia {
  const app: AnyElysia = new Elysia();
  addProblems(app, deps);
  addContext(app, deps);
  const router: Router = app;
  for (const operation of operations) addRoute(router, operation, deps);
  return app;
}

/** The framework's own type of this method follows from all routes before. */
interface Router {
  route(method: string, path: string, handler: Handler, hooks: object): unknown;
}

function addRoute(app: Router, operation: Operation, { facts, checkAnswers }: FrameworkDeps): void {
  const { method, path, params, query, body, answers, upload, webhook, strict, hidden, tag, summary } = operation;
  const { responses, requestBody = strict && body && strictBody(body) } = operation.documented ?? {};
  const described = Object.entries(answers).map(([status, schema]) => [status, withStandard(schema, checkAnswers)]);
  const handler = operation.handler as Handler;
  app.route(method, path, handler, {
    ...(params ? { params } : {}),
    ...(query ? { query } : {}),
    ...(body && !strict ? { body } : {}),
    ...(upload ? { type: "multipart/form-data" } : {}),
    ...(strict && body ? { transform: strictly(body, facts) } : {}),
    ...(!strict && body?.type === "object" && !upload ? { transform: assertObject } : {}),
    ...(webhook ? { parse: "none" } : {}),
    ...(204 in answers && Object.keys(answers).length === 1 ? { afterHandle: answerNothing } : {}),
    // Without schemas there is no `response`: it would hide what is documented.
    ...(described.length > 0 ? { response: Object.fromEntries(described) } : {}),
    detail: hidden
      ? { hide: true }
      : {
          ...{ tags: tag === undefined ? [] : [tag], summary, description: operation.description },
          ...(responses ? { responses } : {}),
          ...(requestBody ? { requestBody } : {}),
        },
  });
}

/** From the bytes as they came: what the parser drops (`__proto__`) is an error here. */
const strictly =
  (schema: TSchema, facts: FrameworkDeps["facts"]) =>
  (context: { request: Request; body: unknown }): void => {
    context.body = readStrictly(facts.get(context.request)?.rawBody, schema);
  };

/** The framework would take lists, numbers and text for objects without members. @throws Problem 422. */
function assertObject({ body }: { body: unknown }): void {
  if (body !== undefined && !isObject(body))
    throw invalid("The body must be an object.", [{ pointer: "/", message: "must be an object" }]);
}

function answerNothing({ set }: { set: { status?: number | string } }): void {
  set.status = 204;
}

/** What a handler or the framework throws, as a problem document. */
function addProblems(app: AnyElysia, { facts, log, masking }: FrameworkDeps): void {
  app.onError(({ error, code, request }) => {
    const requestId = facts.get(request)?.requestId ?? "unknown";
    const path = new URL(request.url).pathname;
    const { problem, internal } = toProblem(error, code);
    if (internal) log.error({ requestId, path, err: error }, "request failed");
    return problemResponse(problem, { requestId, path, mask: masking.text });
  });
}

/** What handlers get beside what the framework gives them, and cursors that belong to one list alone. */
function addContext(app: AnyElysia, { facts, ...deps }: FrameworkDeps): void {
  app
    .onParse(({ request, contentType }) => {
      // From the gate's copy: webhooks read the request themselves.
      const { rawBody: raw, form } = facts.get(request) ?? {};
      if (form) return { ...form.fields, ...(form.file ? { file: Bun.file(form.file.path) } : {}) };
      const isJson = /^application\/([\w.+-]+\+)?json$/i.test(contentType.trim());
      return raw && isJson ? parseJson(new TextDecoder().decode(raw)) : undefined;
    })
    .onTransform(({ query, request }) => {
      if (typeof query["cursor"] === "string") query["cursor"] = ownCursor(request, query["cursor"]);
    })
    .derive(({ request, set }) => {
      const known = facts.get(request);
      return {
        caller: known?.caller ?? ANONYMOUS,
        answer: createAnswer(deps, known?.pending, set),
        upload: known?.form?.file,
      };
    })
    .onAfterHandle(({ response, request }) => {
      // In the page itself: what is returned here would be checked and shaped beside what the handler returned.
      if (isPage(response)) response.next_cursor = boundCursor(request, response.next_cursor);
    });
}

/** A page that has another after it. */
const isPage = (answer: unknown): answer is { next_cursor: string } =>
  typeof answer === "object" && answer !== null && "next_cursor" in answer && typeof answer.next_cursor === "string";
