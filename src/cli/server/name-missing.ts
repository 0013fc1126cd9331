/** Adds to a "not found" error the name that the command asked for, since the server's message does not repeat it. */
import { textIn } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { fit, oneLine } from "../terminal/style.ts";

/**
 * The kind of object in one or two words: `agent`, `memory entry`. In longer phrases the last word may be another
 * object: `job of this project`.
 */
const NO_SUCH = /^There is no such ([A-Za-z]+ )?([a-z]+)\./;
/** Width to which a name is cut. A person typed it, or it was in their file. */
const NAME_COLUMNS = 80;

/** Ends of paths that look like an item of a list, but act on a token in the body. */
const ACTIONS = ["invitations/accept", "invitations/read"];

/** What was asked: a path, and the JSON that was sent there. */
export interface Question {
  path: string;
  body?: unknown;
}

/**
 * Puts the name into "There is no such agent." The message is unchanged if the question has no such name, or several.
 */
export function nameMissing(detail: string, question: Question): string {
  const [said, kind = "", thing] = NO_SUCH.exec(detail) ?? [];
  if (said === undefined || thing === undefined) return detail;
  const [name, ...others] = namesOf(thing, question);
  if (name === undefined || others.length > 0) return detail;
  return `There is no ${kind}${thing} ${fit(oneLine(name), NAME_COLUMNS)}.${detail.slice(said.length)}`;
}

/**
 * The names in the question. The API names an agent in `agent_id` of a body or a query, or after `agents` in a path.
 */
function namesOf(thing: string, { path, body }: Question): string[] {
  const { pathname, searchParams } = new URL(path, "http://localhost");
  const segments = pathname.split("/");
  const list = thing.replace(/y$/, "ie").concat("s");
  const below = segments.flatMap((segment, at) => {
    const next = segments[at + 1] ?? "";
    return segment === list && !ACTIONS.includes(`${list}/${next}`) ? [decodeSegment(next)] : [];
  });
  const sent = typeof body === "string" ? textIn(readJson(body), `${thing}_id`) : undefined;
  const given = [sent, searchParams.get(`${thing}_id`), ...below].filter((name) => typeof name === "string");
  return [...new Set(given)].filter((name) => name !== "");
}

/** Decodes a path segment; a segment that was never encoded, such as `50%`, is returned as it is. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
