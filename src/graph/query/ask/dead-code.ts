/** Functions, methods and classes that no code reaches. */
import type { CodeGraph } from "../../code-graph.ts";
import type { LanguageRules } from "../../language/language.ts";
import { languageOf } from "../../language/languages.ts";
import { EDGE_TYPES } from "../../model.ts";
import { isTestPath } from "../../test-paths.ts";
import type { AskEntry, AskGroup, Groups } from "./ask.ts";
import { isBelow } from "./cycles.ts";
import { typeSet } from "./path.ts";

const REACHING = typeSet("CALLS", "USES", "EXTENDS", "IMPLEMENTS", "IMPORTS", "MAY_CALL");
const CONTAINS = EDGE_TYPES.indexOf("CONTAINS");
const INHERITS = typeSet("EXTENDS", "IMPLEMENTS");
const JUDGED = new Set(["Function", "Class", "Method", "Struct", "Interface"]);
/**
 * In these languages, functions can be members of object literals, which are handed over and called through a member.
 */
const OBJECTS = new Set(["typescript", "javascript"]);
const TYPES = new Set(["Class", "Interface", "Enum"]);

/**
 * Finds dead code, in three groups: symbols that nothing mentions, symbols that only tests use, and exported symbols
 * that nothing in this repository uses.
 */
export function findDeadCode(graph: CodeGraph, folder: string, limit: number): Groups {
  const declared = readImpliedMethods(graph);
  const found: { row: number; reached: "tests" | "nothing" }[] = [];
  for (let row = 0; row < graph.nodeCount; row++) {
    if (!JUDGED.has(graph.label(row))) continue;
    const path = graph.filePath(row);
    const rules = languageOf(path)?.rules;
    if (rules === undefined || rules.calledByName.test(nameOf(graph, row))) continue;
    if (!isBelow(path, folder) || isTestPath(path) || path.endsWith(".d.ts")) continue;
    const reached = reachedBy(graph, row);
    if (reached === "product" || isDecorated(graph, row) || mayOverride(graph, row, rules, declared)) continue;
    if (!isOfTests(graph, row) && !completesModule(graph, row) && !holdsMain(graph, row)) found.push({ row, reached });
  }
  const lists: { unused: number[]; exported: number[]; tested: number[] } = { unused: [], exported: [], tested: [] };
  const variants = reachedVariants(graph, found);
  for (const { row, reached } of found) {
    if (variants.has(variantKey(graph, row))) continue;
    if (reached === "tests") lists.tested.push(row);
    else if (graph.nodes.exported[row] === 1) lists.exported.push(row);
    else lists.unused.push(row);
  }
  const group = (title: string, rows: readonly number[]): AskGroup => ({
    title,
    entries: rows.slice(0, limit).map((row): AskEntry => ({ symbol: graph.node(row) })),
    total: rows.length,
  });
  const groups = [
    group("nothing mentions them", lists.unused),
    group("only tests use them", lists.tested),
    group("exported, and used by nothing in this repository", lists.exported),
  ].filter(({ total }) => total > 0);
  const what = groups.length === 0 ? "Everything is reached" : "Not reached";
  const summary = `${what} by calls, uses or imports. Left out are entry points, decorated symbols, members of objects, and methods that may be called as another type's; what is called by a name made at run time may be among them.`;
  return { summary, groups };
}

const nameOf = (graph: CodeGraph, row: number): string => graph.nodes.name.get(row) ?? "";
const signatureOf = (graph: CodeGraph, row: number): string => graph.nodes.signature.get(row) ?? "";

/** Who reaches a symbol or, for a type, one of its members. */
function reachedBy(graph: CodeGraph, row: number): "product" | "tests" | "nothing" {
  let tests = false;
  const file = graph.nodes.file[row]!;
  for (const one of [row, ...membersOf(graph, row)]) {
    for (const edge of graph.incoming(one)) {
      if (!REACHING.has(graph.edges.type[edge]!)) continue;
      const from = graph.edges.from[edge]!;
      if (from === row || isWithin(graph, from, row)) continue;
      // A file that imports a name need not use it. Unused imports are for the compiler to report.
      if (from === file && graph.edges.type[edge] === EDGE_TYPES.indexOf("IMPORTS")) continue;
      if (!isTestPath(graph.filePath(from))) return "product";
      tests = true;
    }
  }
  return tests ? "tests" : "nothing";
}

function membersOf(graph: CodeGraph, row: number): number[] {
  if (graph.label(row) === "Function" || graph.label(row) === "Method") return [];
  const rows: number[] = [];
  for (const edge of graph.outgoing(row)) if (graph.edges.type[edge] === CONTAINS) rows.push(graph.edges.to[edge]!);
  return rows;
}

