/** C#'s declarations and statements. */

import type { SymbolLabel } from "../../model.ts";
import { exists, isNone, NONE, ROOT, type SymbolRow, type TreeNode } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { BindingKind, Expr, HeritageKind, ImportKind, ScopeKind, SymbolFlag, Type } from "../fact-layout.ts";
import type { DecoratorInput } from "../facts-builder.ts";
import { EVERYWHERE } from "../language.ts";
import { CSharpLocals } from "./locals.ts";

const LABELS: Record<string, SymbolLabel> = {
  class_declaration: "Class",
  record_declaration: "Class",
  struct_declaration: "Struct",
  record_struct_declaration: "Struct",
  interface_declaration: "Interface",
  enum_declaration: "Enum",
};

export class CSharpWalk extends CSharpLocals {
  /** The full name of the name space that each scope opens. */
  private readonly spaceNames = new Map<number, string>();

  file(): void {
    const at = this.top();
    this.facts.space(at.scope, "");
    if (this.tree.count > 0) this.statements(ROOT, at);
  }

  protected statementOf(node: TreeNode, at: Place): Place {
    const { tree } = this;
    const kind = tree.kind(node);
    switch (kind) {
      case "using_directive":
        this.using(node, at);
        return at;
      case "namespace_declaration":
        this.statements(tree.child(node, "body"), this.nameSpace(node, at));
        return at;
      case "file_scoped_namespace_declaration": {
        const inside = this.nameSpace(node, at);
        const name = tree.child(node, "name");
        let place = inside;
        for (const child of tree.namedChildren(node)) if (child !== name) place = this.statement(child, place);
        return inside;
      }
      case "local_declaration_statement":
      case "variable_declaration":
        this.localVariables(
          kind === "variable_declaration" ? node : tree.childOfKind(node, "variable_declaration"),
          at,
        );
        return at;
      case "local_function_statement":
        this.method(node, at, "Function", this.field(node, "name"), 0);
        return at;
      case "foreach_statement":
        this.forEach(node, this.block(at));
        return at;
      case "switch_statement":
        this.expression(tree.child(node, "value"), at);
        this.switchSections(tree.child(node, "body"), at);
        return at;
      case "catch_clause":
        this.catchClause(node, this.block(at));
        return at;
      case "return_statement":
      case "yield_statement": {
        const value = this.inner(node);
        if (exists(value)) at.returns?.push(this.walkValue(value, at));
        return at;
      }
      case "if_statement": {
        const negated = /^\s*(!|\w[\w.]* is not\b)/.test(this.field(node, "condition"));
        this.children(node, negated ? at : this.block(at));
        return at;
      }
      case "block":
      case "for_statement":
      case "using_statement":
      case "while_statement":
      case "fixed_statement":
      case "lock_statement":
        this.children(node, this.block(at));
        return at;
      default:
        return this.otherStatement(node, kind, at);
    }
  }

  private otherStatement(node: TreeNode, kind: string, at: Place): Place {
    if (LABELS[kind]) this.typeDeclaration(node, at);
    else if (/_declaration$/.test(kind)) this.memberDeclaration(node, at);
    else if (/(_statement|_clause|_list|^compilation_unit|^ERROR|^preproc_)/.test(kind)) return this.children(node, at);
    else this.expression(node, at);
    return at;
  }

  private using(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const alias = tree.child(node, "name");
    const target = tree.namedChildren(node).at(-1) ?? NONE;
    const path = this.text(target)
      .replace(/\s+|^global::/g, "")
      .replace(/<[\s\S]*$/, "");
    if (path === "" || target === alias) return;
    const line = tree.line(node);
    // `global using` applies to the whole project.
    const everywhere = exists(tree.childOfKind(node, "global"));
    const statement = this.importStatement(node, path, at.scope);
    if (isNone(alias))
      facts.import(ImportKind.Wildcard, path, everywhere ? EVERYWHERE : "*", "", line, at.scope, statement);
    else {
      const cut = path.lastIndexOf(".");
      facts.import(
        ImportKind.Named,
        path.slice(0, Math.max(0, cut)),
        path.slice(cut + 1),
        this.text(alias),
        line,
        at.scope,
        statement,
      );
    }
  }

  private nameSpace(node: TreeNode, at: Place): Place {
    const { facts } = this;
    const name = this.field(node, "name").replace(/\s+/g, "");
    const body = this.tree.child(node, "body");
    const symbol = this.declare({ label: "Namespace", name, node, body }, at);
    const scope = facts.scope(at.scope, ScopeKind.Namespace, symbol);
    const outer = this.spaceNames.get(at.scope);
    const whole = outer ? `${outer}.${name}` : name;
    this.spaceNames.set(scope, whole);
    facts.space(scope, whole);
    return { ...at, scope, symbol: at.symbol, parent: symbol };
  }

  private modifiers(node: TreeNode): number {
    const { tree } = this;
    let flags = 0;
    for (let child = tree.first(node); child !== NONE; child = tree.next(child)) {
      if (tree.kind(child) !== "modifier") continue;
      const word = this.text(child);
      if (word === "public") flags |= SymbolFlag.Exported;
      else if (word === "static" || word === "const") flags |= SymbolFlag.Static;
      else if (word === "abstract") flags |= SymbolFlag.Abstract;
      else if (word === "async") flags |= SymbolFlag.Async;
    }
    return flags;
  }

