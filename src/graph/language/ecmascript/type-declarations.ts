/** Declarations of types in TypeScript. */
import { exists, type SymbolRow, type TreeNode } from "../../rows.ts";
import { HeritageKind, ScopeKind, SymbolFlag } from "../fact-layout.ts";
import { type Context, docBefore, signatureOf, type Walk } from "./context.ts";
import { statements } from "./statements.ts";
import { memberName, typeMembers, typeParameters } from "./types.ts";

/** Interfaces, aliases, enums and namespaces. Returns the symbol. */
export function typeDeclaration(walk: Walk, node: TreeNode, context: Context, flags: number): SymbolRow {
  const { tree, facts } = walk;
  const kind = tree.kind(node);
  const label =
    kind === "interface_declaration"
      ? "Interface"
      : kind === "enum_declaration"
        ? "Enum"
        : kind === "type_alias_declaration"
          ? "TypeAlias"
          : "Namespace";
  const nameNode = tree.child(node, "name");
  const name = tree.source(nameNode);
  const body = tree.child(node, "body");
  const symbol = facts.symbol({
    label,
    name: tree.kind(nameNode) === "string" ? name.slice(1, -1) : name,
    parent: context.parent,
    scope: context.scope,
    startLine: tree.line(node),
    endLine: tree.endLine(node),
    flags,
    signature: signatureOf(tree, node, body),
    doc: docBefore(tree, node),
  });
  if (tree.kind(nameNode) !== "string") facts.bind(symbol);
  const scope = facts.scope(context.scope, label === "Namespace" ? ScopeKind.Namespace : ScopeKind.Class, symbol);
  const inside: Context = { ...context, scope, varScope: scope, symbol, parent: symbol, thisScope: scope };
  facts.setSymbol(symbol, "typeParameters", typeParameters(walk, tree.child(node, "type_parameters"), inside));
  if (label === "TypeAlias") facts.setSymbol(symbol, "type", walk.type(tree.child(node, "value"), inside));
  else if (label === "Interface") {
    const extending = tree.childOfKind(node, "extends_type_clause");
    if (exists(extending))
      for (const base of tree.namedChildren(extending))
        facts.heritage(symbol, HeritageKind.Extends, walk.type(base, inside), tree.line(base));
    typeMembers(walk, body, inside);
  } else if (label === "Enum") enumMembers(walk, body, inside);
  else if (exists(body)) statements(walk, body, { ...inside, top: true, returns: undefined });
  return symbol;
}

function enumMembers(walk: Walk, body: TreeNode, context: Context): void {
  const { tree, facts } = walk;
  for (const member of tree.namedChildren(body)) {
    const assigned = tree.kind(member) === "enum_assignment";
    const name = memberName(walk, assigned ? tree.child(member, "name") : member);
    if (assigned) walk.expression(tree.child(member, "value"), context);
    if (name === "") continue;
    const symbol = facts.symbol({
      label: "Property",
      name,
      parent: context.parent,
      scope: context.scope,
      startLine: tree.line(member),
      endLine: tree.endLine(member),
      flags: SymbolFlag.Static | SymbolFlag.EnumMember,
    });
    facts.bind(symbol);
  }
}
