/**
 * Maps the targets of calls, according to the TypeScript compiler, to nodes of the graph.
 * The target is the function with which the called name is declared (`const f: F = () => …`), else the declaration of
 * the signature that the compiler chose. If that has no node of its own (a function type, an anonymous function, a
 * library's function), the target is the variable or property through which it was called.
 */
import { relative } from "node:path";
import ts from "typescript-api";
import type { CodeGraph } from "../src/graph/code-graph.ts";

export interface Verdicts {
  /** Rows of the target nodes by `file:line`. */
  truth: Map<string, Set<number>>;
  /** Further correct targets: other members of a union, or the class whose constructor a subclass inherits. */
  accepted: Map<string, Set<number>>;
  /** Calls for which the compiler has no answer, or one that is no node of the graph. */
  unknown: Set<string>;
  /**
   * Numbers of calls: all (`sites`), those whose callee the compiler cannot type (`untyped`), and those of targets
   * outside.
   */
  sites: number;
  untyped: number;
  outside: number;
  /** Named declarations for which the graph has no node. */
  missingNodes: string[];
}

type CallNode = ts.CallExpression | ts.NewExpression | ts.TaggedTemplateExpression;

interface Named {
  node: ts.Node;
  names: string[];
}

/** Returns a function that finds the node of a declaration, or -1. */
function createLocator(graph: CodeGraph, root: string) {
  const byFile = new Map<string, number[]>();
  for (let row = 0; row < graph.nodeCount; row++) {
    const label = graph.label(row);
    if (
      label === "File" ||
      label === "Folder" ||
      label === "Community" ||
      label === "Process" ||
      label === "Import" ||
      label === "Decorator"
    )
      continue;
    const path = graph.filePath(row);
    const list = byFile.get(path);
    if (list) list.push(row);
    else byFile.set(path, [row]);
  }
  /**
   * With `exact`, the node must begin on the declaration's line or later, because locals may share a name with what
   * surrounds them.
   */
  return ({ node, names }: Named, exact: boolean): number => {
    const source = node.getSourceFile();
    const first = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    // Decorators precede the name, and may precede the node.
    const name = ts.isClassLike(node) || ts.isClassElement(node) ? node.name : undefined;
    const line = name ? source.getLineAndCharacterOfPosition(name.getStart()).line + 1 : first;
    let best = -1;
    for (const text of names) {
      for (const row of byFile.get(relative(root, source.fileName)) ?? []) {
        if (graph.nodes.name.get(row) !== text) continue;
        if (graph.nodes.startLine[row]! > line || graph.nodes.endLine[row]! < line) continue;
        if (exact && graph.nodes.startLine[row]! < first) continue;
        if (best < 0 || graph.nodes.startLine[row]! >= graph.nodes.startLine[best]!) best = row;
      }
      if (best >= 0) return best;
    }
    return -1;
  };
}

