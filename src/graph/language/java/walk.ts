/** Java's declarations and statements. */
import type { SymbolLabel } from "../../model.ts";
import type { BindingRow, ExprRow, SymbolRow, TreeNode, TypeRow } from "../../rows.ts";
import { exists, isNone, NONE, ROOT } from "../../rows.ts";
import { type Place, packArity } from "../block-walk.ts";
import { BindingKind, Expr, HeritageKind, ImportKind, SymbolFlag, Type } from "../fact-layout.ts";
import type { DecoratorInput } from "../facts-builder.ts";
import { JavaExpressions } from "./expressions.ts";

const LABELS: Record<string, SymbolLabel> = {
  class_declaration: "Class",
  record_declaration: "Class",
  interface_declaration: "Interface",
  annotation_type_declaration: "Interface",
  enum_declaration: "Enum",
};

export class JavaWalk extends JavaExpressions {
  file(): void {
    const at = this.top();
    const { tree, facts } = this;
    if (tree.count === 0) return;
    const declaration = tree.childOfKind(ROOT, "package_declaration");
    const named = isNone(declaration) ? NONE : tree.namedChildren(declaration).at(-1)!;
    facts.space(at.scope, isNone(named) ? "" : this.text(named).replace(/\s+/g, ""));
    this.statements(ROOT, at);
  }