  protected override decoratorsOf(node: TreeNode, at: Place): readonly DecoratorInput[] {
    const { tree, facts } = this;
    const lists = tree.namedChildren(node).filter((child) => tree.kind(child) === "attribute_list");
    return lists.flatMap((list) =>
      tree.namedChildren(list).flatMap((one) => {
        const name = this.field(one, "name");
        if (tree.kind(one) !== "attribute" || name === "") return [];
        // `[Route]` may also name the class RouteAttribute.
        const types = /\W/.test(name) ? [] : [name, `${name}Attribute`].map((each) => facts.typeRef(each, at.scope));
        return [this.decorator(one, name, { type: facts.type(Type.Union, facts.list(types)) })];
      }),
    );
  }

  private attributes(node: TreeNode, at: Place): void {
    const { tree } = this;
    for (const list of tree.namedChildren(node)) {
      if (tree.kind(list) !== "attribute_list") continue;
      for (const attribute of tree.namedChildren(list)) {
        const name = tree.child(attribute, "name");
        if (tree.kind(name) === "identifier") this.ref(this.text(name), at, tree.line(attribute));
        const args = tree.childOfKind(attribute, "attribute_argument_list");
        if (exists(args)) this.walkUnknown(args, at);
      }
    }
  }

  private typeDeclaration(node: TreeNode, at: Place): void {
    const { tree } = this;
    const label = LABELS[tree.kind(node)]!;
    const body = tree.child(node, "body");
    const name = this.field(node, "name");
    const symbol = this.declare({ label, name, node, body, flags: this.modifiers(node) }, at);
    const inside = this.openClass(symbol, at);
    this.typeParameters(node, symbol, inside);
    this.attributes(node, inside);
    const list = tree.childOfKind(node, "base_list");
    if (exists(list)) for (const base of tree.namedChildren(list)) this.base(base, symbol, label, inside);
    const components = tree.childOfKind(node, "parameter_list");
    if (exists(components)) this.components(components, symbol, inside);
    if (label === "Enum") this.enumMembers(body, inside);
    else if (exists(body)) for (const member of tree.namedChildren(body)) this.statement(member, inside);
  }

  private base(node: TreeNode, symbol: SymbolRow, label: SymbolLabel, at: Place): void {
    const { tree, facts } = this;
    if (tree.kind(node) === "argument_list") {
      this.walkUnknown(node, at);
      return;
    }
    const primary = tree.kind(node) === "primary_constructor_base_type";
    const typeNode = primary ? tree.firstNamed(node) : node;
    const text = this.text(typeNode)
      .replace(/<[\s\S]*$/s, "")
      .split(".")
      .pop()!;
    // The syntax does not tell which bases are interfaces, but their names do (`I…`).
    const isInterface = label !== "Interface" && (/^I\p{Lu}/u.test(text) || label === "Struct");
    const kind = isInterface ? HeritageKind.Implements : HeritageKind.Extends;
    if (label === "Enum") this.type(typeNode, at);
    else facts.heritage(symbol, kind, this.type(typeNode, at), tree.line(node));
  }

  /** Walks the parameters of a record or primary constructor. For a record, they are properties. */
  private components(list: TreeNode, symbol: SymbolRow, at: Place): void {
    const { tree, facts } = this;
    const isRecord = tree.kind(tree.parent(list)).startsWith("record");
    for (const node of tree.namedChildren(list)) {
      if (tree.kind(node) !== "parameter") continue;
      const name = this.field(node, "name");
      const type = this.type(tree.child(node, "type"), at);
      if (isRecord) {
        const property = this.declare(
          { label: "Property", name, node, body: NONE, bound: false },
          { ...at, parent: symbol },
        );
        facts.setSymbol(property, "type", type);
      } else facts.local(at.scope, name, type, NONE, BindingKind.Parameter);
    }
  }

  private enumMembers(body: TreeNode, at: Place): void {
    const { tree } = this;
    if (isNone(body)) return;
    for (const node of tree.namedChildren(body)) {
      if (tree.kind(node) !== "enum_member_declaration") continue;
      const flags = SymbolFlag.Static | SymbolFlag.EnumMember | SymbolFlag.Exported;
      const symbol = this.declare(
        { label: "Property", name: this.field(node, "name"), node, body: NONE, flags, bound: false },
        at,
      );
      this.expression(tree.child(node, "value"), { ...at, symbol });
    }
  }

