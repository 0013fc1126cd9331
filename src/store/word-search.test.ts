/** The full-text queries for a question, depending on how many rows contain its words. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { termsOf, wordQueries } from "./word-search.ts";

/** Rows 1 to 6,000: `every` is in all of them, `half` in every second, `tenth` and `rare` as their names say. */
function createIndex() {
  const db = new Database(":memory:");
  db.exec("CREATE VIRTUAL TABLE t USING fts5(text, tokenize = 'porter unicode61')");
  const insert = db.prepare("INSERT INTO t (rowid, text) VALUES (?, ?)");
  db.transaction(() => {
    for (let n = 1; n <= 6_000; n++)
      insert.run(n, ["every", n % 2 ? "" : "half", n % 10 ? "" : "tenths", n % 3_000 ? "" : "rarely"].join(" "));
  })();
  return db;
}
const ask = (db: Database, query: string) => {
  const statement = (text: string) => {
    const made = db.prepare(text);
    return { pluck: () => ({ get: (...values: never[]) => made.values(...values)[0]?.[0] }) };
  };
  return [...wordQueries(statement as never, "t", query)];
};

test("a question begins with its rarest words, and takes in frequent ones only where those find too little", () => {
  const db = createIndex();
  expect(ask(db, "what is rarely half tenth every")).toEqual([
    { expression: '"rarely" OR "tenth"', ranked: true },
    { expression: '"rarely" OR "tenth" OR "half"', ranked: true },
  ]);
  expect(ask(db, "half every")).toEqual([{ expression: '"half"', ranked: true }]);
  db.close();
});

test("a word that is in nearly every row is not ranked, and one that is in none asks nothing", () => {
  const db = createIndex();
  expect(ask(db, "every")).toEqual([{ expression: '"every"', ranked: false }]);
  expect(ask(db, "zebra")).toEqual([]);
  expect(ask(db, '" - * NEAR(')).toEqual([]);
  db.close();
});

test("stop words count only where there is nothing else; a word counts once", () => {
  expect(termsOf("Where is THE port of the port?")).toEqual(["port"]);
  expect(termsOf("to be or not to be")).toEqual(["to", "be", "or", "not"]);
});
