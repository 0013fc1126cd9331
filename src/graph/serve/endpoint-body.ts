/** The body of an endpoint's answer, made from a session's answer, and its JSON. */

import { GraphError } from "../graph-error.ts";
import type { AskAnswer } from "../query/ask/ask.ts";
import type { ContextAnswer, RelatedAnswer } from "../query/context.ts";
import type { Windowed } from "../query/groups.ts";
import type { ImpactAnswer } from "../query/impact.ts";
import { candidatesOf } from "../query/symbols.ts";
import type { GraphOperation } from "./protocol.ts";

interface EndpointBody {
  /** The object, or the items of a list. */
  body: unknown;
  /** Where the next window of a list starts; null at its end. */
  next: number | null;
}

/**
 * @throws GraphError `not_found` with similar names if a symbol does not exist; `invalid` for a list of a name that
 * means several symbols, because the list's format has no place for candidates
 */
export function endpointBody(operation: GraphOperation, value: unknown): EndpointBody {
  if (operation === "communities" || operation === "processes") return toListBody(value as Windowed<unknown>);
  const toSingle = (body: unknown) => ({ body, next: null });
  if (operation === "context") {
    const answer = value as ContextAnswer;
    return toSingle(answer.found === "one" ? answer.context : candidatesOf(answer));
  }
  if (operation === "impact" || operation === "ask") {
    const answer = value as ImpactAnswer | AskAnswer;
    if (answer.found !== "one") return toSingle(candidatesOf(answer));
    return toSingle("impact" in answer ? answer.impact : answer.answer);
  }
  if (operation !== "related") return toSingle(value);
  const answer = value as RelatedAnswer;
  if (answer.found === "one") return toListBody(answer.related);
  const { candidates } = candidatesOf(answer);
  throw new GraphError("invalid", `${candidates.length} symbols have this name: ask by id`);
}

const toListBody = ({ items, next }: Windowed<unknown>): EndpointBody => ({ body: items, next });

/** How many items of a list are converted at once, without a pause. */
const ITEMS_AT_ONCE = 200;
/** Each piece has at least this many characters, except for the last. */
const PIECE_CHARS = 128 * 1024;
const encoder = new TextEncoder();

/** JSON of a value, in pieces. The value's lists, and those in its members, are never in memory as text as a whole. */
export function* jsonPieces(body: unknown): Generator<Uint8Array<ArrayBuffer>> {
  let text = "";
  for (const part of jsonParts(body, 1)) {
    text += part;
    if (text.length < PIECE_CHARS) continue;
    yield encoder.encode(text);
    text = "";
  }
  yield encoder.encode(text);
}

function* jsonParts(value: unknown, depth: number): Generator<string> {
  if (Array.isArray(value)) {
    yield "[";
    for (let from = 0; from < value.length; from += ITEMS_AT_ONCE) {
      const text = JSON.stringify(value.slice(from, from + ITEMS_AT_ONCE));
      yield `${from === 0 ? "" : ","}${text.slice(1, -1)}`;
    }
    yield "]";
  } else if (depth > 0 && typeof value === "object" && value !== null) {
    let separator = "{";
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${separator}${JSON.stringify(name)}:`;
      yield* jsonParts(member, depth - 1);
      separator = ",";
    }
    yield separator === "{" ? "{}" : "}";
  } else yield JSON.stringify(value);
}
