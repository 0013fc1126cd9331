/**
 * Lets handlers answer with more than a value: another status, `Location`, `ETag`, and the answer stored for an
 * Idempotency-Key.
 */
import type { Store } from "../store/store.ts";
import { etagOf } from "./etag.ts";
import type { Idempotency, PendingKey } from "./idempotency.ts";

/** Headers of the answer, and its status when it is not the operation's usual one. */
export interface Setting {
  headers: Record<string, string | readonly string[]>;
  status?: number;
}

/** A value together with the status of its answer. */
export class Reply<T> {
  constructor(
    readonly status: 200 | 201 | 202,
    readonly value: T,
  ) {}
}

/** Names of a path's parameters: `id` for `/v1/notes/:id`. */
export type PathNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;
/** An object with the members that the path names. */
type Named<Path extends string> = Record<PathNames<Path>, string | null>;
/** Where an object is found: a path with names of its members (`/v1/notes/:id`), or a function that makes the path. */
type Place<T, Path = `/${string}`> = Path | ((object: T) => string);

const locationOf = <T>(place: Place<T>, object: T): string =>
  typeof place === "function"
    ? place(object)
    : place.replaceAll(/:(\w+)/g, (_, name: keyof T & string) => String(object[name]));

export type Answer = ReturnType<typeof createAnswer>;

export interface AnswerDeps {
  store: Pick<Store, "write">;
  idempotency: Idempotency;
}

/**
 * @param pending the request's Idempotency-Key, if it has a new one.
 * @param shape removes members that the schema of the answer's status does not name.
 */
export function createAnswer(
  { store, idempotency }: AnswerDeps,
  pending: PendingKey | null | undefined,
  set: Setting,
  shape: (status: number, value: unknown) => unknown,
) {
  const make = <S extends 200 | 201 | 202, T>(
    code: S,
    place: Place<T> | undefined,
    create: () => T,
    toStored: (object: T) => unknown = (object) => object,
  ) => {
    const object = store.write(() => {
      const result = create();
      if (pending)
        idempotency.remember(pending, code, place && locationOf(place, result), shape(code, toStored(result)));
      return result;
    });
    if (place) set.headers["Location"] = locationOf(place, object);
    return new Reply(code, object);
  };
  return {
    /**
     * Answers 201 with `Location`. `create` runs in the transaction that also stores the answer for its
     * Idempotency-Key. `toStored` makes the stored answer when the first one holds a value that is shown only once.
     */
    created: <const Path extends `/${string}`, T extends Named<Path>>(
      place: Place<T, Path>,
      create: () => T,
      toStored?: (object: T) => unknown,
    ): Reply<T> => make(201, place, create, toStored),
    /** Answers 200, stored for its Idempotency-Key as with `created`. */
    perform: <T>(change: () => T): Reply<T> => make(200, undefined, change),
    /** Answers 202 with the `Location` of the status. */
    accepted: <const Path extends `/${string}`, T extends Named<Path>>(
      place: Place<T, Path>,
      create: () => T,
    ): Reply<T> => make(202, place, create),
    /** Answers with this one of several statuses that the operation names. */
    as: <T>(code: 200 | 201 | 202, object: T): Reply<T> => new Reply(code, object),
    /** Answers 200 with `ETag`, for objects that people edit. */
    tag<T>(object: T): T {
      set.headers["ETag"] = etagOf(object);
      return object;
    },
  };
}
