/** Rust's items and statements. */

import type { SymbolLabel } from "../../model.ts";
import {
  type BindingRow,
  exists,
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
import { RustImports } from "./imports.ts";

const LABELS: Record<string, SymbolLabel> = {
  struct_item: "Struct",
  union_item: "Struct",
  enum_item: "Enum",
  trait_item: "Trait",
};

export class RustWalk extends RustImports {
  private test = false;
  /** Scopes of impls that implement a trait. */
  private readonly traitImpls = new Set<number>();
  /** Attributes of the next item. */
  private attributes: DecoratorInput[] = [];

  file(): void {
    const { tree, facts } = this;
    const at = this.top();
    if (tree.count === 0) return;
    this.modules.push({ scope: at.scope, path: "" });
    this.noteNames(ROOT);
    this.statements(ROOT, at);
    // Undeclared names at the beginning of a path are crates: of the workspace, or from outside.
    for (const name of this.pathRoots)
      if (!this.topNames.has(name)) facts.import(ImportKind.Module, name, "*", name, 1, at.scope);
  }

  /** Records the names that the top of the file declares. Imported names are added when their `use` is walked. */
  private noteNames(node: TreeNode): void {
    const { tree } = this;
    for (const child of tree.namedChildren(node)) {
      const name = tree.child(child, "name");
      if (isNone(name)) continue;
      this.topNames.add(this.text(name));
      this.ownNames.add(this.text(name));
    }
  }

  protected statementOf(node: TreeNode, at: Place): Place {
    if (this.tree.kind(node) === "attribute_item") {
      this.test = /^#\[\s*((\w+::)*test|rstest|bench)\b/.test(this.text(node));
      this.attribute(node);
      return at;
    }
    const after = this.item(node, at);
    this.attributes = [];
    return after;
  }

  private attribute(node: TreeNode): void {
    const name = this.tree.firstNamed(this.tree.firstNamed(node));
    if (exists(name)) this.attributes.push(this.decorator(node, this.text(name), {}));
  }

  protected override decoratorsOf(): readonly DecoratorInput[] {
    const { attributes } = this;
    this.attributes = [];
    return attributes;
  }

  private item(node: TreeNode, at: Place): Place {
    const { tree, facts } = this;
    const kind = tree.kind(node);
    switch (kind) {
      case "use_declaration":
        this.use(tree.child(node, "argument"), "", at, tree.line(node));
        return at;
      case "mod_item":
        this.module(node, at);
        return at;
      case "struct_item":
      case "union_item":
      case "enum_item":
      case "trait_item":
        this.typeItem(node, at);
        return at;
      case "impl_item":
        this.impl(node, at);
        return at;
      case "function_item":
      case "function_signature_item":
        this.functionItem(node, at, NONE);
        return at;
      case "const_item":
      case "static_item":
        this.constant(node, at);
        return at;
      case "type_item":
      case "associated_type":
        this.typeAlias(node, at);
        return at;
      case "macro_definition":
        this.macroDefinition(node, at);
        return at;
      case "let_declaration":
        return this.letDeclaration(node, at);
      case "inner_attribute_item":
        this.attribute(node);
        for (const one of this.decoratorsOf()) facts.decorator(at.parent, at.scope, one);
        return at;
      case "extern_crate_declaration": {
        const alias = this.field(node, "alias");
        const name = this.field(node, "name");
        this.topNames.add(alias || name);
        const statement = this.importStatement(node, name, at.scope);
        facts.import(ImportKind.Module, name, "*", alias || name, tree.line(node), at.scope, statement);
        return at;
      }
      case "foreign_mod_item":
      case "declaration_list":
      case "source_file":
      case "ERROR":
        this.statements(node, at);
        return at;
      case "expression_statement":
        this.expression(tree.firstNamed(node), at);
        return at;
      default:
        this.expression(node, at);
        return at;
    }
  }

  private module(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const name = this.field(node, "name");
    const body = tree.child(node, "body");
    if (isNone(body)) {
      const statement = this.importStatement(node, name, at.scope);
      const path = this.canonical(`self::${name}`);
      facts.import(ImportKind.Module, path, "*", name, tree.line(node), at.scope, statement);
      return;
    }
    const symbol = this.declare({ label: "Namespace", name, node, body, flags: this.flags(node) }, at);
    const scope = facts.scope(at.scope, ScopeKind.Namespace, symbol);
    this.modules.push({ scope, path: name });
    const inside = { ...at, scope, symbol: at.symbol, parent: symbol };
    this.statements(body, inside);
    this.modules.pop();
  }

  /** Whether declarations here belong to a trait or an impl. */
  private inType(at: Place): boolean {
    const label = this.facts.labelOf(at.parent);
    return label === "Trait" || label === "Impl";
  }

  private flags(node: TreeNode): number {
    return exists(this.tree.childOfKind(node, "visibility_modifier")) ? SymbolFlag.Exported : 0;
  }

  private typeItem(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const label = LABELS[tree.kind(node)]!;
    const body = tree.child(node, "body");
    const flags = this.flags(node);
    const symbol = this.declare({ label, name: this.field(node, "name"), node, body, flags }, at);
    const inside = this.openClass(symbol, at);
    this.typeParameters(tree.child(node, "type_parameters"), symbol, inside, tree.childOfKind(node, "where_clause"));
    const bounds = tree.child(node, "bounds");
    for (const bound of tree.namedChildren(bounds))
      if (tree.kind(bound) !== "lifetime")
        facts.heritage(symbol, HeritageKind.Extends, this.type(bound, inside), tree.line(bound));
    if (isNone(body)) return;
    if (label === "Enum") for (const variant of tree.namedChildren(body)) this.variant(variant, inside);
    else if (label === "Trait") for (const member of tree.namedChildren(body)) this.member(member, inside, NONE);
    else this.fields(body, inside);
  }

  private fields(body: TreeNode, at: Place): void {
    const { tree, facts } = this;
    let position = 0;
    for (const child of tree.namedChildren(body)) {
      if (tree.kind(child) === "attribute_item") this.attribute(child);
      const ordered = tree.fieldName(child) === "type";
      if (!ordered && tree.kind(child) !== "field_declaration") continue;
      const name = ordered ? String(position++) : this.field(child, "name");
      const flags = ordered ? SymbolFlag.Hidden : this.flags(child);
      const symbol = this.declare({ label: "Property", name, node: child, body: NONE, flags, bound: false }, at);
      facts.setSymbol(
        symbol,
        "type",
        this.type(ordered ? child : tree.child(child, "type"), { ...at, symbol: at.symbol }),
      );
    }
  }

  private variant(node: TreeNode, at: Place): void {
    const { tree } = this;
    if (tree.kind(node) === "attribute_item") this.attribute(node);
    if (tree.kind(node) !== "enum_variant") return;
    const flags = SymbolFlag.Static | SymbolFlag.EnumMember | SymbolFlag.Exported;
    const name = this.field(node, "name");
    const body = tree.child(node, "body");
    const symbol = this.declare({ label: "Property", name, node, body, flags, bound: false }, at);
    if (exists(body)) this.fields(body, { ...at, parent: symbol });
    this.expression(tree.child(node, "value"), { ...at, symbol });
  }

  private impl(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const typeNode = tree.child(node, "type");
    const body = tree.child(node, "body");
    const name = this.text(typeNode)
      .replace(/<[\s\S]*$/, "")
      .replace(/^[&\s]*(mut |dyn )?/, "")
      .split("::")
      .pop()!
      .trim();
    const symbol = this.declare({ label: "Impl", name: name || "impl", node, body, bound: false }, at);
    const inside = this.openClass(symbol, at);
    this.typeParameters(tree.child(node, "type_parameters"), NONE, inside, tree.childOfKind(node, "where_clause"));
    const type = this.type(typeNode, inside);
    this.selfTypes.set(inside.thisScope, type);
    const trait = tree.child(node, "trait");
    if (exists(trait)) {
      this.traitImpls.add(inside.thisScope);
      const base = this.type(trait, inside);
      facts.heritageOf(type, HeritageKind.Implements, base, tree.line(node));
    }
    if (exists(body)) for (const member of tree.namedChildren(body)) this.member(member, inside, type);
  }

  private member(node: TreeNode, at: Place, type: TypeRow): void {
    const kind = this.tree.kind(node);
    if (kind === "function_item" || kind === "function_signature_item") this.functionItem(node, at, type);
    else if (kind === "const_item") this.constant(node, at, type);
    else this.statement(node, at);
  }

  private functionItem(node: TreeNode, at: Place, implType: TypeRow): void {
    const { tree, facts } = this;
    const inType = this.inType(at);
    const name = this.field(node, "name");
    const body = tree.child(node, "body");
    const list = tree.child(node, "parameters");
    let flags = this.flags(node);
    if (facts.labelOf(at.parent) === "Trait") flags |= SymbolFlag.Exported | (isNone(body) ? SymbolFlag.Abstract : 0);
    if (this.test || (name === "main" && isNone(at.parent))) flags |= SymbolFlag.Entry;
    this.test = false;
    const takesSelf = exists(list) && /^\(\s*(&\s*('\w+\s+)?)?(mut\s+)?self\b/.test(this.text(list));
    if (inType && !takesSelf) flags |= SymbolFlag.Static;
    if (this.traitImpls.has(at.thisScope)) flags |= SymbolFlag.Implements;
    const modifiers = tree.childOfKind(node, "function_modifiers");
    if (exists(modifiers) && /\basync\b/.test(this.text(modifiers))) flags |= SymbolFlag.Async;
    const label = inType ? "Method" : "Function";
    const symbol = this.declare({ label, name, node, body, flags, bound: !inType }, at);
    if (exists(implType)) facts.attach(symbol, implType);
    const inside = this.open(symbol, at);
    this.typeParameters(tree.child(node, "type_parameters"), symbol, inside, tree.childOfKind(node, "where_clause"));
    this.parameters(list, symbol, inside);
    const result = tree.child(node, "return_type");
    if (exists(result)) facts.setSymbol(symbol, "type", this.type(result, inside));
    if (exists(body)) {
      const value = this.blockValue(body, inside);
      inside.returns?.push(value);
    }
    this.close(symbol, inside);
  }

  private parameters(list: TreeNode, symbol: SymbolRow, inside: Place): void {
    const { tree, facts } = this;
    const rows: BindingRow[] = [];
    for (const parameter of tree.namedChildren(list)) {
      const kind = tree.kind(parameter);
      const pattern = tree.child(parameter, "pattern");
      if (kind === "self_parameter" || (kind === "parameter" && tree.kind(pattern) === "self")) {
        facts.local(inside.scope, "self", this.selfType(inside), NONE, BindingKind.Parameter);
        continue;
      }
      if (kind === "attribute_item" || kind === "variadic_parameter") continue;
      const type = this.type(kind === "parameter" ? tree.child(parameter, "type") : parameter, inside);
      if (tree.kind(pattern) === "identifier") rows.push(this.local(this.text(pattern), inside, type, NONE, true));
      else {
        rows.push(facts.local(inside.scope, "", type, NONE, BindingKind.Parameter));
        if (exists(pattern)) this.pattern(pattern, inside, facts.expr(Expr.Typed, type));
      }
    }
    facts.setSymbol(symbol, "parameters", facts.list(rows));
    facts.setSymbol(symbol, "arity", packArity(rows.length, rows.length, false));
  }

  protected functionTypeParts(node: TreeNode, symbol: SymbolRow, inside: Place): void {
    const { tree, facts } = this;
    this.parameters(tree.child(node, "parameters"), symbol, inside);
    const result = tree.child(node, "return_type");
    if (exists(result)) facts.setSymbol(symbol, "type", this.type(result, inside));
  }

  private constant(node: TreeNode, at: Place, implType: TypeRow = NONE): void {
    const { tree, facts } = this;
    const name = this.field(node, "name");
    const inType = this.inType(at);
    if (at.names && !inType) {
      const type = this.type(tree.child(node, "type"), at);
      this.local(name, at, type, this.expression(tree.child(node, "value"), at));
      return;
    }
    const label = tree.kind(node) === "static_item" ? "Variable" : "Const";
    const flags = this.flags(node) | SymbolFlag.Static;
    const symbol = this.declare({ label, name, node, body: NONE, flags, bound: !inType }, at);
    if (exists(implType)) facts.attach(symbol, implType);
    facts.setSymbol(symbol, "type", this.type(tree.child(node, "type"), at));
    facts.setSymbol(symbol, "value", this.expression(tree.child(node, "value"), { ...at, symbol }));
  }

  private typeAlias(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const inType = this.inType(at);
    const flags = this.flags(node);
    const symbol = this.declare(
      { label: "TypeAlias", name: this.field(node, "name"), node, body: NONE, flags, bound: !inType },
      at,
    );
    const scope = facts.scope(at.scope, ScopeKind.Block);
    const inside = { ...at, scope, symbol };
    this.typeParameters(tree.child(node, "type_parameters"), symbol, inside, NONE);
    const bounds = tree.child(node, "bounds");
    const type = tree.child(node, "type");
    if (exists(type)) facts.setSymbol(symbol, "type", this.type(type, inside));
    else if (exists(bounds)) facts.setSymbol(symbol, "type", this.type(bounds, inside));
    else if (inType) facts.setSymbol(symbol, "type", facts.type(Type.Unknown));
    if (inType && this.selfTypes.has(at.thisScope)) facts.attach(symbol, this.selfTypes.get(at.thisScope)!);
  }

  private macroDefinition(node: TreeNode, at: Place): void {
    const { facts } = this;
    const name = this.field(node, "name");
    const symbol = this.declare({ label: "Function", name, node, body: NONE, bound: false }, at);
    facts.bind(symbol, at.scope, facts.name(`${name}!`));
    facts.setSymbol(symbol, "signature", facts.name(`macro_rules! ${name}`));
  }

  private letDeclaration(node: TreeNode, at: Place): Place {
    const { tree, facts } = this;
    const typeNode = tree.child(node, "type");
    const type = isNone(typeNode) ? NONE : this.type(typeNode, at);
    const value = this.expression(tree.child(node, "value"), at);
    this.expression(tree.child(node, "alternative"), at);
    const pattern = tree.child(node, "pattern");
    const known = exists(type) ? facts.expr(Expr.Typed, type, value) : value;
    // A later `let` of the same name hides the earlier one in the statements after it.
    const inside = this.block(at);
    this.pattern(pattern, inside, known);
    return inside;
  }
}
