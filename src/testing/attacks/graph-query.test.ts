/**
 * Attack rows A32 and A42: a query to the code graph can read only the graph, nothing else on the machine, and cannot
 * write.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expectWork } from "../busy-machine.ts";
import { mainThreadMs } from "../main-thread.ts";
import { startServer, type TestServer } from "../server.ts";
import { createSourceTree, SHOP, type SourceTree } from "../source-tree.ts";

setDefaultTimeout(300_000);
const CANARY = "canary-7f3a91";
let server: TestServer;
let tree: SourceTree;
let path: string;
let outside: string;

beforeAll(async () => {
  tree = createSourceTree(SHOP);
  outside = join(tree.root, "..");
  writeFileSync(join(outside, "secret.csv"), `${CANARY},1\n`);
  server = await startServer({ env: { ALLOW_LOCAL_REPOSITORIES: "true", RATE_LIMIT: "0" } });
  const body = { name: "shop", repository: tree.root };
  const { id } = (await server.request<{ id: string }>("POST", "/v1/projects", { body })).body;
  path = `/v1/projects/${id}/knowledge-graph/cypher`;
  while ((await ask("MATCH (n:File) RETURN count(*)")).status !== 200) await Bun.sleep(100);
});
afterAll(async () => {
  await server.remove();
  tree.remove();
});

const ask = (query: string, params: Record<string, unknown> = {}) =>
  server.request<Record<string, unknown>>("POST", path, { body: { query, params } });

async function count(): Promise<unknown> {
  return (await ask("MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n), count(r)")).body["rows"];
}

const attacks = (): string[] => {
  const [secret, out] = [join(outside, "secret.csv"), join(outside, "out")];
  return [
    `LOAD FROM '${secret}' RETURN *`,
    `LOAD WITH HEADERS (a STRING) FROM '${secret}' RETURN a`,
    `MATCH (f:File) LOAD FROM '${secret}' RETURN *`,
    `UNWIND [1] AS x LOAD FROM '${secret}' RETURN column0`,
    `COPY File FROM '${secret}'`,
    `COPY (MATCH (n) RETURN n.name) TO '${out}.csv'`,
    `EXPORT DATABASE '${out}'`,
    `IMPORT DATABASE '${outside}'`,
    "INSTALL httpfs",
    "LOAD EXTENSION httpfs",
    `LOAD EXTENSION '${out}.so'`,
    `ATTACH '${out}.db' AS x (dbtype sqlite)`,
    "DETACH x",
    "USE x",
    "CALL show_tables() RETURN *",
    "CALL threads=8",
    "CALL current_setting('home_directory') RETURN *",
    "MATCH (n) CALL show_tables() RETURN *",
    "CREATE (:File {key: 99999})",
    "MATCH (n:File) SET n.name = 'x'",
    "MATCH (n:File) DELETE n",
    "MATCH (n:File) DETACH DELETE n",
    "MERGE (n:File {key: 1}) RETURN n",
    "DROP TABLE File",
    "ALTER TABLE File ADD x STRING",
    "CREATE NODE TABLE Y(id INT64 PRIMARY KEY)",
    "CREATE MACRO f(a) AS a + 1",
    "BEGIN TRANSACTION",
    "CHECKPOINT",
    "EXPLAIN MATCH (n) RETURN n",
    "PROFILE MATCH (n) RETURN n",
    `MATCH (n) RETURN n; COPY (RETURN 1) TO '${out}.csv'`,
    `MATCH (n) RETURN n;;LOAD FROM '${secret}' RETURN *`,
    `/* MATCH */ LOAD FROM '${secret}' RETURN *`,
    `MATCH (n) RETURN n // x\r; COPY (RETURN 1) TO '${out}.csv'`,
    `MATCH (n) RETURN n // x\n; COPY (RETURN 1) TO '${out}.csv'`,
    `MATCH (n) RETURN '\\q'; COPY (RETURN 1) TO '${out}.csv'`,
    `RETURN "a\\"; LOAD FROM '${secret}' RETURN *`,
    `RETURN 1 AS \`a\`; LOAD FROM '${secret}' RETURN *`,
    `lOaD/**/FrOm '${secret}' ReTuRn *`,
    `\u00a0LOAD\u2003FROM '${secret}' RETURN *`,
    `\ufeffLOAD FROM '${secret}' RETURN *`,
    `MATCH (n) WHERE EXISTS { LOAD FROM '${secret}' } RETURN n`,
    `UNWIND [1] AS x CREATE (:File {key: x})`,
    `MATCH (a:File) WITH a SET a.name = 'x' RETURN a`,
    `OPTIONAL MATCH (a) FOREACH (x IN [1] | CREATE (:File))`,
    "RETURN nextval('x')",
    "MATCH (n:File) RETURN n.name, '\\\\'; COPY (RETURN 1) TO 'x' //'",
    "MATCH (n) RETURN n LIMIT 1CALL show_tables() RETURN *",
    "MATCH (n:File) SKIP 1SET n.name = 'x'",
    "UNWIND [1] AS x RETURN x LIMIT 1CREATE (:File {key: 99999})",
    "UNWIND [1] AS x$ CREATE (:File {key: 99999})",
    `UNWIND [1] AS x$ LOAD FROM '${secret}' RETURN *`,
    // For the database, the text after two stars is still a comment, and the string is no string.
    `UNWIND [1] AS x /* **/ RETURN ' */ LOAD FROM "${secret}" RETURN * //'`,
    `UNWIND [1] AS x /* **/ RETURN ' */ CREATE (:File {key: 99999}) //'`,
    `RETURN ${"(".repeat(9_000)}1${")".repeat(9_000)}`,
    `RETURN ${"[".repeat(9_000)}1${"]".repeat(9_000)}`,
    `RETURN ${"CASE WHEN true THEN ".repeat(25)}1${" END".repeat(25)}`,
    `RETURN 1${"+1".repeat(9_000)}`,
    "",
    ";",
    "// nothing",
    "'MATCH'",
    "(".repeat(5_000),
  ];
};