function isWithin(graph: CodeGraph, row: number, outer: number): boolean {
  for (let at = row; ; ) {
    const edge = graph.incoming(at).find((one) => graph.edges.type[one] === CONTAINS);
    if (edge === undefined) return false;
    at = graph.edges.from[edge]!;
    if (at === outer) return true;
  }
}

function isDecorated(graph: CodeGraph, row: number): boolean {
  return graph
    .outgoing(row)
    .some((edge) => graph.edges.type[edge] === CONTAINS && graph.label(graph.edges.to[edge]!) === "Decorator");
}

/** The node that contains a symbol: another symbol or the file; undefined if there is none. */
function ownerOf(graph: CodeGraph, row: number): number | undefined {
  const holding = graph.incoming(row).find((edge) => graph.edges.type[edge] === CONTAINS);
  return holding === undefined ? undefined : graph.edges.from[holding];
}

/**
 * Whether a method may be called as another one. That is so if its type extends or implements another type, even one of
 * a library; if it implements a declaration; or if it is a member of an object that the program hands over.
 */
function mayOverride(graph: CodeGraph, row: number, rules: LanguageRules, declared: ReadonlySet<string>): boolean {
  if (graph.label(row) !== "Method") return false;
  const { name, language } = graph.node(row);
  const beside = rules.libraryMethods?.get(name);
  if (beside === name || (rules.libraryMethods !== undefined && declared.has(name))) return true;
  if (beside !== undefined && declared.has(variantKey(graph, row).slice(0, -name.length) + beside)) return true;
  const owner = ownerOf(graph, row);
  if (owner === undefined) return false;
  return (
    (OBJECTS.has(language) && !TYPES.has(graph.label(owner))) ||
    // A method named like its type is a constructor. It is called through the type.
    graph.nodes.name.get(owner) === name ||
    graph.implementation(owner) !== undefined ||
    graph.label(owner) === "Interface" ||
    graph.label(owner) === "Trait" ||
    rules.heritage?.test(signatureOf(graph, owner)) === true ||
    graph.outgoing(owner).some((edge) => INHERITS.has(graph.edges.type[edge]!))
  );
}

/**
 * For languages whose types implement interfaces implicitly (Go): the names of all interfaces' methods, and the keys of
 * methods that have the name of a library interface's method.
 */
function readImpliedMethods(graph: CodeGraph): Set<string> {
  const found = new Set<string>();
  for (let row = 0; row < graph.nodeCount; row++) {
    const label = graph.label(row);
    if (label !== "Interface" && label !== "Method") continue;
    const methods = languageOf(graph.filePath(row))?.rules.libraryMethods;
    if (methods === undefined) continue;
    if (label === "Interface") for (const member of membersOf(graph, row)) found.add(nameOf(graph, member));
    else if (methods.has(nameOf(graph, row))) found.add(variantKey(graph, row));
  }
  return found;
}

/** Whether a class holds the `main` that starts the program. */
const holdsMain = (graph: CodeGraph, row: number): boolean =>
  membersOf(graph, row).some((member) => /^[mM]ain$/.test(nameOf(graph, member)));

/** Whether a symbol is in a module `test` or `tests`, where Rust keeps the tests of a file. */
const isOfTests = (graph: CodeGraph, row: number): boolean =>
  /^tests?\./.test(graph.nodes.qualified.get(row) ?? "") && graph.node(row).language === "rust";

/** Whether a symbol stands in `declare module "other"`. It adds to a type of that module, where it is used. */
function completesModule(graph: CodeGraph, row: number): boolean {
  const owner = ownerOf(graph, row);
  return owner !== undefined && /^module ['"]/.test(signatureOf(graph, owner));
}

/**
 * A key that is equal for all variants of a symbol, such as those for several platforms. In Go, variants may be in any
 * file of the package; elsewhere they are in one file.
 */
function variantKey(graph: CodeGraph, row: number): string {
  const { label, qualified_name, file_path, language } = graph.node(row);
  const place = language === "go" ? file_path.slice(0, file_path.lastIndexOf("/") + 1) : file_path;
  return `${label} ${place} ${qualified_name}`;
}

/** The keys of found symbols of which another variant is reached. */
function reachedVariants(graph: CodeGraph, found: readonly { row: number }[]): Set<string> {
  const names = new Set(found.map(({ row }) => nameOf(graph, row)));
  const rows = new Set(found.map(({ row }) => row));
  const wanted = new Set(found.map(({ row }) => variantKey(graph, row)));
  const keys = new Set<string>();
  for (let row = 0; row < graph.nodeCount; row++) {
    if (!names.has(nameOf(graph, row)) || rows.has(row)) continue;
    const key = variantKey(graph, row);
    if (wanted.has(key) && !keys.has(key) && reachedBy(graph, row) === "product") keys.add(key);
  }
  return keys;
}
