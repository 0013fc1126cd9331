/** PHP's declarations and statements. */

import type { SymbolLabel } from "../../model.ts";
import {
  type BindingRow,
  type ExprRow,
  exists,
  FILE_SCOPE,
  isNone,
  NONE,
  ROOT,
  type SymbolRow,
  type TreeNode,
  type TypeRow,
} from "../../rows.ts";
import { type Place, packArity } from "../block-walk.ts";
import { BindingKind, Expr, HeritageKind, ImportKind, ScopeKind, SymbolFlag, Type } from "../fact-layout.ts";
import type { DecoratorInput } from "../facts-builder.ts";
import { PhpExpressions } from "./expressions.ts";

const LABELS: Record<string, SymbolLabel> = {
  class_declaration: "Class",
  interface_declaration: "Interface",
  trait_declaration: "Trait",
  enum_declaration: "Enum",
};

export class PhpWalk extends PhpExpressions {
  file(): void {
    const { tree } = this;
    const at = this.top();
    if (tree.count === 0) return;
    const declared = tree.childOfKind(ROOT, "namespace_definition");
    if (isNone(declared)) this.facts.space(at.scope, "");
    this.statements(ROOT, at);
  }

  protected statementOf(node: TreeNode, at: Place): Place {
    const { tree } = this;
    const kind = tree.kind(node);
    switch (kind) {
      case "namespace_definition":
        return this.nameSpace(node, at);
      case "namespace_use_declaration":
        this.use(node, at);
        return at;
      case "class_declaration":
      case "interface_declaration":
      case "trait_declaration":
      case "enum_declaration":
        this.typeDeclaration(node, at);
        return at;
      case "function_definition":
        this.functionLike(node, at, "Function");
        return at;
      case "method_declaration":
        this.functionLike(node, at, "Method");
        return at;
      case "property_declaration":
        this.properties(node, at);
        return at;
      case "const_declaration":
        this.constants(node, at);
        return at;
      case "enum_case":
        this.enumCase(node, at);
        return at;
      case "use_declaration":
        for (const name of tree.namedChildren(node))
          if (/name$/.test(tree.kind(name)) && exists(at.parent))
            this.facts.heritage(at.parent, HeritageKind.Mixin, this.type(name, at), tree.line(name));
        return at;
      case "foreach_statement":
        this.forEach(node, at);
        return at;
      case "if_statement":
      case "else_if_clause":
      case "while_statement":
        this.conditional(node, at);
        return at;
      case "catch_clause": {
        const type = this.type(tree.child(node, "type"), at);
        const name = tree.child(node, "name");
        if (exists(name)) this.bindVariable(this.text(name), at, type, NONE);
        this.statement(tree.child(node, "body"), at);
        return at;
      }
      case "return_statement": {
        const value = this.expression(tree.firstNamed(node), at);
        if (exists(value)) at.returns?.push(value);
        return at;
      }
      default:
        return this.otherStatement(node, kind, at);
    }
  }

