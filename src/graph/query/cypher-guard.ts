/**
 * Which Cypher may run. The query is cut into tokens (comments, strings and escaped names understood), and only the
 * clauses that read the graph pass; everything else is refused by name, whatever the database would say.
 */

/** The first words of clauses, with what may follow directly where two belong together. */
const READING = new Set("MATCH OPTIONAL WHERE WITH UNWIND RETURN ORDER SKIP LIMIT UNION".split(" "));
/** Words that begin anything else the database understands. */
const FORBIDDEN = new Set(
  "CREATE MERGE SET DELETE DETACH REMOVE DROP ALTER RENAME COPY LOAD EXPORT IMPORT INSTALL UNINSTALL UPDATE ATTACH USE CALL BEGIN COMMIT ROLLBACK CHECKPOINT TRANSACTION EXPLAIN PROFILE COMMENT ADD EXTENSION MACRO PROJECT FOREACH INSERT YIELD FROM".split(
    " ",
  ),
);
/** Functions that reach beyond the graph or change state. */
const FORBIDDEN_FUNCTIONS =
  /^(nextval|currval|read_\w*|.*_scan|parquet\w*|csv\w*|json_scan|glob|file\w*|http\w*|s3\w*|getenv|setenv|current_setting|db_version|show_\w*|table_info|stats_info|storage_info|bm_info|query_\w*|create_\w*|drop_\w*|export\w*|load\w*|install\w*)$/i;
const MAX_LENGTH = 20_000;

interface Token {
  kind: "word" | "name" | "string" | "number" | "mark";
  text: string;
}

/** Undefined when the query only reads; otherwise why it is refused. */
export function refusal(query: string): string | undefined {
  if (query.length > MAX_LENGTH) return `a query may have at most ${MAX_LENGTH} characters`;
  const tokens = tokenise(query);
  if (typeof tokens === "string") return tokens;
  const words = tokens.filter((token) => token.kind === "word").map((token) => token.text.toUpperCase());
  if (words.length === 0) return "the query is empty";
  const first = tokens[0]!;
  if (first.kind !== "word" || !/^(MATCH|OPTIONAL|UNWIND|WITH|RETURN)$/i.test(first.text))
    return `a query must begin with MATCH, OPTIONAL MATCH, UNWIND, WITH or RETURN, not ${first.text}`;
  for (const [i, token] of tokens.entries()) {
    if (token.kind === "mark" && token.text === ";" && i < tokens.length - 1) return "only one statement may be given";
    if (token.kind !== "word" && token.kind !== "name") continue;
    const next = tokens[i + 1];
    const called = next?.kind === "mark" && next.text === "(";
    if (called && FORBIDDEN_FUNCTIONS.test(token.text)) return `${token.text}() is not for reading the graph`;
    if (token.kind !== "word") continue;
    if (isPropertyOrLabel(tokens, i)) continue;
    const word = token.text.toUpperCase();
    if (FORBIDDEN.has(word) && !READING.has(word)) return `${word} is not allowed: queries only read the graph`;
  }
  return undefined;
}

/** `n.set`, `:Import`, `{load: 1}` are names, not clauses. */
function isPropertyOrLabel(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  const after = tokens[at + 1];
  if (before?.kind === "mark" && (before.text === "." || before.text === ":" || before.text === "|")) return true;
  if (
    after?.kind === "mark" &&
    after.text === ":" &&
    before?.kind === "mark" &&
    (before.text === "{" || before.text === ",")
  )
    return true;
  return before?.kind === "mark" && before.text === "$";
}

function tokenise(query: string): Token[] | string {
  const tokens: Token[] = [];
  let at = 0;
  while (at < query.length) {
    const rest = query.slice(at, at + 2);
    const char = query[at]!;
    if (/\s/.test(char)) at++;
    else if (rest === "//") {
      // Either line end: what the database takes for a statement is never taken for a comment here.
      const end = query.slice(at).search(/[\r\n]/);
      at = end < 0 ? query.length : at + end;
    } else if (rest === "/*") {
      const end = query.indexOf("*/", at + 2);
      if (end < 0) return "a comment is not closed";
      at = end + 2;
    } else if (char === "'" || char === '"' || char === "`") {
      const end = closing(query, at);
      if (end < 0) return "a string is not closed";
      const text = query.slice(at + 1, end);
      // Another escape would end the string elsewhere for the database than here.
      if (char !== "`" && /\\(?![\\'"bfnrtuBFNRT])/.test(text.replaceAll("\\\\", "")))
        return "a string holds an escape that is none";
      tokens.push({ kind: char === "`" ? "name" : "string", text });
      at = end + 1;
    } else {
      const word = /^(?:[\p{L}_][\p{L}\p{N}_]*)/u.exec(query.slice(at, at + 256))?.[0];
      const number = word === undefined ? /^\d[\w.]*/.exec(query.slice(at, at + 64))?.[0] : undefined;
      const text = word ?? number ?? char;
      if (text === "\\") return "a backslash has no place outside strings";
      tokens.push({ kind: word !== undefined ? "word" : number !== undefined ? "number" : "mark", text });
      at += text.length;
    }
  }
  return tokens;
}

/** Offset of the quote that closes the string or escaped name beginning at `start`, or -1. */
function closing(query: string, start: number): number {
  const quote = query[start];
  for (let at = start + 1; at < query.length; at++) {
    if (query[at] === "\\" && quote !== "`") at++;
    else if (query[at] === quote) return at;
  }
  return -1;
}