test("what would read or write anything but the graph is refused, however it is dressed", async () => {
  const before = await count();
  const listed = readdirSync(outside).sort();
  const passed: string[] = [];
  for (const query of attacks()) {
    const { status, body } = await ask(query);
    if (status !== 422) passed.push(`${status} ${query}`);
    expect(JSON.stringify(body)).not.toContain(CANARY);
  }
  expect(passed).toEqual([]);
  expect(readdirSync(outside).sort()).toEqual(listed);
  expect(await count()).toEqual(before);
});

test("a forbidden clause between any dressing is refused, or is no statement at all", async () => {
  const before = await count();
  const dressing = fc.constantFrom(
    "",
    " ",
    "\n",
    "\r",
    "\t",
    "/**/",
    "//x\n",
    "//x\r",
    "'",
    '"',
    "`",
    "\\",
    ";",
    "\u2028",
    "\u001c",
  );
  const clause = fc.constantFrom(
    `LOAD FROM '${join(outside, "secret.csv")}' RETURN *`,
    `COPY (RETURN 1) TO '${join(outside, "out.csv")}'`,
    "CREATE (:File {key: 424242})",
    "MATCH (n:File) SET n.name = 'changed'",
  );
  const start = fc.constantFrom("MATCH (n) RETURN n", "RETURN 1", "UNWIND [1] AS x RETURN x", "MATCH (n)", "");
  await fc.assert(
    fc.asyncProperty(
      start,
      fc.array(dressing, { maxLength: 4 }),
      clause,
      dressing,
      async (head, between, tail, end) => {
        const { status, body } = await ask(`${head}${between.join("")}${tail}${end}`);
        expect([200, 422]).toContain(status);
        expect(JSON.stringify(body)).not.toContain(CANARY);
        expect(existsSync(join(outside, "out.csv"))).toBe(false);
      },
    ),
    { numRuns: 150, seed: 20_261 },
  );
  expect(await count()).toEqual(before);
});

test("words of clauses are free as names, in strings and as parameters", async () => {
  for (const query of [
    "MATCH (n:Import) RETURN n.name",
    "MATCH (n:File) RETURN n.name AS `LOAD FROM x`",
    "MATCH (n) WHERE n.name = 'COPY (RETURN 1) TO x' RETURN n",
    "MATCH (n) WHERE n.name = $name RETURN n /* CALL */ // DROP",
    "MATCH (n:File) RETURN n.name, '\\'; COPY (RETURN 1) TO x //'",
    "MATCH (n:File) RETURN {set: 1, load: 2}",
    "MATCH (n)-[:CALLS|IMPORTS]->(m) RETURN n.name, m.name ORDER BY n.name SKIP 1 LIMIT 2;",
  ]) {
    const { status, body } = await ask(query, query.includes("$name") ? { name: "x" } : {});
    expect([query, status, body["detail"]]).toEqual([query, 200, undefined]);
  }
});

test("nesting is refused before the database sees it: other questions do not wait for it", async () => {
  const deep = `RETURN ${"(".repeat(9_000)}1${")".repeat(9_000)}`;
  const before = mainThreadMs(server.pid);
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(deep)));
  for (const { status, body } of answers) {
    expect(status).toBe(422);
    expect(body["detail"]).toBe("Brackets may be nested 32 deep at most.");
  }
  expectWork("50 refusals", mainThreadMs(server.pid) - before, 200);
});

test("a query without an end is stopped, and the next is answered", async () => {
  const endless = await ask("UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN sum(a * b)");
  expect(endless.status).toBeGreaterThanOrEqual(400);
  expect((await ask("MATCH (n:File) RETURN count(*)")).body["rows"]).toEqual([[3]]);
});
