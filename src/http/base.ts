/**
 * What every feature's routes start from: `new Elysia().use(base(http))`. Gives handlers `caller` and `answer`, and
 * routes the `access`, `execution`, `limit` and `webhook` options. The gate (gate.ts) enforces them before the framework sees a request.
 */
import { Elysia, status } from "elysia";
import type { Store } from "../store/store.ts";
import { type Access, ANONYMOUS, type Caller } from "./caller.ts";
import { etagOf } from "./etag.ts";
import type { Form } from "./form.ts";
import type { Idempotency, PendingKey } from "./idempotency.ts";
import { parseJson } from "./json-body.ts";
import { boundCursor, ownCursor } from "./list.ts";
import type { RateLimitName } from "./rate-limit.ts";

/** What the gate found out about a request, by request. */
export interface RequestFacts {
  caller: Caller;
  requestId: string;
  pending: PendingKey | null;
  /** As it came, for signatures over the body. */
  rawBody: Uint8Array | null;
  /** A multipart form, its file on the disk. */
  form: Form | null;
}

export interface HttpDeps {
  store: Store;
  idempotency: Idempotency;
  facts: WeakMap<Request, RequestFacts>;
}

export interface Answer {
  /**
   * 201 with `Location`. `create` runs in the transaction that also remembers the answer for its Idempotency-Key;
   * `remembered` is what a repeat may be answered, where the first answer holds a value that is shown once.
   */
  created<T>(
    locationOf: (object: T) => string,
    create: () => T,
    remembered?: (object: T) => unknown,
  ): ReturnType<typeof status<201, T>>;
  /** 200, remembered for its Idempotency-Key like what creates. */
  done<T>(change: () => T): ReturnType<typeof status<200, T>>;
  /** 202 with `Location` of the status. */
  accepted<T>(locationOf: (object: T) => string, create: () => T): ReturnType<typeof status<202, T>>;
  /** 200 with `ETag`, for objects that people edit. */
  tagged<T>(object: T): T;
}

export function base({ store, idempotency, facts }: HttpDeps) {
  return new Elysia({ name: "skep/base" })
    .macro({
      access: (_level: Access) => ({}),
      execution: (_allowed: boolean) => ({}),
      limit: (_name: RateLimitName) => ({}),
      webhook: (_is: boolean) => ({}),
    })
    .onParse({ as: "global" }, ({ request, contentType }) => {
      // From the gate's copy: routes with `parse: "none"` read the request themselves.
      const { rawBody: raw, form } = facts.get(request) ?? {};
      if (form) return { ...form.fields, ...(form.file ? { file: Bun.file(form.file.path) } : {}) };
      const isJson = /^application\/([\w.+-]+\+)?json$/i.test(contentType.trim());
      return raw && isJson ? parseJson(new TextDecoder().decode(raw)) : undefined;
    })
    .onTransform({ as: "global" }, ({ query, request }) => {
      if (typeof query["cursor"] === "string") query["cursor"] = ownCursor(request, query["cursor"]);
    })
    .onAfterHandle({ as: "global" }, ({ response, request }) => {
      // In the page itself: what is returned here would be checked and shaped beside what the handler returned.
      if (isPage(response)) response.next_cursor = boundCursor(request, response.next_cursor);
    })
    .derive({ as: "global" }, ({ request, set }) => {
      const known = facts.get(request);
      const made = <S extends 200 | 201 | 202, T>(
        code: S,
        locationOf: ((object: T) => string) | undefined,
        create: () => T,
        remembered: (object: T) => unknown = (object) => object,
      ) => {
        const object = store.write(() => {
          const result = create();
          if (known?.pending) idempotency.remember(known.pending, code, locationOf?.(result), remembered(result));
          return result;
        });
        if (locationOf) set.headers["Location"] = locationOf(object);
        return status(code, object);
      };
      const answer: Answer = {
        created: (locationOf, create, remembered) => made(201, locationOf, create, remembered),
        done: (change) => made(200, undefined, change),
        accepted: (locationOf, create) => made(202, locationOf, create),
        tagged: (object) => {
          set.headers["ETag"] = etagOf(object);
          return object;
        },
      };
      return { caller: known?.caller ?? ANONYMOUS, answer, upload: known?.form?.file };
    });
}

/** A page that has another after it. */
const isPage = (answer: unknown): answer is { next_cursor: string } =>
  typeof answer === "object" && answer !== null && "next_cursor" in answer && typeof answer.next_cursor === "string";

/** The plugin that features' `routes.ts` take as an argument. */
export type Base = ReturnType<typeof base>;
