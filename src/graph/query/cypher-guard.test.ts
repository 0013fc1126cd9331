/** The guard reads Cypher as the database's own lexer does, in time linear in the query's length. */
import { describe, expect, test } from "bun:test";
import { expectWork, processorMs } from "../../testing/busy-machine.ts";
import { findRefusal } from "./cypher-guard.ts";

const check = (query: string) => findRefusal(query) ?? "let through";

describe("the guard of Cypher", () => {
  test.each([
    // A number needs no space before a keyword in the database's grammar.
    "MATCH (n) RETURN n LIMIT 1CALL show_x() RETURN *",
    "MATCH (n) SKIP 1SET n.name = 'x'",
    "UNWIND [1] AS x RETURN x LIMIT 1.5CREATE (:File)",
    "UNWIND [1] AS x RETURN x LIMIT 1e5DELETE x",
    "UNWIND [1] AS x RETURN .5MERGE (:File)",
    // Currency signs belong to names there: none of these is a parameter.
    "UNWIND [1] AS x$ CREATE (:File {key: 5})",
    "UNWIND [1] AS x€ CREATE (:File {key: 5})",
    "UNWIND [1] AS x\u0301$ SET x.y = 1",
    // After two stars in a row its lexer looks for another end of the comment.
    "UNWIND [1] AS x /* **/ RETURN ' */ LOAD FROM \"/etc/passwd\" RETURN * //'",
    "UNWIND [1] AS x /***/ RETURN x",
    "UNWIND [1] AS x /* a ***/ RETURN x",
    // Separators that are white space there.
    "UNWIND [1] AS x LOAD\x1cFROM '/etc/passwd' RETURN *",
    "UNWIND [1] AS x \x1d\x1e\x1f\u180eCREATE (:File)",
    // Escapes that would end a string elsewhere.
    "RETURN '\\u12'; CREATE (:File) //'",
    "RETURN '\\x27'; CREATE (:File) //'",
  ])("refuses %j", (query) => {
    expect(check(query)).not.toBe("let through");
  });

  test.each([
    "MATCH (n) RETURN n LIMIT 1 ;",
    "RETURN 1.5e-3, .5, 10, [1, 2][1..2], 1e5",
    "MATCH (a)-[:CALLS*1..3]->(b) RETURN b.name /** a note * with stars */ LIMIT 10",
    "MATCH (n) WHERE n.name = $name AND n.set = 1 RETURN n.`create` // SET",
    "RETURN 'it\\'s \\u00e9', \"\\\"\", CASE WHEN true THEN 1 ELSE 2 END",
    "MATCH (n) WHERE (((n.a = 1) OR (n.b = 2)) AND NOT (n.c IN [1, [2, [3]]])) RETURN n",
  ])("lets %j through", (query) => {
    expect(check(query)).toBe("let through");
  });

  test("says what it does not bear: deep nesting, thousands of operators, a CASE in a CASE in a CASE", () => {
    const nest = (open: string, times: number, middle: string, close: string) =>
      `RETURN ${open.repeat(times)}${middle}${close.repeat(times)}`;
    expect(check(nest("(", 9_000, "1", ")"))).toContain("brackets may be nested 32 deep");
    expect(check(nest("[", 33, "1", "]"))).toContain("brackets may be nested 32 deep");
    expect(check(nest("{a:", 33, "1", "}"))).toContain("brackets may be nested 32 deep");
    expect(check(nest("abs(", 33, "1", ")"))).toContain("brackets may be nested 32 deep");
    expect(check(`RETURN 1${"))(".repeat(20)}${"(".repeat(40)}`)).toContain("brackets may be nested 32 deep");
    expect(check(nest("CASE WHEN true THEN ", 7, "1", " END"))).toContain("CASE may be nested 6 deep");
    expect(check(`RETURN 1${"+1".repeat(1_500)}`)).toContain("at most 3000 words and marks");
    expect(check(nest("(", 32, "1", ")"))).toBe("let through");
    expect(check(nest("CASE WHEN true THEN ", 6, "1", " END"))).toBe("let through");
  });

  test("no text of the longest length takes it more than 50 ms of the processor", () => {
    for (const piece of [
      "(",
      "'",
      "\\'",
      "`",
      "/*",
      "*/",
      "/**",
      "//",
      "1",
      "1.",
      "a$",
      "$",
      "é",
      "\u{1F600}",
      "''",
      "x ",
    ]) {
      const text = `RETURN ${piece.repeat(20_000 / piece.length)}`.slice(0, 20_000);
      const before = processorMs();
      findRefusal(text);
      expectWork(`20 kB of ${piece}`, processorMs() - before, 20);
    }
  });
});