  private memberDeclaration(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "method_declaration":
        this.method(node, at, "Method", this.field(node, "name"), 0);
        return;
      case "constructor_declaration":
        this.method(node, at, "Method", this.field(node, "name"), SymbolFlag.Constructor);
        return;
      case "destructor_declaration":
        this.method(node, at, "Method", `~${this.field(node, "name")}`, 0);
        return;
      case "operator_declaration":
        this.method(node, at, "Method", `operator ${this.field(node, "operator")}`, 0);
        return;
      case "conversion_operator_declaration":
        this.method(node, at, "Method", `operator ${this.field(node, "type")}`, 0);
        return;
      case "delegate_declaration": {
        const name = this.field(node, "name");
        const symbol = this.declare({ label: "TypeAlias", name, node, body: NONE, flags: this.modifiers(node) }, at);
        const hidden = this.hiddenFunction(node, { ...at, parent: symbol }, SymbolFlag.Signature);
        const inside = this.open(hidden, at);
        this.typeParameters(node, hidden, inside);
        this.parameters(tree.child(node, "parameters"), hidden, inside);
        facts.setSymbol(hidden, "type", this.type(tree.child(node, "type"), inside));
        facts.setSymbol(symbol, "type", facts.type(Type.Function, hidden));
        return;
      }
      case "property_declaration":
      case "indexer_declaration":
      case "event_declaration":
        this.property(node, at);
        return;
      case "field_declaration":
      case "event_field_declaration":
        this.fields(node, at);
        return;
      default:
        for (const child of tree.namedChildren(node)) this.statement(child, at);
    }
  }

  private method(node: TreeNode, at: Place, label: "Method" | "Function", name: string, extra: number): void {
    const { tree, facts } = this;
    const body = tree.child(node, "body");
    let flags = this.modifiers(node) | extra;
    if (facts.labelOf(at.parent) === "Interface")
      flags |= SymbolFlag.Exported | (isNone(body) ? SymbolFlag.Abstract : 0);
    const attributes = /\[\s*(Test|Fact|Theory|TestMethod|TestCase|Http(Get|Post|Put|Delete))\b/;
    if (name === "Main" || attributes.test(tree.text.slice(tree.startIndex(node), tree.startIndex(node) + 80)))
      flags |= SymbolFlag.Entry;
    const local = label === "Function";
    const symbol = this.declare({ label, name, node, body, flags, bound: local }, at);
    const inside = this.open(symbol, at);
    this.attributes(node, inside);
    this.typeParameters(node, symbol, inside);
    this.parameters(tree.child(node, "parameters"), symbol, inside);
    const result = tree.child(node, "returns");
    const type = exists(result) ? result : tree.child(node, "type");
    if (exists(type) && !(extra & SymbolFlag.Constructor)) facts.setSymbol(symbol, "type", this.type(type, inside));
    const initializer = tree.childOfKind(node, "constructor_initializer");
    if (exists(initializer)) this.constructorInitializer(initializer, inside);
    this.body(body, inside);
    this.close(symbol, inside);
  }

  private constructorInitializer(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const args = this.argumentsOf(node);
    if (exists(tree.childOfKind(node, "base")))
      this.callOf(facts.expr(Expr.Super, at.thisScope), args, at, tree.line(node));
    else for (const argument of args) this.expression(argument, at);
  }

  private body(node: TreeNode, at: Place): void {
    if (isNone(node)) return;
    if (this.tree.kind(node) !== "arrow_expression_clause") this.statements(node, at);
    else at.returns?.push(this.expression(this.inner(node), at));
  }

  private property(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const indexer = tree.kind(node) === "indexer_declaration";
    const accessors = tree.child(node, "accessors");
    const value = tree.child(node, "value");
    const name = indexer ? "[]" : this.field(node, "name");
    const body = exists(accessors) ? accessors : value;
    const symbol = this.declare({ label: "Property", name, node, body, flags: this.modifiers(node), bound: false }, at);
    facts.setSymbol(symbol, "type", this.type(tree.child(node, "type"), { ...at, symbol }));
    this.attributes(node, { ...at, symbol });
    const inside: Place = { ...this.block(at), symbol, parent: symbol, returns: [], names: new Set() };
    const parameters = tree.child(node, "parameters");
    if (exists(parameters))
      for (const parameter of tree.namedChildren(parameters))
        if (tree.kind(parameter) === "parameter")
          this.local(
            this.field(parameter, "name"),
            inside,
            this.type(tree.child(parameter, "type"), inside),
            NONE,
            true,
          );
    if (exists(value)) {
      if (tree.kind(value) === "arrow_expression_clause") this.body(value, inside);
      else this.initial(value, inside, facts.symbols.type(symbol));
    }
    if (isNone(accessors)) return;
    for (const accessor of tree.namedChildren(accessors)) {
      const scope = this.block(inside);
      this.local("value", scope, facts.symbols.type(symbol), NONE, true);
      this.body(tree.child(accessor, "body"), scope);
    }
  }

  private fields(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const declaration = tree.childOfKind(node, "variable_declaration");
    const flags = this.modifiers(node);
    const type = this.type(tree.child(declaration, "type"), at);
    for (const declarator of tree.namedChildren(declaration)) {
      if (tree.kind(declarator) !== "variable_declarator") continue;
      const name = this.field(declarator, "name");
      const symbol = this.declare({ label: "Property", name, node, body: NONE, flags, bound: false }, at);
      facts.setSymbol(symbol, "type", type);
      const value = this.initial(this.valueNode(declarator), { ...at, symbol }, type);
      facts.setSymbol(symbol, "value", value);
    }
  }
}
