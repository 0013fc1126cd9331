/**
 * How true the graph's CALLS are: recall and precision against the TypeScript compiler's own answer.
 *
 *   bun scripts/bench-truth.ts PATH [--misses N] [--false N] [--json]
 *
 * A call counts when the compiler resolves it to something declared in the repository that is a node of the graph. An
 * edge counts as false when the compiler resolves the call elsewhere; calls the compiler itself cannot resolve are
 * reported apart ("unjudged"). `new C` is right for the class and for its constructor.
 */
import { join, relative, resolve } from "node:path";
import ts from "typescript-api";
import type { CodeGraph } from "../src/graph/code-graph.ts";
import { indexInMemory } from "../src/graph/index-memory.ts";

interface Options {
  root: string;
  misses: number;
  falseEdges: number;
  json: boolean;
}

interface Verdicts {
  /** `file:line` → targets by node row. */
  truth: Map<string, Set<number>>;
  /** Sites where the compiler has no answer. */
  unknown: Set<string>;
}

function parseOptions(argv: string[]): Options {
  const value = (flag: string, fallback: number) => {
    const at = argv.indexOf(flag);
    return at < 0 ? fallback : Number(argv[at + 1]);
  };
  const root = argv.find((arg, i) => !arg.startsWith("--") && !/^--(misses|false)$/.test(argv[i - 1] ?? ""));
  if (!root) throw new Error("usage: bench-truth PATH [--misses N] [--false N] [--json]");
  return {
    root: resolve(root),
    misses: value("--misses", 30),
    falseEdges: value("--false", 30),
    json: argv.includes("--json"),
  };
}

function createProgram(root: string, files: string[]): ts.Program {
  const configPath = ts.findConfigFile(root, ts.sys.fileExists);
  let options: ts.CompilerOptions = {};
  if (configPath?.startsWith(root)) {
    const read = ts.readConfigFile(configPath, ts.sys.readFile);
    options = ts.parseJsonConfigFileContent(read.config ?? {}, ts.sys, root).options;
  }
  return ts.createProgram(files, {
    ...options,
    target: ts.ScriptTarget.ESNext,
    module: options.module ?? ts.ModuleKind.ESNext,
    moduleResolution: options.moduleResolution ?? ts.ModuleResolutionKind.Bundler,
    lib: ["lib.esnext.full.d.ts"],
    types: [],
    noEmit: true,
    skipLibCheck: true,
    allowJs: false,
    composite: false,
    incremental: false,
    strict: true,
    allowImportingTsExtensions: true,
  });
}

/** The node that a declaration is, or -1. */
function createLocator(graph: CodeGraph, root: string) {
  const byFile = new Map<string, number[]>();
  for (let row = 0; row < graph.nodeCount; row++) {
    const label = graph.label(row);
    if (label === "File" || label === "Folder" || label === "Community" || label === "Process") continue;
    const path = graph.filePath(row);
    const list = byFile.get(path);
    if (list) list.push(row);
    else byFile.set(path, [row]);
  }
  return (declaration: ts.Node, name: string): number => {
    const source = declaration.getSourceFile();
    const path = relative(root, source.fileName);
    const line = source.getLineAndCharacterOfPosition(declaration.getStart()).line + 1;
    let best = -1;
    for (const row of byFile.get(path) ?? []) {
      if (graph.nodes.name[row] !== name) continue;
      if (graph.nodes.startLine[row]! > line || graph.nodes.endLine[row]! < line) continue;
      if (best < 0 || graph.nodes.startLine[row]! >= graph.nodes.startLine[best]!) best = row;
    }
    return best;
  };
}

/** The declaration a reader would name, and its name; undefined for what has none. */
function named(declaration: ts.Node): { node: ts.Node; name: string } | undefined {
  if (ts.isConstructorDeclaration(declaration)) return named(declaration.parent);
  if (ts.isClassLike(declaration)) {
    if (declaration.name) return { node: declaration, name: declaration.name.text };
    if (ts.isVariableDeclaration(declaration.parent) && ts.isIdentifier(declaration.parent.name))
      return { node: declaration.parent, name: declaration.parent.name.text };
    return { node: declaration, name: "default" };
  }
  if (
    ts.isFunctionDeclaration(declaration) ||
    ts.isMethodDeclaration(declaration) ||
    ts.isMethodSignature(declaration) ||
    ts.isPropertyDeclaration(declaration) ||
    ts.isPropertySignature(declaration)
  ) {
    return { node: declaration, name: declaration.name ? declaration.name.getText() : "default" };
  }
  if (ts.isArrowFunction(declaration) || ts.isFunctionExpression(declaration)) {
    const holder = declaration.parent;
    if (ts.isVariableDeclaration(holder) && ts.isIdentifier(holder.name))
      return { node: holder, name: holder.name.text };
    if (ts.isPropertyDeclaration(holder) || ts.isPropertyAssignment(holder))
      return { node: holder, name: holder.name.getText() };
    return undefined;
  }
  if (
    ts.isFunctionTypeNode(declaration) &&
    (ts.isPropertySignature(declaration.parent) || ts.isPropertyDeclaration(declaration.parent))
  )
    return { node: declaration.parent, name: declaration.parent.name.getText() };
  return undefined;
}

function callName(node: ts.CallExpression | ts.NewExpression | ts.TaggedTemplateExpression): ts.Node {
  const callee = ts.isTaggedTemplateExpression(node) ? node.tag : node.expression;
  let bare: ts.Node = callee;
  while (ts.isParenthesizedExpression(bare) || ts.isNonNullExpression(bare) || ts.isAsExpression(bare))
    bare = bare.expression;
  if (ts.isNewExpression(node)) return node;
  return ts.isPropertyAccessExpression(bare) ? bare.name : bare;
}

