/** Which files an edit causes to be resolved again: never fewer than needed, and few others. */
import { beforeAll, describe, expect, test } from "bun:test";
import { sourceOf } from "../index/packed-source.ts";
import { packFacts, type SourceFacts } from "../language/facts.ts";
import { createGrammars, type Grammars } from "../language/grammar.ts";
import { endingOf, languageOf } from "../language/languages.ts";
import { factsOf } from "../language/parse-file.ts";
import { affectedFiles } from "./affected.ts";
import { createMentions } from "./mentions.ts";
import type { SourceFile } from "./repository.ts";
import { Resolution } from "./resolution.ts";

type Files = Readonly<Record<string, string>>;
let grammars: Grammars;
beforeAll(async () => {
  grammars = await createGrammars();
});

async function resolve(files: Files): Promise<Resolution> {
  const sources: SourceFile[] = [];
  for (const [path, text] of Object.entries(files)) {
    const language = languageOf(path)!;
    await grammars.load(language.grammars.get(endingOf(path))!);
    const source = sourceOf(path, packFacts(factsOf(path, text, grammars)));
    if (source) sources.push(source);
  }
  return new Resolution({ files: sources, configs: [], readConfig: () => undefined });
}

/** The edges of a file, by name. */
function edges(resolution: Resolution, file: number): string[] {
  const { repo } = resolution;
  const name = (end: number) =>
    end < 0 ? repo.files[-1 - end]!.path : `${repo.files[repo.fileOf(end)]!.path}#${repo.name(end)}`;
  const found = resolution.edgesOf(file);
  return found.map(({ type, from, to, line, reason }) => `${type} ${name(from)} ${name(to)} ${line} ${reason}`);
}

/** The last byte before the names is 0xff, as in a negative number. It must not count as a letter of the first name. */
function withLetterBefore({ path, facts }: SourceFile): SourceFacts {
  const copy = sourceOf(path, packFacts(facts.read()))?.facts ?? facts;
  new Uint8Array(copy.texts.buffer)[copy.texts.byteOffset - 1] = 0xff;
  return copy;
}

/**
 * Paths of the files to resolve again after an edit; "all" for all files. Checks that every file whose edges changed is
 * among them.
 */
async function findAffected(files: Files, path: string, text: string): Promise<string[] | "all"> {
  const [before, after] = [await resolve(files), await resolve({ ...files, [path]: text })];
  const paths = Object.keys(files);
  const found = affectedFiles({
    before: before.engine,
    after: after.engine,
    changed: [paths.indexOf(path)],
    mentions: createMentions(paths.length, (file) => withLetterBefore(after.repo.files[file]!)),
  });
  for (const [file, left] of paths.entries())
    if (found && !found.has(file))
      expect({ left, edges: edges(after, file) }).toEqual({ left, edges: edges(before, file) });
  return found ? Array.from(found, (file) => paths[file]!).sort() : "all";
}

const SHOP: Files = {
  "price.ts":
    "export class Price {\n  round() {\n    return this;\n  }\n}\nexport class Tax extends Price {\n  rate() {}\n}\n",
  "make.ts": 'import { Price } from "./price.ts";\nexport function make() {\n  return new Price();\n}\n',
  "pass.ts": 'import { make } from "./make.ts";\nexport const pass = () => make();\n',
  "use.ts": 'import { pass } from "./pass.ts";\nexport function use() {\n  pass().round();\n}\n',
  "far.ts": "export function far() {\n  return 1;\n}\nexport function near() {\n  return far();\n}\n",
};

describe("an edit of", () => {
  test("a body that shows nothing to others asks for its own file alone", async () => {
    const text = SHOP["make.ts"]!.replace("  return", "  far();\n\n  return");
    expect(await findAffected(SHOP, "make.ts", text)).toEqual(["make.ts"]);
  });
  test("what a function returns reaches those who never name it, through those who pass it on", async () => {
    const text = SHOP["make.ts"]!.replace("Price }", "Tax }").replace("new Price", "new Tax");
    expect(await findAffected(SHOP, "make.ts", text)).toEqual(["make.ts", "pass.ts", "use.ts"]);
  });
  test("a new name reaches who mentions it already", async () => {
    const files = { ...SHOP, "wait.ts": 'import { later } from "./far.ts";\nlater();\n' };
    const text = `${SHOP["far.ts"]}export function later() {}\n`;
    expect(await findAffected(files, "far.ts", text)).toEqual(["far.ts", "wait.ts"]);
  });
  test("a new name reaches a file whose first word it is", async () => {
    const text = `${SHOP["far.ts"]}export function later() {}\n`;
    expect(await findAffected({ ...SHOP, "wait.ts": "later();\n" }, "far.ts", text)).toContain("wait.ts");
  });
  test("a member reaches who calls one of that name, wherever its class comes from", async () => {
    const text = SHOP["price.ts"]!.replace("round()", "near()");
    expect(await findAffected(SHOP, "price.ts", text)).toEqual(["far.ts", "price.ts", "use.ts"]);
  });
  test("a base class, a star export or an iterator is seen without being named, and asks for all", async () => {
    expect(await findAffected(SHOP, "price.ts", SHOP["price.ts"]!.replace(" extends Price", ""))).toBe("all");
    expect(await findAffected(SHOP, "far.ts", `${SHOP["far.ts"]}export * from "./make.ts";\n`)).toBe("all");
    const iterable = SHOP["price.ts"]!.replace("rate() {}", "*[Symbol.iterator]() {}");
    expect(await findAffected(SHOP, "price.ts", iterable)).toBe("all");
  });
  test("the one method that a lambda stands for asks for all", async () => {
    const files = {
      "Task.java": "interface Task {\n  void run(Job job);\n}\n",
      "Job.java": "class Job {\n  void go() {}\n}\n",
      "Pool.java": "class Pool {\n  void add(Task task) {}\n}\n",
      "Main.java": "class Main {\n  void main(Pool pool) {\n    pool.add(one -> one.go());\n  }\n}\n",
    };
    expect(await findAffected(files, "Task.java", "interface Task {\n  void run(Pool job);\n}\n")).toBe("all");
  });
  test("a name that case does not tell apart reaches every way of writing it", async () => {
    const files = {
      "a.php": "<?php\nfunction sendMail() {}\n",
      "b.php": "<?php\nSENDMAIL();\n",
      "c.php": "<?php\nfunction other() {}\n",
    };
    expect(await findAffected(files, "a.php", "<?php\nfunction sendPost() {}\n")).toEqual(["a.php", "b.php"]);
  });
});

test("who mentions a name is asked of each file as its last edit left it", async () => {
  const { repo } = await resolve({ "a.ts": "first();\n", "b.ts": "first();\nfirstly();\n", "c.ts": "" });
  const edited = await resolve({ "a.ts": "second();\n", "b.ts": "", "c.ts": "Firstly();\n" });
  const latest = repo.files.map(({ facts }) => facts);
  const mentions = createMentions(latest.length, (file) => latest[file]!);
  const listMentioning = (name: string, anyCase = false) => [...mentions.filesWith(new Set([name]), anyCase)].sort();
  expect([
    listMentioning("first"),
    listMentioning("firstly"),
    listMentioning("irst"),
    listMentioning("second"),
  ]).toEqual([[0, 1], [1], [], []]);
  for (const [file, { facts }] of edited.repo.files.entries()) {
    latest[file] = facts;
    mentions.edit(file);
  }
  expect([listMentioning("first"), listMentioning("firstly"), listMentioning("second")]).toEqual([[], [], [0]]);
  expect(listMentioning("FIRSTLY", true)).toEqual([2]);
});
