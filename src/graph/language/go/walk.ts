/** Go's declarations and statements. */
import { type ExprRow, exists, isNone, NONE, ROOT, type SymbolRow, type TreeNode, type TypeRow } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { BindingKind, Expr, HeritageKind, ImportKind, SymbolFlag, Type } from "../fact-layout.ts";
import { dirname } from "../paths.ts";
import { GoExpressions } from "./expressions.ts";

export class GoWalk extends GoExpressions {
  file(): void {
    const at = this.top();
    const { tree, facts } = this;
    if (tree.count === 0) return;
    const clause = tree.childOfKind(ROOT, "package_clause");
    const name = isNone(clause) ? "main" : this.text(tree.firstNamed(clause));
    facts.space(at.scope, `${dirname(facts.path)}:${name}`);
    this.statements(ROOT, at);
  }

  protected statementOf(node: TreeNode, at: Place): Place {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "package_clause":
      case "comment":
      case "label_name":
        return at;
      case "import_spec":
        this.importSpec(node, at);
        return at;
      case "function_declaration":
      case "method_declaration":
        this.functionDeclaration(node, at);
        return at;
      case "type_spec":
      case "type_alias":
        this.typeSpec(node, at);
        return at;
      case "const_declaration":
        this.constants(node, at);
        return at;
      case "var_spec":
        this.variables(node, at, "Variable", NONE);
        return at;
      case "short_var_declaration":
        return this.shortVariables(node, at);
      case "assignment_statement":
        this.assignment(node, at);
        return at;
      case "block":
      case "communication_case":
      case "expression_case":
      case "default_case":
      case "for_statement":
      case "if_statement":
      case "expression_switch_statement":
      case "select_statement":
        this.statements(node, this.block(at));
        return at;
      case "type_switch_statement":
        this.typeSwitch(node, this.block(at));
        return at;
      case "range_clause":
        return this.rangeClause(node, at);
      case "receive_statement": {
        const left = tree.child(node, "left");
        const value = this.expression(tree.child(node, "right"), at);
        if (exists(left)) this.bindAll(tree.namedChildren(left), [value], at);
        return at;
      }
      case "return_statement": {
        const values = tree.firstNamed(node);
        if (isNone(values)) return at;
        const rows = tree.namedChildren(values).map((child) => this.walkValue(child, at));
        at.returns?.push(rows.length === 1 ? rows[0]! : facts.expr(Expr.Array, facts.list(rows)));
        return at;
      }
      default:
        return this.otherStatement(node, at);
    }
  }

  private otherStatement(node: TreeNode, at: Place): Place {
    const kind = this.tree.kind(node);
    if (/(_statement|_clause|_list|_declaration|^source_file|^ERROR)$/.test(kind)) {
      let place = at;
      for (const child of this.tree.namedChildren(node)) place = this.statement(child, place);
      return kind === "statement_list" ? at : place;
    }
    this.expression(node, at);
    return at;
  }

  private importSpec(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const path = this.field(node, "path").slice(1, -1);
    const name = tree.child(node, "name");
    const line = tree.line(node);
    if (path === "" || path === "C") return;
    const statement = this.importStatement(node, path, at.scope);
    if (exists(name) && tree.kind(name) === "dot")
      facts.import(ImportKind.Wildcard, path, "*", "", line, at.scope, statement);
    else if (exists(name) && this.text(name) === "_")
      facts.import(ImportKind.Effect, path, "*", "", line, at.scope, statement);
    else {
      const local = exists(name) ? this.text(name) : packageName(path);
      facts.import(ImportKind.Module, path, "*", local, line, at.scope, statement);
    }
  }

  private functionDeclaration(node: TreeNode, at: Place): void {
    const { tree } = this;
    const name = this.field(node, "name");
    const receiver = tree.child(node, "receiver");
    const body = tree.child(node, "body");
    const entry = /^(main|init|(Test|Benchmark|Example|Fuzz)([^a-z].*)?)$/.test(name) && isNone(receiver);
    const flags = exportedFlag(name) | (entry ? SymbolFlag.Entry : 0);
    const label = exists(receiver) ? "Method" : "Function";
    // A file may have several init functions, and none of them can be called.
    const bound = isNone(receiver) && name !== "init" && name !== "_";
    const symbol = this.declare({ label, name, node, body, flags, bound }, at);
    const inside = this.open(symbol, at);
    if (exists(receiver)) this.receiver(receiver, symbol, inside);
    this.signatureOf(node, symbol, inside);
    this.statements(body, inside);
    this.close(symbol, inside);
  }

  private receiver(list: TreeNode, symbol: SymbolRow, inside: Place): void {
    const { tree, facts } = this;
    const parameter = tree.firstNamed(list);
    if (isNone(parameter)) return;
    let named = tree.child(parameter, "type");
    while (exists(named) && /^(pointer|parenthesized)_type$/.test(tree.kind(named))) named = tree.firstNamed(named);
    const args: TypeRow[] = [];
    if (tree.kind(named) === "generic_type") {
      const list = tree.child(named, "type_arguments");
      for (const arg of tree.namedChildren(list)) {
        facts.local(inside.scope, this.text(arg), NONE, NONE, BindingKind.TypeParameter);
        args.push(facts.typeRef(this.text(arg), inside.scope));
      }
      named = tree.child(named, "type");
    }
    const type = facts.typeRef(this.text(named), inside.scope, args);
    facts.attach(symbol, type);
    const name = tree.child(parameter, "name");
    if (exists(name)) this.local(this.text(name), inside, type, NONE, true);
  }

  private typeSpec(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const typeNode = tree.child(node, "type");
    const kind = tree.kind(typeNode);
    const alias = tree.kind(node) === "type_alias";
    const label = alias
      ? "TypeAlias"
      : kind === "struct_type"
        ? "Struct"
        : kind === "interface_type"
          ? "Interface"
          : "TypeAlias";
    const name = this.field(node, "name");
    const parent = tree.parent(node);
    const documented = exists(parent) && tree.namedChildren(parent).length === 1 ? parent : node;
    const flags = exportedFlag(name);
    const symbol = this.declare(
      {
        label,
        name,
        node,
        body: kind === "struct_type" || kind === "interface_type" ? tree.first(typeNode) : NONE,
        flags,
        documented,
      },
      at,
    );
    const inside = this.openClass(symbol, at);
    this.typeParameters(tree.child(node, "type_parameters"), symbol, inside);
    if (label === "Struct" || label === "Interface") this.members(typeNode, inside, symbol);
    else if (alias) facts.setSymbol(symbol, "type", this.type(typeNode, inside));
    else {
      const underlying = this.type(typeNode, inside);
      if (/^(slice|array|map|channel|function)_type$/.test(kind))
        facts.heritage(symbol, HeritageKind.Mixin, underlying, tree.line(node));
      else if (kind === "qualified_type" || kind === "type_identifier") this.fieldsOf(symbol, underlying, node);
    }
  }

  /** For `type A B`, A has the fields of B. */
  private fieldsOf(symbol: SymbolRow, underlying: TypeRow, node: TreeNode): void {
    if (this.facts.types.op(underlying) !== Type.Literal)
      this.facts.heritage(symbol, HeritageKind.Mixin, underlying, this.tree.line(node));
  }

  protected members(node: TreeNode, at: Place, owner: SymbolRow): void {
    const { tree } = this;
    const list = tree.childOfKind(node, "field_declaration_list");
    for (const member of tree.namedChildren(exists(list) ? list : node)) {
      const kind = tree.kind(member);
      if (kind === "field_declaration") this.structField(member, at, owner);
      else if (kind === "method_elem" || kind === "method_spec") {
        const name = this.field(member, "name");
        const flags = SymbolFlag.Abstract | exportedFlag(name);
        const symbol = this.declare({ label: "Method", name, node: member, body: NONE, flags, bound: false }, at);
        this.signatureOf(member, symbol, this.open(symbol, at));
      } else if (kind === "type_elem") {
        const parts = tree.namedChildren(member);
        if (parts.length === 1 && tree.kind(parts[0]!) !== "negated_type")
          this.facts.heritage(owner, HeritageKind.Extends, this.type(parts[0]!, at), tree.line(member));
        else for (const part of parts) this.type(part, at);
      }
    }
  }

  private structField(node: TreeNode, at: Place, owner: SymbolRow): void {
    const { tree, facts } = this;
    const typeNode = tree.child(node, "type");
    const type = this.type(typeNode, at);
    const names = tree.namedChildren(node).filter((child) => tree.fieldName(child) === "name");
    if (names.length === 0) {
      facts.heritage(owner, HeritageKind.Mixin, type, tree.line(node));
      names.push(embeddedName(this, typeNode));
    }
    for (const nameNode of names) {
      const name = this.text(nameNode);
      const flags = exportedFlag(name);
      const symbol = this.declare({ label: "Property", name, node, body: NONE, flags, bound: false }, at);
      facts.setSymbol(symbol, "type", type);
    }
  }

  private constants(node: TreeNode, at: Place): void {
    let last: TypeRow = NONE;
    for (const spec of this.tree.namedChildren(node))
      if (this.tree.kind(spec) === "const_spec") last = this.variables(spec, at, "Const", last);
  }

  /** Declares variables or constants. @returns their type, for constants after them that repeat it */
  private variables(node: TreeNode, at: Place, label: "Variable" | "Const", repeated: TypeRow): TypeRow {
    const { tree, facts } = this;
    const declared = tree.child(node, "type");
    const valueList = tree.child(node, "value");
    const values = tree.namedChildren(valueList);
    let type = this.type(declared, at);
    if (isNone(type) && values.length === 0) type = repeated;
    const names = tree.namedChildren(node).filter((child) => tree.fieldName(child) === "name");
    const rows = values.map((value) => this.walkValue(value, at));
    for (const [i, nameNode] of names.entries()) {
      const name = this.text(nameNode);
      if (name === "_") continue;
      const value = this.valueFor(rows, i, names.length);
      if (at.returns !== undefined) this.local(name, at, type, value);
      else {
        const symbol = this.declare({ label, name, node, body: NONE, flags: exportedFlag(name) }, at);
        facts.setSymbol(symbol, "type", type);
        facts.setSymbol(symbol, "value", value);
      }
    }
    return type;
  }

  /** The value of the i-th name in a declaration of several names. */
  private valueFor(rows: readonly ExprRow[], i: number, names: number): ExprRow {
    const { facts } = this;
    if (rows.length !== 1 || names === 1) return rows[i] ?? NONE;
    const only = rows[0]!;
    if (facts.exprs.op(only) === Expr.Call) return facts.expr(Expr.Index, only, facts.name(String(i)));
    return i === 0 ? only : NONE;
  }

  private bindAll(nameNodes: readonly TreeNode[], rows: readonly ExprRow[], at: Place): void {
    for (const [i, nameNode] of nameNodes.entries()) {
      const name = this.text(nameNode);
      if (this.tree.kind(nameNode) === "identifier" && name !== "_")
        this.local(name, at, NONE, this.valueFor(rows, i, nameNodes.length));
    }
  }

  /** Declares `a, b := …`. If a name also occurs in its own value, a new scope is opened for it. */
  private shortVariables(node: TreeNode, at: Place): Place {
    const { tree } = this;
    const left = tree.child(node, "left");
    const right = tree.child(node, "right");
    const rows = tree.namedChildren(right).map((child) => this.walkValue(child, at));
    const names = tree.namedChildren(left);
    const read = new Set(this.text(right).match(/(?<![.\w])[\p{L}_][\p{L}\p{N}_]*/gu));
    const shadows = names.some((name) => read.has(this.text(name)));
    const place = shadows ? this.block(at) : at;
    this.bindAll(names, rows, place);
    return place;
  }

  private assignment(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const left = tree.child(node, "left");
    const right = tree.child(node, "right");
    const rows = tree.namedChildren(right).map((child) => this.walkValue(child, at));
    const targets = tree.namedChildren(left);
    for (const [i, target] of targets.entries()) {
      const row = this.expression(target, at);
      const value = this.valueFor(rows, i, targets.length);
      if (exists(row) && exists(value)) facts.assign(row, value, at.scope);
    }
  }

  private rangeClause(node: TreeNode, at: Place): Place {
    const { tree, facts } = this;
    const over = this.expression(tree.child(node, "right"), at);
    const left = tree.child(node, "left");
    if (isNone(left)) return at;
    const names = tree.namedChildren(left);
    const place = this.block(at);
    const element = facts.expr(Expr.Index, over, -1);
    // A single name is the index, except over a channel. Members of an index are never needed.
    const [first, second] = names;
    if (first !== undefined && tree.kind(first) === "identifier" && this.text(first) !== "_")
      this.local(this.text(first), place, NONE, second === undefined ? element : NONE);
    if (second !== undefined && tree.kind(second) === "identifier" && this.text(second) !== "_")
      this.local(this.text(second), place, NONE, element);
    return place;
  }

  private typeSwitch(node: TreeNode, at: Place): void {
    const { tree } = this;
    let place = at;
    const initializer = tree.child(node, "initializer");
    if (exists(initializer)) place = this.statement(initializer, place);
    const value = this.expression(tree.child(node, "value"), place);
    const alias = tree.child(node, "alias");
    const name = isNone(alias) ? "" : this.text(tree.firstNamed(alias));
    for (const branch of tree.namedChildren(node)) {
      const kind = tree.kind(branch);
      if (kind !== "type_case" && kind !== "default_case") continue;
      const inside = this.block(place);
      const children = tree.namedChildren(branch);
      const types = children
        .filter((child) => tree.fieldName(child) === "type")
        .map((child) => this.type(child, inside));
      if (name !== "")
        this.local(name, inside, types.length === 1 ? types[0]! : NONE, types.length === 1 ? NONE : value);
      let after = inside;
      for (const child of children) if (tree.fieldName(child) !== "type") after = this.statement(child, after);
    }
  }
}

function exportedFlag(name: string): number {
  return /^\p{Lu}/u.test(name) ? SymbolFlag.Exported : 0;
}

/** The name by which a package is probably known: the last element of its path that is not a version. */
function packageName(path: string): string {
  const parts = path.split("/");
  let last = parts.pop() ?? "";
  if (/^v\d+$/.test(last) && parts.length > 0) last = parts.pop()!;
  return last
    .replace(/\.v\d+$/, "")
    .replace(/^go-/, "")
    .replace(/[-.]go$/, "")
    .replaceAll("-", "_");
}

/** The name of an embedded field: the last name of its type. */
function embeddedName(walk: GoExpressions, node: TreeNode): TreeNode {
  const { tree } = walk;
  switch (tree.kind(node)) {
    case "pointer_type":
      return embeddedName(walk, tree.firstNamed(node));
    case "generic_type":
      return embeddedName(walk, tree.child(node, "type"));
    case "qualified_type":
      return tree.child(node, "name");
    default:
      return node;
  }
}