const unquote = (text: string) => text.replace(/^["'`]|["'`]$/g, "");

/** The name that an assignment gives: `x.name = …`; `module.exports = …` is the default export. */
function assignedName(left: ts.Expression): string[] {
  if (left.getText() === "module.exports") return ["default"];
  if (ts.isPropertyAccessExpression(left)) return [left.name.text];
  if (ts.isIdentifier(left)) return [left.text];
  return [];
}

/** The declaration that a reader would name, and its names; undefined if it has none. */
function findNamed(declaration: ts.Node): Named | undefined {
  if (ts.isConstructorDeclaration(declaration)) return findNamed(declaration.parent);
  if (ts.isClassLike(declaration)) {
    if (declaration.name) return { node: declaration, names: [declaration.name.text] };
    if (ts.isVariableDeclaration(declaration.parent) && ts.isIdentifier(declaration.parent.name))
      return { node: declaration.parent, names: [declaration.parent.name.text] };
    if (ts.isBinaryExpression(declaration.parent))
      return { node: declaration.parent, names: assignedName(declaration.parent.left) };
    return { node: declaration, names: ["default"] };
  }
  if (
    ts.isFunctionDeclaration(declaration) ||
    ts.isMethodDeclaration(declaration) ||
    ts.isMethodSignature(declaration) ||
    ts.isPropertyDeclaration(declaration) ||
    ts.isPropertySignature(declaration)
  ) {
    return { node: declaration, names: [declaration.name ? unquote(declaration.name.getText()) : "default"] };
  }
  if (ts.isArrowFunction(declaration) || ts.isFunctionExpression(declaration)) return namedFunction(declaration);
  if (
    ts.isFunctionTypeNode(declaration) &&
    (ts.isPropertySignature(declaration.parent) || ts.isPropertyDeclaration(declaration.parent))
  )
    return { node: declaration.parent, names: [unquote(declaration.parent.name.getText())] };
  return undefined;
}

/** An anonymous function is represented by what holds it, such as a variable. */
function namedFunction(declaration: ts.ArrowFunction | ts.FunctionExpression): Named | undefined {
  let holder: ts.Node = declaration.parent;
  while (ts.isParenthesizedExpression(holder)) holder = holder.parent;
  if (ts.isVariableDeclaration(holder) && ts.isIdentifier(holder.name))
    return { node: holder, names: [holder.name.text] };
  if (ts.isPropertyDeclaration(holder) || ts.isPropertyAssignment(holder))
    return { node: holder, names: [unquote(holder.name.getText())] };
  if (ts.isExportAssignment(holder)) return { node: holder, names: ["default"] };
  if (ts.isBinaryExpression(holder) && holder.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
    const own = declaration.name ? [declaration.name.text] : [];
    return { node: holder, names: [...assignedName(holder.left), ...own] };
  }
  return undefined;
}

/** The variable or property of a symbol, if it can be a node. */
function holderOf(declaration: ts.Node): Named | undefined {
  if (
    ts.isVariableDeclaration(declaration) ||
    ts.isPropertySignature(declaration) ||
    ts.isPropertyDeclaration(declaration) ||
    ts.isPropertyAssignment(declaration) ||
    ts.isGetAccessorDeclaration(declaration)
  )
    return { node: declaration, names: [unquote(declaration.name.getText())] };
  if (ts.isParameter(declaration) && ts.isParameterPropertyDeclaration(declaration, declaration.parent))
    return { node: declaration, names: [unquote(declaration.name.getText())] };
  return undefined;
}

function calleeOf(node: CallNode): ts.Expression {
  let callee: ts.Expression = ts.isTaggedTemplateExpression(node) ? node.tag : node.expression;
  while (ts.isParenthesizedExpression(callee) || ts.isNonNullExpression(callee) || ts.isAsExpression(callee))
    callee = callee.expression;
  return callee;
}

/** Asks the compiler about every call in `paths`, which are relative to `root`. */
export function judge(program: ts.Program, root: string, paths: ReadonlySet<string>, graph: CodeGraph): Verdicts {
  const checker = program.getTypeChecker();
  const locate = createLocator(graph, root);
  const verdicts: Verdicts = {
    truth: new Map(),
    accepted: new Map(),
    unknown: new Set(),
    sites: 0,
    untyped: 0,
    outside: 0,
    missingNodes: [],
  };
  const put = (into: Map<string, Set<number>>, key: string, row: number) => {
    const rows = into.get(key);
    if (rows) rows.add(row);
    else into.set(key, new Set([row]));
  };
  const isInside = (node: ts.Node) => paths.has(relative(root, node.getSourceFile().fileName));

  function symbolAt(callee: ts.Expression): ts.Symbol | undefined {
    const name = ts.isPropertyAccessExpression(callee) ? callee.name : callee;
    const symbol = checker.getSymbolAtLocation(name);
    return symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  }

  /** The class that `new` or `super()` instantiates. It may inherit the constructor that the signature names. */
  function findClass(node: CallNode, signature: ts.Signature): ts.Node | undefined {
    if (!ts.isNewExpression(node) && calleeOf(node).kind !== ts.SyntaxKind.SuperKeyword) return undefined;
    const made = signature.getReturnType().symbol?.valueDeclaration;
    return made && ts.isClassLike(made) ? made : undefined;
  }

  /** The other declarations that a call of a union's member may reach. */
  function unionMembers(callee: ts.Expression): ts.Node[] {
    if (!ts.isPropertyAccessExpression(callee)) return [];
    const receiver = checker.getTypeAtLocation(callee.expression);
    if (!receiver.isUnion()) return [];
    return receiver.types.flatMap((type) => checker.getPropertyOfType(type, callee.name.text)?.declarations ?? []);
  }

  /** The function with which a constant or property is declared, regardless of its declared type. */
  function writtenFunction(callee: ts.Expression): ts.Node | undefined {
    const declaration = symbolAt(callee)?.valueDeclaration;
    if (!declaration || !isInside(declaration)) return undefined;
    if (!ts.isVariableDeclaration(declaration) && !ts.isPropertyDeclaration(declaration)) return undefined;
    const value = declaration.initializer;
    return value && (ts.isArrowFunction(value) || ts.isFunctionExpression(value)) ? value : undefined;
  }

  /** For `f.call(…)` and `f.apply(…)`, the called function is f. */
  function unwrapApply(callee: ts.Expression): ts.Expression {
    if (!ts.isPropertyAccessExpression(callee) || !/^(call|apply)$/.test(callee.name.text)) return callee;
    const receiver = checker.getTypeAtLocation(callee.expression);
    return receiver.getCallSignatures().length > 0 ? callee.expression : callee;
  }

  function viaHolder(callee: ts.Expression): number {
    for (const declaration of symbolAt(callee)?.declarations ?? []) {
      if (!isInside(declaration)) continue;
      const holder = holderOf(declaration);
      const row = holder ? locate(holder, true) : -1;
      if (row >= 0) return row;
    }
    return -1;
  }

  function visitCall(node: CallNode, path: string): void {
    const written = calleeOf(node);
    const callee = unwrapApply(written);
    const at = ts.isNewExpression(node) ? node : ts.isPropertyAccessExpression(written) ? written.name : written;
    const key = `${path}:${node.getSourceFile().getLineAndCharacterOfPosition(at.getStart()).line + 1}`;
    verdicts.sites++;
    const signature = checker.getResolvedSignature(node);
    const made = signature && findClass(node, signature);
    const direct = callee === written ? signature : checker.getTypeAtLocation(callee).getCallSignatures()[0];
    const declared = direct?.getDeclaration() as ts.Node | undefined;
    const declaration = made ?? writtenFunction(callee) ?? declared;
    if (!signature || (!declaration && checker.getTypeAtLocation(callee).flags & ts.TypeFlags.Any)) {
      verdicts.untyped++;
      verdicts.unknown.add(key);
      return;
    }
    if (made && declared && made !== declared.parent) {
      const base = findNamed(declared);
      const row = base && isInside(base.node) ? locate(base, false) : -1;
      if (row >= 0) put(verdicts.accepted, key, row);
    }
    const target = declaration && isInside(declaration) ? findNamed(declaration) : undefined;
    let row = target ? locate(target, false) : -1;
    if (row < 0) row = viaHolder(callee);
    if (row < 0) {
      if (declaration && !isInside(declaration)) {
        verdicts.outside++;
        return;
      }
      verdicts.unknown.add(key);
      if (target) {
        const source = target.node.getSourceFile();
        const line = source.getLineAndCharacterOfPosition(target.node.getStart()).line + 1;
        verdicts.missingNodes.push(`${relative(root, source.fileName)}:${line} ${target.names[0]}`);
      }
      return;
    }
    put(verdicts.truth, key, row);
    for (const other of unionMembers(callee)) {
      const member = isInside(other) ? findNamed(other) : undefined;
      const accepted = member ? locate(member, false) : -1;
      if (accepted >= 0) put(verdicts.accepted, key, accepted);
    }
  }

  for (const path of paths) {
    const source = program.getSourceFile(`${root}/${path}`);
    if (!source) continue;
    const visit = (node: ts.Node): void => {
      if (ts.isNewExpression(node) || ts.isTaggedTemplateExpression(node)) visitCall(node, path);
      else if (ts.isCallExpression(node) && !isImport(node)) visitCall(node, path);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return verdicts;
}

/**
 * Whether a call is `import(…)`, or `require(…)` where that imports modules. Such a call loads a module and calls
 * nothing in the repository.
 */
function isImport(node: ts.CallExpression): boolean {
  if (node.expression.kind === ts.SyntaxKind.ImportKeyword) return true;
  return ts.isIdentifier(node.expression) && node.expression.text === "require" && node.arguments.length === 1;
}
