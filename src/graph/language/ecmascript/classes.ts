/** Classes of TypeScript and JavaScript. */
import { exists, isNone, NONE, type SymbolRow, type TreeNode } from "../../rows.ts";
import { HeritageKind, ScopeKind, SymbolFlag } from "../fact-layout.ts";
import { type Context, docBefore, isLambda, signatureOf, type Walk } from "./context.ts";
import { decoratorsIn, noteDecorators, takeDecorators } from "./decorators.ts";
import { expectType, functionOf } from "./expectations.ts";
import { statements } from "./statements.ts";
import { memberName, typeArguments, typeParameters } from "./types.ts";

/** Declares a class with its members; binds its name. Returns its symbol. */
export function classLike(walk: Walk, node: TreeNode, name: string, context: Context, flags: number): SymbolRow {
  const { tree, facts } = walk;
  const body = tree.child(node, "body");
  const symbol = facts.symbol({
    label: "Class",
    name,
    parent: context.parent,
    scope: context.scope,
    startLine: tree.line(node),
    endLine: tree.endLine(node),
    flags: flags | (tree.kind(node) === "abstract_class_declaration" ? SymbolFlag.Abstract : 0),
    signature: signatureOf(tree, node, body),
    doc: docBefore(tree, node),
  });
  if (name !== "") facts.bind(symbol);
  if (name !== "" && context.scope === 0) walk.tops.set(name, symbol);
  const scope = facts.scope(context.scope, ScopeKind.Class, symbol);
  const owner = name === "" ? context.symbol : symbol;
  const before = takeDecorators(walk);
  const own = decoratorsIn(walk, node, { ...context, symbol: owner });
  if (name !== "") noteDecorators(walk, symbol, context.scope, [...before, ...own]);
  const inside: Context = {
    ...context,
    scope,
    varScope: scope,
    symbol: owner,
    parent: symbol,
    thisScope: scope,
    top: false,
  };
  facts.setSymbol(symbol, "typeParameters", typeParameters(walk, tree.child(node, "type_parameters"), inside));
  for (const child of tree.namedChildren(node)) {
    if (tree.kind(child) === "class_heritage") heritage(walk, child, symbol, inside);
  }
  const declared = new Map<string, SymbolRow>();
  if (exists(body)) for (const member of tree.namedChildren(body)) classMember(walk, member, inside, declared);
  walk.decorators = [];
  return symbol;
}

function heritage(walk: Walk, node: TreeNode, symbol: SymbolRow, context: Context): void {
  const { tree, facts } = walk;
  const line = tree.line(node);
  const clauses = tree.namedChildren(node);
  for (const clause of clauses) {
    const kind = tree.kind(clause);
    if (kind === "implements_clause") {
      for (const base of tree.namedChildren(clause))
        facts.heritage(symbol, HeritageKind.Implements, walk.type(base, context), line);
      continue;
    }
    // TypeScript wraps the base in a clause, JavaScript does not.
    const base = kind === "extends_clause" ? tree.child(clause, "value") : clause;
    const args = kind === "extends_clause" ? typeArguments(walk, tree.child(clause, "type_arguments"), context) : [];
    const outer = { ...context, scope: context.scope };
    if (tree.kind(base) === "identifier") {
      const row = facts.typeRef(tree.source(base), outer.scope, args);
      facts.useType(row, context.symbol, line);
      facts.heritage(symbol, HeritageKind.Extends, row, line, facts.exprName(tree.source(base), outer.scope));
    } else {
      facts.heritage(symbol, HeritageKind.Extends, NONE, line, walk.expression(base, outer));
    }
  }
}

function classMember(walk: Walk, member: TreeNode, context: Context, declared: Map<string, SymbolRow>): void {
  const { tree } = walk;
  switch (tree.kind(member)) {
    case "method_definition":
    case "method_signature":
    case "abstract_method_signature":
      method(walk, member, context, declared);
      return;
    case "public_field_definition":
    case "field_definition":
      field(walk, member, context);
      return;
    case "class_static_block":
      statements(walk, tree.child(member, "body"), context);
      return;
    case "decorator":
      walk.decorators.push({ node: member, row: walk.expression(tree.firstNamed(member), context) });
      return;
    case "index_signature":
      walk.type(tree.child(member, "type"), context);
      return;
    default:
  }
}