  private otherStatement(node: TreeNode, kind: string, at: Place): Place {
    const { tree, facts } = this;
    if (/^(require|include)(_once)?_expression$/.test(kind)) {
      const path = /['"]\/?([^'"$]+\.php)['"]\s*\)?$/.exec(this.text(node));
      if (path) {
        const statement = this.importStatement(node, path[1]!, at.scope);
        facts.import(ImportKind.Effect, `./${path[1]}`, "", "", tree.line(node), at.scope, statement);
      }
    }
    if (kind === "static_variable_declaration")
      this.bindVariable(this.field(node, "name"), at, NONE, this.expression(tree.child(node, "value"), at));
    else if (
      kind === "compound_statement" ||
      /(_statement|_clause|_declaration|_block|^program|^ERROR|^declaration_list)$/.test(kind)
    ) {
      let place = at;
      for (const child of tree.namedChildren(node)) place = this.statement(child, place);
    } else this.expression(node, at);
    return at;
  }

  private nameSpace(node: TreeNode, at: Place): Place {
    const { tree, facts } = this;
    const name = this.field(node, "name").replace(/\s+/g, "");
    const body = tree.child(node, "body");
    const scope = facts.scope(isNone(body) ? at.scope : FILE_SCOPE, ScopeKind.Namespace);
    facts.space(scope, name);
    this.space = name;
    this.spaceScope = scope;
    this.aliases.clear();
    // A function that the name space does not have is looked up among the global ones.
    if (name !== "") facts.import(ImportKind.Wildcard, "", "*", "", tree.line(node), scope);
    const inside = { ...at, scope };
    if (isNone(body)) return inside;
    this.statements(body, inside);
    this.space = "";
    this.spaceScope = FILE_SCOPE;
    return at;
  }

  private use(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const group = tree.child(node, "body");
    const prefix = isNone(group) ? "" : `${this.text(tree.childOfKind(node, "namespace_name"))}\\`;
    for (const clause of tree.namedChildren(isNone(group) ? node : group)) {
      if (tree.kind(clause) !== "namespace_use_clause") continue;
      const named = tree.namedChildren(clause).find((child) => tree.fieldName(child) !== "alias");
      if (named === undefined) continue;
      const full = `${prefix}${this.text(named)}`.replace(/^\\/, "");
      const cut = full.lastIndexOf("\\");
      const alias = this.field(clause, "alias");
      const local = alias || full.slice(cut + 1);
      this.aliases.set(local.toLowerCase(), full);
      facts.import(
        ImportKind.Named,
        full.slice(0, Math.max(0, cut)),
        full.slice(cut + 1),
        local,
        tree.line(clause),
        at.scope,
        this.importStatement(clause, full, at.scope),
      );
    }
  }

  private modifiers(node: TreeNode): number {
    const { tree } = this;
    let flags = SymbolFlag.Exported;
    for (const child of tree.namedChildren(node)) {
      const kind = tree.kind(child);
      if (kind === "visibility_modifier" && this.text(child) !== "public") flags &= ~SymbolFlag.Exported;
      else if (kind === "static_modifier") flags |= SymbolFlag.Static;
      else if (kind === "abstract_modifier") flags |= SymbolFlag.Abstract;
    }
    return flags;
  }

  protected override decoratorsOf(node: TreeNode, at: Place): readonly DecoratorInput[] {
    const { tree, facts } = this;
    const list = tree.childOfKind(node, "attribute_list");
    const groups = tree.namedChildren(list);
    return groups.flatMap((group) =>
      tree.namedChildren(group).map((one) => {
        const name = this.text(tree.firstNamed(one));
        const type = facts.typeRef(this.localName(name), this.nameScope(at));
        return this.decorator(one, name, { type });
      }),
    );
  }

  private typeDeclaration(node: TreeNode, at: Place): void {
    const { tree } = this;
    const body = tree.child(node, "body");
    const label = LABELS[tree.kind(node)]!;
    const flags = this.modifiers(node);
    const symbol = this.declare(
      { label, name: this.field(node, "name"), node, body, flags },
      { ...at, scope: this.spaceScope },
    );
    this.classBody(node, symbol, body, label, at);
  }

  private classBody(node: TreeNode, symbol: SymbolRow, body: TreeNode, label: SymbolLabel, at: Place): void {
    const { tree, facts } = this;
    const inside = { ...this.openClass(symbol, { ...at, scope: this.spaceScope }), returns: undefined };
    for (const clause of tree.namedChildren(node)) {
      const kind = tree.kind(clause);
      if (kind !== "base_clause" && kind !== "class_interface_clause") continue;
      const extending = kind === "base_clause" || label === "Interface";
      for (const base of tree.namedChildren(clause))
        facts.heritage(
          symbol,
          extending ? HeritageKind.Extends : HeritageKind.Implements,
          this.type(base, inside),
          tree.line(base),
        );
    }
    if (exists(body)) for (const member of tree.namedChildren(body)) this.statement(member, inside);
  }

  protected anonymousClass(node: TreeNode, at: Place): TypeRow {
    const hidden = this.declare({ label: "Class", name: "", node, body: NONE, flags: SymbolFlag.Hidden }, at);
    this.classBody(node, hidden, this.tree.child(node, "body"), "Class", at);
    return this.facts.type(Type.Object, hidden);
  }

  private functionLike(node: TreeNode, at: Place, label: "Function" | "Method"): void {
    const { tree, facts } = this;
    const name = this.field(node, "name");
    const body = tree.child(node, "body");
    const doc = this.docComment(node);
    let flags = this.modifiers(node);
    if (name === "__construct") flags |= SymbolFlag.Constructor;
    if (/^test[A-Z_]/.test(name) || /@test\b|#\[Test\]|#\[Route\(/.test(doc)) flags |= SymbolFlag.Entry;
    const scope = label === "Function" ? this.spaceScope : at.scope;
    const symbol = this.declare({ label, name, node, body, flags, bound: label === "Function" }, { ...at, scope });
    const inside = this.open(symbol, at);
    this.parameters(tree.child(node, "parameters"), symbol, inside, doc);
    const result = tree.child(node, "return_type");
    const written = isNone(result) ? NONE : this.type(result, inside);
    const documented =
      isNone(written) || this.isVague(result) ? this.tagType(doc, "return", "", inside, tree.line(node)) : NONE;
    if (exists(documented) || exists(written))
      facts.setSymbol(symbol, "type", exists(documented) ? documented : written);
    this.statements(body, inside);
    this.close(symbol, inside);
  }

  /** Whether a declared type is so general that a doc comment may say more. */
  private isVague(node: TreeNode): boolean {
    return /^\??\s*(array|iterable|object|mixed|Generator|\\?Traversable|\\?Iterator)$/i.test(this.text(node));
  }

  protected parameters(list: TreeNode, symbol: SymbolRow, inside: Place, doc: string): void {
    const { tree, facts } = this;
    const rows: BindingRow[] = [];
    let required = 0;
    let variadic = false;
    for (const parameter of tree.namedChildren(list)) {
      const kind = tree.kind(parameter);
      const nameNode = tree.child(parameter, "name");
      if (isNone(nameNode)) continue;
      const name = this.text(nameNode).replace(/^&/, "");
      const typeNode = tree.child(parameter, "type");
      let type = isNone(typeNode) ? NONE : this.type(typeNode, inside);
      if (isNone(typeNode) || this.isVague(typeNode)) {
        const documented = this.tagType(doc, "param", name.slice(1), inside, tree.line(parameter));
        if (exists(documented)) type = documented;
      }
      if (kind === "variadic_parameter") {
        variadic = true;
        type = facts.type(Type.Array, type);
      }
      const given = tree.child(parameter, "default_value");
      const value = this.expression(given, inside);
      if (kind === "property_promotion_parameter") this.declarePromoted(parameter, name, type, inside);
      rows.push(facts.local(inside.scope, name, type, value, BindingKind.Parameter));
      if (isNone(given) && !variadic) required = rows.length;
    }
    facts.setSymbol(symbol, "parameters", facts.list(rows));
    facts.setSymbol(symbol, "arity", packArity(required, rows.length, variadic));
  }

  private declarePromoted(node: TreeNode, name: string, type: TypeRow, at: Place): void {
    const { facts } = this;
    const owner = facts.scopes.symbol(at.thisScope);
    const place = { ...at, scope: at.thisScope, parent: owner };
    const symbol = this.declare({ label: "Property", name: name.slice(1), node, body: NONE, bound: false }, place);
    if (exists(type)) facts.setSymbol(symbol, "type", type);
  }

  protected giveContext(symbol: SymbolRow, contextual: (parameter: number) => ExprRow): void {
    this.parameterRows(symbol).forEach((row, i) => {
      this.facts.bindings.setValue(row, contextual(i));
    });
  }

  private parameterRows(symbol: SymbolRow): BindingRow[] {
    const list = this.facts.symbols.parameters(symbol);
    return isNone(list) ? [] : this.facts.listItems(list);
  }

  private properties(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const typeNode = tree.child(node, "type");
    const written = isNone(typeNode) ? NONE : this.type(typeNode, at);
    const documented =
      isNone(typeNode) || this.isVague(typeNode)
        ? this.tagType(this.docComment(node), "var", "", at, tree.line(node))
        : NONE;
    const flags = this.modifiers(node);
    for (const element of tree.namedChildren(node)) {
      if (tree.kind(element) !== "property_element") continue;
      const name = this.field(element, "name").replace(/^\$/, "");
      const symbol = this.declare({ label: "Property", name, node, body: NONE, flags, bound: false }, at);
      if (exists(documented) || exists(written))
        facts.setSymbol(symbol, "type", exists(documented) ? documented : written);
      const value = this.expression(tree.child(element, "default_value"), { ...at, symbol });
      if (exists(value)) facts.setSymbol(symbol, "value", value);
    }
  }

  private constants(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const inType = exists(at.thisScope) && at.thisScope === at.scope;
    const flags = this.modifiers(node) | SymbolFlag.Static;
    for (const element of tree.namedChildren(node)) {
      if (tree.kind(element) !== "const_element") continue;
      const [name = NONE, value = NONE] = tree.namedChildren(element);
      const symbol = this.declare(
        { label: "Const", name: this.text(name), node, body: NONE, flags, bound: !inType },
        at,
      );
      facts.setSymbol(symbol, "value", this.expression(value, { ...at, symbol }));
    }
  }

  private enumCase(node: TreeNode, at: Place): void {
    const flags = SymbolFlag.Static | SymbolFlag.EnumMember | SymbolFlag.Exported;
    this.declare({ label: "Property", name: this.field(node, "name"), node, body: NONE, flags, bound: false }, at);
  }

  private forEach(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const [source = NONE, target = NONE] = tree.namedChildren(node);
    const over = this.expression(source, at);
    const element = facts.expr(Expr.Iterate, over);
    if (tree.kind(target) === "pair") {
      const [key = NONE, value = NONE] = tree.namedChildren(target);
      this.bind(key, at, NONE);
      this.bind(value, at, element);
    } else this.bind(target, at, element);
    this.statement(tree.child(node, "body"), at);
  }

  private conditional(node: TreeNode, at: Place): void {
    const { tree } = this;
    const condition = tree.child(node, "condition");
    this.expression(condition, at);
    const inside = this.narrow(condition, at);
    for (const child of tree.namedChildren(node)) {
      if (child === condition) continue;
      this.statement(child, tree.fieldName(child) === "body" ? inside : at);
    }
  }
}
