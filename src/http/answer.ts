/** How handlers answer with more than a value: another status, `Location`, `ETag`, and what an Idempotency-Key remembers. */
import type { Store } from "../store/store.ts";
import { etagOf } from "./etag.ts";
import type { Idempotency, PendingKey } from "./idempotency.ts";

/** Headers of the answer, and its status where it is not the usual one. */
export interface Setting {
  headers: Record<string, string | readonly string[]>;
  status?: number;
}

/** A value with the status that it is answered with. */
export class Reply<T> {
  constructor(
    readonly status: 200 | 201 | 202,
    readonly value: T,
  ) {}
}

/** What a path names: `id` of `/v1/notes/:id`. */
export type PathNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;
/** Has the members that the path names. */
type Named<Path extends string> = Record<PathNames<Path>, string | null>;
/** Where an object is found: its path, with the names of members of it (`/v1/notes/:id`), or what makes the path of it. */
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
 * @param pending the request's Idempotency-Key, where it has one that is new.
 * @param shape leaves out of an answer what the schema of its status does not name.
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
    remembered: (object: T) => unknown = (object) => object,
  ) => {
    const object = store.write(() => {
      const result = create();
      if (pending)
        idempotency.remember(pending, code, place && locationOf(place, result), shape(code, remembered(result)));
      return result;
    });
    if (place) set.headers["Location"] = locationOf(place, object);
    return new Reply(code, object);
  };
  return {
    /**
     * 201 with `Location`. `create` runs in the transaction that also remembers the answer for its Idempotency-Key;
     * `remembered` is what a repeat may be answered, where the first answer holds a value that is shown once.
     */
    created: <const Path extends `/${string}`, T extends Named<Path>>(
      place: Place<T, Path>,
      create: () => T,
      remembered?: (object: T) => unknown,
    ): Reply<T> => make(201, place, create, remembered),
    /** 200, remembered for its Idempotency-Key like what creates. */
    done: <T>(change: () => T): Reply<T> => make(200, undefined, change),
    /** 202 with `Location` of the status. */
    accepted: <const Path extends `/${string}`, T extends Named<Path>>(
      place: Place<T, Path>,
      create: () => T,
    ): Reply<T> => make(202, place, create),
    /** Of several statuses that the operation names, this one. */
    as: <T>(code: 200 | 201 | 202, object: T): Reply<T> => new Reply(code, object),
    /** 200 with `ETag`, for objects that people edit. */
    tagged<T>(object: T): T {
      set.headers["ETag"] = etagOf(object);
      return object;
    },
  };
}