function method(walk: Walk, node: TreeNode, context: Context, declared: Map<string, SymbolRow>): void {
  const { tree, facts } = walk;
  const nameNode = tree.child(node, "name");
  const name = memberName(walk, nameNode);
  const decorators = [...takeDecorators(walk), ...decoratorsIn(walk, node, context)];
  if (tree.kind(nameNode) === "computed_property_name") walk.expression(tree.firstNamed(nameNode), context);
  const getter = exists(tree.childOfKind(node, "get"));
  const setter = exists(tree.childOfKind(node, "set"));
  const isStatic = exists(tree.childOfKind(node, "static"));
  const signature = tree.kind(node) !== "method_definition";
  const key = `${isStatic ? "static " : ""}${name}`;
  const open = signature || declared.has(key) ? declared.get(key) : undefined;
  let flags = name === "" ? SymbolFlag.Hidden : 0;
  if (isStatic) flags |= SymbolFlag.Static;
  if (getter) flags |= SymbolFlag.Getter;
  if (signature) flags |= SymbolFlag.Signature;
  if (exists(tree.childOfKind(node, "abstract"))) flags |= SymbolFlag.Abstract;
  if (name === "constructor" && !isStatic) flags |= SymbolFlag.Constructor;
  const symbol = facts.symbol({
    label: getter || setter ? "Property" : "Method",
    name,
    parent: context.parent,
    scope: context.scope,
    startLine: open === undefined ? tree.line(node) : facts.symbols.startLine(open),
    endLine: tree.endLine(node),
    flags,
    signature: signatureOf(tree, node, tree.child(node, "body")),
    doc: docBefore(tree, node),
  });
  noteDecorators(walk, symbol, context.scope, decorators);
  if (setter && declared.has(`get ${key}`)) facts.addFlag(symbol, SymbolFlag.Hidden);
  if (open !== undefined && !getter && !setter) facts.addFlag(open, SymbolFlag.Hidden | SymbolFlag.Signature);
  if (signature && !tree.source(node).startsWith("abstract")) declared.set(key, symbol);
  else declared.delete(key);
  if (getter) declared.set(`get ${key}`, symbol);
  const inside = name === "" ? context : { ...context, symbol };
  walk.functionBody(node, symbol, inside, { arrow: false, thisScope: context.scope });
  if (flags & SymbolFlag.Constructor) parameterProperties(walk, node, symbol, context);
}

/** `constructor(private x: X)` declares the property x. */
function parameterProperties(walk: Walk, node: TreeNode, owner: SymbolRow, context: Context): void {
  const { tree, facts } = walk;
  const list = tree.child(node, "parameters");
  if (isNone(list)) return;
  const scope = facts.symbols.inner(owner);
  for (const parameter of tree.namedChildren(list)) {
    const modified = tree.namedChildren(parameter).some((child) => /modifier$/.test(tree.kind(child)));
    if (!modified && isNone(tree.childOfKind(parameter, "readonly"))) continue;
    const pattern = tree.child(parameter, "pattern");
    if (isNone(pattern) || tree.kind(pattern) !== "identifier") continue;
    const name = tree.source(pattern);
    facts.symbol({
      label: "Property",
      name,
      parent: context.parent,
      scope: context.scope,
      startLine: tree.line(parameter),
      endLine: tree.endLine(parameter),
      value: facts.exprName(name, scope),
      signature: signatureOf(tree, parameter, NONE),
    });
  }
}

function field(walk: Walk, node: TreeNode, context: Context): void {
  const { tree, facts } = walk;
  const nameField = tree.child(node, "name");
  const nameNode = exists(nameField) ? nameField : tree.child(node, "property");
  const name = memberName(walk, nameNode);
  const valueNode = tree.child(node, "value");
  const functional = isLambda(tree.kind(valueNode));
  const decorators = [...takeDecorators(walk), ...decoratorsIn(walk, node, context)];
  const symbol = facts.symbol({
    label: functional ? "Method" : "Property",
    name,
    parent: context.parent,
    scope: context.scope,
    startLine: tree.line(node),
    endLine: tree.endLine(node),
    flags: (name === "" ? SymbolFlag.Hidden : 0) | (exists(tree.childOfKind(node, "static")) ? SymbolFlag.Static : 0),
    signature: signatureOf(tree, node, functional ? tree.child(valueNode, "body") : NONE),
    doc: docBefore(tree, node),
  });
  noteDecorators(walk, symbol, context.scope, decorators);
  const inside = name === "" ? context : { ...context, symbol };
  const type = walk.type(tree.child(node, "type"), inside);
  if (functional) {
    const expected = expectType(walk, type);
    walk.functionBody(valueNode, symbol, inside, {
      arrow: tree.kind(valueNode) === "arrow_function",
      thisScope: context.scope,
      ...functionOf(walk, expected),
    });
    if (expected && isNone(facts.symbols.type(symbol))) facts.setSymbol(symbol, "value", expected());
  } else {
    facts.setSymbol(symbol, "type", type);
    const within = { ...inside, parent: symbol };
    if (exists(valueNode)) facts.setSymbol(symbol, "value", walk.expected(valueNode, within, expectType(walk, type)));
  }
}