  protected statementOf(node: TreeNode, at: Place): Place {
    const { tree, facts } = this;
    const kind = tree.kind(node);
    switch (kind) {
      case "package_declaration":
        return at;
      case "import_declaration":
        this.importDeclaration(node, at);
        return at;
      case "class_declaration":
      case "record_declaration":
      case "interface_declaration":
      case "annotation_type_declaration":
      case "enum_declaration":
        this.typeDeclaration(node, at);
        return at;
      case "method_declaration":
      case "field_declaration":
      case "constructor_declaration":
        this.member(node, at);
        return at;
      case "local_variable_declaration":
        this.localVariables(node, at);
        return at;
      case "if_statement": {
        // A negated pattern binds its name for the statements after the `if`.
        const negated = /^\(\s*!/.test(this.field(node, "condition"));
        this.statements(node, negated ? at : this.block(at));
        return at;
      }
      case "enhanced_for_statement":
        this.forEach(node, this.block(at));
        return at;
      case "catch_clause":
        this.catchClause(node, this.block(at));
        return at;
      case "resource":
        this.resource(node, at);
        return at;
      case "return_statement": {
        const value = tree.firstNamed(node);
        if (exists(value)) at.returns?.push(this.expression(value, at));
        return at;
      }
      case "switch_expression":
        this.expression(tree.child(node, "condition"), at);
        this.switchBody(tree.child(node, "body"), at);
        return at;
      case "block":
      case "for_statement":
      case "while_statement":
      case "do_statement":
      case "try_statement":
      case "try_with_resources_statement":
      case "constructor_body":
        this.statements(node, this.block(at));
        return at;
      case "class_body":
      case "interface_body":
        this.classBody(node, at);
        return at;
      default:
        if (/(_statement|_clause|_specification|^program|^ERROR|^modifiers)$/.test(kind)) this.statements(node, at);
        else if (kind.endsWith("annotation")) this.annotation(node, at);
        else facts.expr(Expr.Unknown, this.expression(node, at));
        return at;
    }
  }

  private importDeclaration(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const named = tree.childOfKind(node, "scoped_identifier");
    const path = this.text(exists(named) ? named : tree.childOfKind(node, "identifier")).replace(/\s+/g, "");
    const line = tree.line(node);
    const library = /^(java|javax|jakarta)\./.test(path);
    if (exists(tree.childOfKind(node, "asterisk"))) {
      if (path === "java.util") this.libraryNames.add("*");
      const statement = this.importStatement(node, `${path}.*`, at.scope);
      facts.import(ImportKind.Wildcard, path, "*", "", line, at.scope, statement);
      return;
    }
    const cut = path.lastIndexOf(".");
    const name = path.slice(cut + 1);
    if (library) this.libraryNames.add(name);
    else this.importedNames.add(name);
    const statement = this.importStatement(node, path, at.scope);
    facts.import(ImportKind.Named, path.slice(0, Math.max(0, cut)), name, name, line, at.scope, statement);
  }

  private typeDeclaration(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const body = tree.child(node, "body");
    const name = this.field(node, "name");
    const label = LABELS[tree.kind(node)]!;
    this.importedNames.add(name);
    const symbol = this.declare({ label, name, node, body, flags: this.modifiers(node) }, at);
    const inside = this.openClass(symbol, at);
    this.classScopes.set(name, inside.scope);
    this.typeParameters(tree.child(node, "type_parameters"), symbol, inside);
    this.annotations(node, inside);
    const line = tree.line(node);
    const addBases = (clause: TreeNode, kind: 0 | 1) => {
      if (isNone(clause)) return;
      const list = tree.childOfKind(clause, "type_list");
      for (const base of tree.namedChildren(exists(list) ? list : clause))
        facts.heritage(symbol, kind, this.type(base, inside), line);
    };
    addBases(tree.child(node, "superclass"), HeritageKind.Extends);
    addBases(tree.child(node, "interfaces"), HeritageKind.Implements);
    addBases(tree.childOfKind(node, "extends_interfaces"), HeritageKind.Extends);
    if (label === "Class") this.components(tree.child(node, "parameters"), inside);
    if (exists(body)) this.classBody(body, inside);
  }

  private modifiers(node: TreeNode): number {
    const { tree } = this;
    const list = tree.childOfKind(node, "modifiers");
    if (isNone(list)) return 0;
    let flags = 0;
    if (exists(tree.childOfKind(list, "public"))) flags |= SymbolFlag.Exported;
    if (exists(tree.childOfKind(list, "static"))) flags |= SymbolFlag.Static;
    if (exists(tree.childOfKind(list, "abstract"))) flags |= SymbolFlag.Abstract;
    if (/@(\w+\.)*(Test|ParameterizedTest|(Get|Post|Put|Delete|Patch|Request)Mapping)\b/.test(this.text(list)))
      flags |= SymbolFlag.Entry;
    return flags;
  }

  private annotations(node: TreeNode, at: Place): void {
    const list = this.tree.childOfKind(node, "modifiers");
    if (isNone(list)) return;
    for (const child of this.tree.namedChildren(list)) this.annotation(child, at);
  }

  protected override decoratorsOf(node: TreeNode, at: Place): readonly DecoratorInput[] {
    const { tree } = this;
    const list = tree.childOfKind(node, "modifiers");
    const annotations = tree.namedChildren(list).filter((one) => tree.kind(one).endsWith("annotation"));
    return annotations.map((one) => {
      const name = tree.child(one, "name");
      const plain = tree.kind(name) === "identifier";
      const type = plain ? this.facts.typeRef(this.text(name), at.scope) : NONE;
      return this.decorator(one, this.text(name), { type });
    });
  }

  private annotation(node: TreeNode, at: Place): void {
    const { tree } = this;
    if (!tree.kind(node).endsWith("annotation")) return;
    const name = tree.child(node, "name");
    if (tree.kind(name) === "identifier") this.ref(this.text(name), at, tree.line(node));
    const args = tree.child(node, "arguments");
    if (isNone(args)) return;
    for (const child of tree.namedChildren(args))
      this.expression(tree.kind(child) === "element_value_pair" ? tree.child(child, "value") : child, at);
  }

  private typeParameters(list: TreeNode, symbol: SymbolRow, at: Place): void {
    const { tree, facts } = this;
    if (isNone(list)) return;
    const parameters = tree.namedChildren(list);
    const rows = parameters.map((parameter) => {
      const name = tree.namedChildren(parameter).find((child) => /identifier$/.test(tree.kind(child)));
      return facts.local(at.scope, name === undefined ? "" : this.text(name), NONE, NONE, BindingKind.TypeParameter);
    });
    for (const [i, parameter] of parameters.entries()) {
      const bound = tree.childOfKind(parameter, "type_bound");
      if (isNone(bound)) continue;
      const types = tree.namedChildren(bound).map((child) => this.type(child, at));
      facts.bindings.setConstraint(
        rows[i]!,
        types.length === 1 ? types[0]! : facts.type(Type.Union, facts.list(types)),
      );
    }
    facts.setSymbol(symbol, "typeParameters", facts.list(rows));
  }

  /** A record's components: fields, and accessors that are not written in the source. */
  private components(list: TreeNode, at: Place): void {
    const { tree, facts } = this;
    if (isNone(list)) return;
    for (const node of tree.namedChildren(list)) {
      const name = this.field(node, "name");
      const type = this.type(tree.child(node, "type"), at);
      const field = this.declare({ label: "Property", name, node, body: NONE, bound: false }, at);
      facts.setSymbol(field, "type", type);
      const flags = SymbolFlag.Hidden | SymbolFlag.Signature;
      const accessor = this.declare({ label: "Method", name, node, body: NONE, flags, bound: false }, at);
      facts.setSymbol(accessor, "type", type);
      facts.setSymbol(accessor, "arity", 0);
    }
  }

  protected classBody(body: TreeNode, at: Place): void {
    const { tree } = this;
    for (const member of tree.namedChildren(body)) {
      const kind = tree.kind(member);
      if (kind === "enum_constant") this.enumConstant(member, at);
      else if (kind === "enum_body_declarations") this.classBody(member, at);
      else this.member(member, at);
    }
  }

  private enumConstant(node: TreeNode, at: Place): void {
    const { tree } = this;
    const name = this.field(node, "name");
    const flags = SymbolFlag.Static | SymbolFlag.EnumMember | SymbolFlag.Exported;
    const symbol = this.declare(
      { label: "Property", name, node, body: tree.child(node, "body"), flags, bound: false },
      at,
    );
    for (const argument of this.argumentsOf(node)) this.expression(argument, { ...at, symbol });
    const body = tree.child(node, "body");
    if (exists(body)) this.anonymous(node, body, this.facts.type(Type.This, at.thisScope), { ...at, parent: symbol });
  }

  private member(node: TreeNode, at: Place): void {
    const { tree } = this;
    switch (tree.kind(node)) {
      case "method_declaration":
      case "annotation_type_element_declaration":
        this.method(node, at, this.field(node, "name"), 0);
        return;
      case "constructor_declaration":
      case "compact_constructor_declaration":
        this.method(node, at, this.field(node, "name"), SymbolFlag.Constructor);
        return;
      case "field_declaration":
      case "constant_declaration":
        this.fields(node, at);
        return;
      case "block":
      case "static_initializer":
        this.statements(node, this.block(at));
        return;
      default:
        if (LABELS[tree.kind(node)]) this.typeDeclaration(node, at);
        else this.statement(node, at);
    }
  }

  private method(node: TreeNode, at: Place, name: string, extra: number): void {
    const { tree, facts } = this;
    const body = tree.child(node, "body");
    let flags = this.modifiers(node) | extra;
    if (isNone(body)) flags |= SymbolFlag.Abstract;
    if (facts.labelOf(at.parent) === "Interface") flags |= SymbolFlag.Exported;
    if (name === "main" && flags & SymbolFlag.Static) flags |= SymbolFlag.Entry;
    const symbol = this.declare({ label: "Method", name, node, body, flags, bound: isNone(at.parent) }, at);
    const inside = this.open(symbol, at);
    this.typeParameters(tree.child(node, "type_parameters"), symbol, inside);
    this.annotations(node, inside);
    this.parameters(tree.child(node, "parameters"), symbol, inside);
    const type = tree.child(node, "type");
    if (exists(type)) facts.setSymbol(symbol, "type", this.withDimensions(node, this.type(type, inside)));
    this.statements(body, inside);
    this.close(symbol, inside);
  }

  private withDimensions(node: TreeNode, type: TypeRow): TypeRow {
    const isArray = exists(type) && exists(this.tree.child(node, "dimensions"));
    return isArray ? this.facts.type(Type.Array, type) : type;
  }

  protected parameters(list: TreeNode, symbol: SymbolRow, inside: Place): void {
    const { tree, facts } = this;
    if (isNone(list)) return;
    const rows: BindingRow[] = [];
    let variadic = false;
    for (const parameter of tree.namedChildren(list)) {
      const kind = tree.kind(parameter);
      if (kind === "spread_parameter") {
        variadic = true;
        const typeNode =
          tree.namedChildren(parameter).find((child) => /type|identifier/.test(tree.kind(child))) ?? NONE;
        const declarator = tree.childOfKind(parameter, "variable_declarator");
        const type = facts.type(Type.Array, this.type(typeNode, inside));
        rows.push(this.local(this.field(declarator, "name"), inside, type, NONE, true));
      } else if (kind === "formal_parameter") {
        const type = this.withDimensions(parameter, this.type(tree.child(parameter, "type"), inside));
        rows.push(this.local(this.field(parameter, "name"), inside, type, NONE, true));
      }
    }
    facts.setSymbol(symbol, "parameters", facts.list(rows));
    facts.setSymbol(symbol, "arity", packArity(variadic ? rows.length - 1 : rows.length, rows.length, variadic));
  }

  private fields(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const type = this.type(tree.child(node, "type"), at);
    const flags = this.modifiers(node);
    this.annotations(node, at);
    for (const declarator of tree.namedChildren(node)) {
      if (tree.kind(declarator) !== "variable_declarator") continue;
      const name = this.field(declarator, "name");
      const symbol = this.declare({ label: "Property", name, node, body: NONE, flags, bound: isNone(at.parent) }, at);
      facts.setSymbol(symbol, "type", this.withDimensions(declarator, type));
      facts.setSymbol(symbol, "value", this.expression(tree.child(declarator, "value"), { ...at, symbol }));
    }
  }

  private localVariables(node: TreeNode, at: Place): void {
    const { tree } = this;
    const typeNode = tree.child(node, "type");
    const type = this.text(typeNode) === "var" ? NONE : this.type(typeNode, at);
    for (const declarator of tree.namedChildren(node)) {
      if (tree.kind(declarator) !== "variable_declarator") continue;
      const value = this.initial(tree.child(declarator, "value"), at, type);
      this.local(this.field(declarator, "name"), at, this.withDimensions(declarator, type), value);
    }
  }

  /** Walks an initial value. The parameters of a lambda are typed by the declared type. */
  private initial(node: TreeNode, at: Place, type: TypeRow): ExprRow {
    if (isNone(node)) return NONE;
    if (!this.isLambda(this.tree.kind(node)) || isNone(type)) return this.expression(node, at);
    const typed = this.facts.expr(Expr.Typed, type);
    return this.lambda(node, at, (parameter) => this.facts.expr(Expr.Contextual, typed, -1, parameter));
  }

  private forEach(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const typeNode = tree.child(node, "type");
    const type = this.text(typeNode) === "var" ? NONE : this.type(typeNode, at);
    const over = this.expression(tree.child(node, "value"), at);
    this.local(this.field(node, "name"), at, type, facts.expr(Expr.Iterate, over));
    this.statement(tree.child(node, "body"), at);
  }

  private catchClause(node: TreeNode, at: Place): void {
    const { tree } = this;
    const parameter = tree.childOfKind(node, "catch_formal_parameter");
    if (exists(parameter)) {
      const type = tree.childOfKind(parameter, "catch_type");
      this.local(this.field(parameter, "name"), at, this.type(type, at), NONE);
    }
    this.statement(tree.child(node, "body"), at);
  }

  private resource(node: TreeNode, at: Place): void {
    const { tree } = this;
    const name = tree.child(node, "name");
    if (isNone(name)) {
      this.expression(tree.firstNamed(node), at);
      return;
    }
    const typeNode = tree.child(node, "type");
    const type = this.text(typeNode) === "var" ? NONE : this.type(typeNode, at);
    this.local(this.text(name), at, type, this.expression(tree.child(node, "value"), at));
  }

  /** Walks the branches of a switch. @returns the values that they yield */
  protected switchBody(body: TreeNode, at: Place): ExprRow[] {
    const { tree } = this;
    const values: ExprRow[] = [];
    if (isNone(body)) return values;
    for (const branch of tree.namedChildren(body)) {
      const inside = this.block(at);
      for (const child of tree.namedChildren(branch)) {
        const kind = tree.kind(child);
        if (kind === "switch_label") {
          for (const part of tree.namedChildren(child))
            if (tree.kind(part) === "pattern") this.pattern(part, inside);
            else if (tree.kind(part) !== "identifier") this.expression(part, inside);
        } else if (kind === "expression_statement" && tree.kind(branch) === "switch_rule")
          values.push(this.expression(tree.firstNamed(child), inside));
        else this.statement(child, inside);
      }
    }
    return values;
  }
}
