/** Names what a command asked a server for: its own sentence does not repeat it. */
import { textIn } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { fit, oneLine } from "../terminal/style.ts";

/** One or two words: `agent`, `memory entry`. In longer ones the last word may be another thing: `job of this project`. */
const NO_SUCH = /^There is no such ([A-Za-z]+ )?([a-z]+)\./;
/** Columns of a name that somebody typed, or that stood in their file. */
const NAME_COLUMNS = 80;

/** Ends of paths that look like one of a list, and are what is done with a token in the body. */
const ACTIONS = ["invitations/accept", "invitations/read"];

/** What was asked for: a path, and the JSON that was sent there. */
export interface Question {
  path: string;
  body?: unknown;
}

/** "There is no such agent." with the agent that the question named; unchanged where it named none, or several. */
export function nameMissing(detail: string, question: Question): string {
  const [said, kind = "", thing] = NO_SUCH.exec(detail) ?? [];
  if (said === undefined || thing === undefined) return detail;
  const [name, ...others] = namesOf(thing, question);
  if (name === undefined || others.length > 0) return detail;
  return `There is no ${kind}${thing} ${fit(oneLine(name), NAME_COLUMNS)}.${detail.slice(said.length)}`;
}

/** The API names an agent in `agent_id` of a body or a query, or in a path after `agents`. */
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

/** @returns a segment that was never encoded, such as `50%`, as it is. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