function judge(
  program: ts.Program,
  root: string,
  paths: Set<string>,
  locate: ReturnType<typeof createLocator>,
): Verdicts {
  const checker = program.getTypeChecker();
  const verdicts: Verdicts = { truth: new Map(), unknown: new Set() };
  const visitCall = (node: ts.CallExpression | ts.NewExpression | ts.TaggedTemplateExpression, path: string) => {
    const source = node.getSourceFile();
    const line = source.getLineAndCharacterOfPosition(callName(node).getStart()).line + 1;
    const key = `${path}:${line}`;
    const signature = checker.getResolvedSignature(node);
    let declaration: ts.Node | undefined = signature?.getDeclaration();
    if (!declaration && ts.isNewExpression(node)) declaration = signature?.getReturnType().symbol?.valueDeclaration;
    if (!declaration && ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword)
      declaration = signature?.getReturnType().symbol?.valueDeclaration;
    if (!declaration) {
      verdicts.unknown.add(key);
      return;
    }
    const file = relative(root, declaration.getSourceFile().fileName);
    if (!paths.has(file)) return;
    const target = named(declaration);
    const row = target ? locate(target.node, target.name.replace(/^["']|["']$/g, "")) : -1;
    if (row < 0) {
      verdicts.unknown.add(key);
      if (target)
        missingNodes.push(
          `${file}:${target.node.getSourceFile().getLineAndCharacterOfPosition(target.node.getStart()).line + 1} ${target.name}`,
        );
      return;
    }
    const rows = verdicts.truth.get(key);
    if (rows) rows.add(row);
    else verdicts.truth.set(key, new Set([row]));
  };
  for (const path of paths) {
    const source = program.getSourceFile(join(root, path));
    if (!source) continue;
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) || ts.isNewExpression(node) || ts.isTaggedTemplateExpression(node)) {
        if (!(ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)) visitCall(node, path);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return verdicts;
}

const missingNodes: string[] = [];

/** The class a constructor belongs to: both stand for `new`. */
function normal(graph: CodeGraph, row: number): number {
  if (graph.nodes.name[row] !== "constructor") return row;
  for (const edge of graph.incoming(row)) if (graph.edge(edge).type === "CONTAINS") return graph.edges.from[edge]!;
  return row;
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  const graph = await indexInMemory(options.root);
  const paths = new Set<string>();
  for (let row = 0; row < graph.nodeCount && graph.label(row) === "File"; row++) {
    const path = graph.nodes.qualified[row]!;
    if (/\.[mc]?tsx?$/.test(path) && !path.endsWith(".d.ts")) paths.add(path);
  }
  const started = performance.now();
  const program = createProgram(
    options.root,
    [...paths].map((path) => join(options.root, path)),
  );
  const verdicts = judge(program, options.root, paths, createLocator(graph, options.root));
  const compilerMs = performance.now() - started;
  const ours = new Map<string, Map<number, string>>();
  for (let edge = 0; edge < graph.edgeCount; edge++) {
    const { type, line, reason } = graph.edge(edge);
    const from = graph.edges.from[edge]!;
    const path = graph.filePath(from);
    if (type !== "CALLS" || !paths.has(path)) continue;
    const key = `${path}:${line}`;
    const rows = ours.get(key) ?? new Map<number, string>();
    rows.set(normal(graph, graph.edges.to[edge]!), reason);
    ours.set(key, rows);
  }
  report(options, graph, verdicts, ours, compilerMs);
}

function report(
  options: Options,
  graph: CodeGraph,
  verdicts: Verdicts,
  ours: ReadonlyMap<string, ReadonlyMap<number, string>>,
  compilerMs: number,
): void {
  let expected = 0;
  let found = 0;
  const missed: string[] = [];
  for (const [key, rows] of verdicts.truth) {
    for (const row of new Set([...rows].map((row) => normal(graph, row)))) {
      expected++;
      if (ours.get(key)?.has(row)) found++;
      else missed.push(`${key} -> ${graph.id(row)}`);
    }
  }
  let judged = 0;
  let right = 0;
  let unjudged = 0;
  const wrong: string[] = [];
  const byReason = new Map<string, [number, number]>();
  for (const [key, rows] of ours) {
    const truth = new Set([...(verdicts.truth.get(key) ?? [])].map((row) => normal(graph, row)));
    for (const [row, reason] of rows) {
      if (!truth.has(row) && verdicts.unknown.has(key)) {
        unjudged++;
        continue;
      }
      judged++;
      const counts = byReason.get(reason) ?? [0, 0];
      byReason.set(reason, counts);
      counts[1]++;
      if (truth.has(row)) {
        right++;
        counts[0]++;
      } else wrong.push(`${key} -> ${graph.id(row)} (${reason})`);
    }
  }
  const result = {
    path: options.root,
    expected,
    found,
    recall: found / Math.max(1, expected),
    judged,
    right,
    precision: right / Math.max(1, judged),
    unjudged,
    compiler_ms: Math.round(compilerMs),
    by_reason: Object.fromEntries(byReason),
  };
  if (options.json) {
    console.log(JSON.stringify({ ...result, missed, wrong }, null, 1));
    return;
  }
  const sample = (list: string[], count: number) =>
    list.filter((_, i) => i % Math.max(1, Math.floor(list.length / Math.max(1, count))) === 0).slice(0, count);
  console.log(`missed (${missed.length}):\n  ${sample(missed, options.misses).join("\n  ")}`);
  console.log(`false (${wrong.length}):\n  ${sample(wrong, options.falseEdges).join("\n  ")}`);
  console.log(`not nodes (${missingNodes.length}):\n  ${sample(missingNodes, 10).join("\n  ")}`);
  console.log(JSON.stringify(result, null, 1));
}

if (import.meta.main) {
  await main();
}
