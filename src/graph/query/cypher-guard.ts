/**
 * Decides which Cypher queries may run. The query is cut into the tokens of the database's grammar. Only clauses that
 * read the graph pass; all others are refused by name, whatever the database would do with them. Queries that the
 * database's parser cannot handle (deep nesting, thousands of operators) are refused here too, in time linear in the
 * query's length.
 */
import { type Token, tokenise } from "./cypher-tokens.ts";

/** The first words of clauses that read, and the words that continue them. */
const READING = new Set("MATCH OPTIONAL WHERE WITH UNWIND RETURN ORDER SKIP LIMIT UNION".split(" "));
/** Words that begin any other statement or clause of the database. */
const FORBIDDEN = new Set(
  "CREATE MERGE SET DELETE DETACH REMOVE DROP ALTER RENAME COPY LOAD EXPORT IMPORT INSTALL UNINSTALL UPDATE ATTACH USE CALL BEGIN COMMIT ROLLBACK CHECKPOINT TRANSACTION EXPLAIN PROFILE COMMENT ADD EXTENSION MACRO PROJECT FOREACH INSERT YIELD FROM".split(
    " ",
  ),
);
/** Functions that reach beyond the graph or change state. */
const FORBIDDEN_FUNCTIONS =
  /^(nextval|currval|read_\w*|.*_scan|parquet\w*|csv\w*|json_scan|glob|file\w*|http\w*|s3\w*|getenv|setenv|current_setting|db_version|show_\w*|table_info|stats_info|storage_info|bm_info|query_\w*|create_\w*|drop_\w*|export\w*|load\w*|install\w*)$/i;
const MAX_LENGTH = 20_000;
/** The database overflows its stack at about 10,000 operators in a row, and is slow long before. */
const MAX_TOKENS = 3_000;
/** How deep brackets of any kind may be nested. */
const MAX_NESTING = 32;
/** A CASE within a CASE doubles the time of the database's parser: 10 take 50 ms, 20 take 19 s. */
const MAX_NESTED_CASES = 6;

/** @returns why the query is refused; undefined if it only reads */
export function findRefusal(query: string): string | undefined {
  if (query.length > MAX_LENGTH) return `a query may have at most ${MAX_LENGTH} characters`;
  const tokens = tokenise(query);
  if (typeof tokens === "string") return tokens;
  const tooDeep = nestingFault(tokens);
  if (tooDeep) return tooDeep;
  if (tokens.length > MAX_TOKENS) return `a query may have at most ${MAX_TOKENS} words and marks`;
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

function nestingFault(tokens: readonly Token[]): string | undefined {
  let brackets = 0;
  let cases = 0;
  for (const [i, { kind, text }] of tokens.entries()) {
    if (kind === "mark") {
      if ("([{".includes(text)) brackets++;
      else if (")]}".includes(text)) brackets = Math.max(0, brackets - 1);
    } else if (kind === "word" && !isPropertyOrLabel(tokens, i)) {
      if (/^case$/i.test(text)) cases++;
      else if (/^end$/i.test(text)) cases = Math.max(0, cases - 1);
    }
    if (brackets > MAX_NESTING) return `brackets may be nested ${MAX_NESTING} deep at most`;
    if (cases > MAX_NESTED_CASES) return `CASE may be nested ${MAX_NESTED_CASES} deep at most`;
  }
  return undefined;
}

/**
 * Whether a word is the name of a property, label or parameter: in `n.set`, `:Import` and `{load: 1}` it is no clause.
 */
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
