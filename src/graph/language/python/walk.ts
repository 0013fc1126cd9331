/** Python's statements. */
import { type ExprRow, exists, isNone, NONE, ROOT, type TreeNode, type TypeRow } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { Expr, ImportKind, ScopeKind, Type } from "../fact-layout.ts";
import { PythonDeclarations } from "./declarations.ts";
import { TYPING_MODULES } from "./library.ts";

/** How deep the blocks for reassigned names may be nested. */
const MAX_REASSIGNED = 40;

export class PythonWalk extends PythonDeclarations {
  file(): void {
    const { tree } = this;
    if (tree.count === 0) return;
    this.statements(ROOT, { ...this.top(), names: new Set() });
    this.fixtures.finish();
  }

  protected statementOf(node: TreeNode, at: Place): Place {
    const { tree } = this;
    const kind = tree.kind(node);
    switch (kind) {
      case "import_statement":
        this.importModules(node, at);
        return at;
      case "import_from_statement":
        this.importFrom(node, at);
        return at;
      case "future_import_statement":
      case "pass_statement":
      case "comment":
        return at;
      case "function_definition":
        this.functionDefinition(node, node, [], at);
        return at;
      case "class_definition":
        this.classDefinition(node, node, at);
        return at;
      case "decorated_definition":
        this.walkDecorated(node, at);
        return at;
      case "type_alias_statement":
        this.typeAlias(node, at);
        return at;
      case "expression_statement":
        return tree.namedChildren(node).reduce((place, child) => this.statement(child, place), at);
      case "assignment":
        return this.assignment(node, at);
      case "augmented_assignment":
        this.expression(tree.child(node, "left"), at);
        this.expression(tree.child(node, "right"), at);
        return at;
      case "global_statement":
      case "nonlocal_statement":
        for (const name of tree.namedChildren(node)) this.namesOf(this.home(at.scope)).add(this.text(name));
        return at;
      case "return_statement": {
        const value = this.walkValue(tree.firstNamed(node), at);
        if (exists(value)) at.returns?.push(value);
        return at;
      }
      case "if_statement":
      case "elif_clause":
      case "while_statement":
        this.conditional(node, at);
        return at;
      case "for_statement":
        this.bindLoop(node, at);
        this.statement(tree.child(node, "body"), at);
        this.statement(tree.child(node, "alternative"), at);
        return at;
      case "with_statement":
        this.withStatement(node, at);
        return at;
      default:
        return this.otherStatement(node, kind, at);
    }
  }

  private otherStatement(node: TreeNode, kind: string, at: Place): Place {
    switch (kind) {
      case "except_clause":
      case "except_group_clause":
        this.exceptClause(node, at);
        break;
      case "match_statement":
        this.matchStatement(node, at);
        break;
      case "assert_statement": {
        const condition = this.tree.firstNamed(node);
        this.walkUnknown(node, at);
        return this.narrow(condition, at);
      }
      default:
        if (/(_statement|_clause|^block|^module|^ERROR)$/.test(kind)) this.statements(node, at);
        else this.expression(node, at);
    }
    return at;
  }

  private conditional(node: TreeNode, at: Place): void {
    const { tree } = this;
    const condition = tree.child(node, "condition");
    this.expression(condition, at);
    const inside = this.narrow(condition, at);
    for (const child of tree.namedChildren(node)) {
      const field = tree.fieldName(child);
      if (field === "consequence" || field === "body") this.statement(child, inside);
      else if (child !== condition) this.statement(child, at);
    }
  }

  private withStatement(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const clause = tree.childOfKind(node, "with_clause");
    for (const item of tree.namedChildren(clause)) {
      const value = tree.child(item, "value");
      if (tree.kind(value) !== "as_pattern") {
        this.expression(value, at);
        continue;
      }
      const [managed = NONE] = tree.namedChildren(value);
      const manager = this.expression(managed, at);
      const target = tree.child(value, "alias");
      // The value that a context manager gives: the result of `__enter__`, or what its generator yields.
      const entered = facts.exprCall(facts.exprMember(manager, "__enter__"), []);
      const asyncEntered = facts.expr(Expr.Await, facts.exprCall(facts.exprMember(manager, "__aenter__"), []));
      const yielded = facts.expr(Expr.Iterate, manager);
      this.bindPattern(target, at, facts.expr(Expr.Either, facts.list([entered, asyncEntered, yielded])));
    }
    this.statement(tree.child(node, "body"), at);
  }

  private exceptClause(node: TreeNode, at: Place): void {
    const { tree } = this;
    for (const child of tree.namedChildren(node)) {
      if (tree.kind(child) === "as_pattern") {
        const [caught = NONE] = tree.namedChildren(child);
        this.expression(caught, at);
        this.bindPattern(tree.child(child, "alias"), at, NONE, this.namedClass(caught, at));
      } else this.statement(child, at);
    }
  }

  private matchStatement(node: TreeNode, at: Place): void {
    const { tree } = this;
    const subject = tree.child(node, "subject");
    this.expression(subject, at);
    const body = tree.child(node, "body");
    for (const clause of tree.namedChildren(body)) {
      const inside = this.block(at);
      for (const child of tree.namedChildren(clause)) {
        if (tree.kind(child) === "case_pattern")
          this.casePattern(child, inside, tree.kind(subject) === "identifier" ? this.text(subject) : "");
        else this.statement(child, inside);
      }
    }
  }

  private casePattern(node: TreeNode, at: Place, subject: string): void {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "as_pattern": {
        const [pattern = NONE, name = NONE] = tree.namedChildren(node);
        this.casePattern(pattern, at, subject);
        if (tree.kind(name) === "identifier") this.bindName(this.text(name), at, this.patternClass(pattern, at), NONE);
        return;
      }
      case "class_pattern": {
        const type = this.patternClass(node, at);
        if (subject !== "" && exists(type)) facts.narrow(at.scope, subject, type);
        for (const child of tree.namedChildren(node))
          if (/pattern/.test(tree.kind(child))) this.casePattern(child, at, "");
        return;
      }
      case "dotted_name": {
        const names = tree.namedChildren(node);
        if (names.length === 1 && this.text(node) !== "_") this.bindName(this.text(node), at, NONE, NONE);
        return;
      }
      default:
        for (const child of tree.namedChildren(node))
          if (/pattern|dotted_name/.test(tree.kind(child))) this.casePattern(child, at, subject);
    }
  }

  private patternClass(node: TreeNode, at: Place): TypeRow {
    const { tree } = this;
    let found = node;
    while (tree.kind(found) === "case_pattern") found = tree.firstNamed(found);
    if (tree.kind(found) !== "class_pattern") return NONE;
    const name = this.text(tree.firstNamed(found));
    return name.includes(".") ? NONE : this.ref(name, at, tree.line(found));
  }

  private importModules(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const scope = this.home(at.scope);
    const line = tree.line(node);
    for (const child of tree.namedChildren(node)) {
      const aliased = tree.kind(child) === "aliased_import";
      const path = (aliased ? this.field(child, "name") : this.text(child)).replace(/\s+/g, "");
      const local = aliased ? this.field(child, "alias") : path.split(".")[0]!;
      if (TYPING_MODULES.has(path)) this.typingModules.add(aliased ? local : path);
      this.namesOf(scope).add(local);
      const statement = this.importStatement(child, path, scope, `import ${this.text(child)}`);
      facts.import(ImportKind.Module, aliased ? path : local, "*", local, line, scope, statement);
      if (!aliased && path !== local) facts.import(ImportKind.Effect, path, "", "", line, scope, statement);
    }
  }

  private importFrom(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const scope = this.home(at.scope);
    const moduleNode = tree.child(node, "module_name");
    const module = this.text(moduleNode).replace(/\s+/g, "");
    const statement = this.importStatement(node, module, scope);
    for (const child of tree.namedChildren(node)) {
      const line = tree.line(child);
      if (child === moduleNode) continue;
      if (tree.kind(child) === "wildcard_import")
        facts.import(ImportKind.Wildcard, module, "*", "", line, scope, statement);
      if (tree.fieldName(child) !== "name") continue;
      const aliased = tree.kind(child) === "aliased_import";
      const name = aliased ? this.field(child, "name") : this.text(child);
      const local = aliased ? this.field(child, "alias") : name;
      this.noteTypingImport(module, name, local);
      this.namesOf(scope).add(local);
      facts.import(ImportKind.Named, module, name, local, line, scope, statement);
    }
  }

  private typeAlias(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const left = tree.child(node, "left");
    const name = /^\w+/.exec(this.text(left))?.[0] ?? "";
    const symbol = this.declare({ label: "TypeAlias", name, node, body: NONE }, at);
    const scope = facts.scope(at.scope, ScopeKind.Block);
    facts.setSymbol(symbol, "type", this.type(tree.child(node, "right"), { ...at, scope, symbol }));
  }

  /** @returns the place of the statements after it, in which a reassigned name has its new type */
  private assignment(node: TreeNode, at: Place): Place {
    const { tree, facts } = this;
    const left = tree.child(node, "left");
    const right = tree.child(node, "right");
    const annotation = tree.child(node, "type");
    const alias = exists(annotation)
      ? /TypeAlias$/.test(this.text(annotation))
      : facts.scopes.kind(this.home(at.scope)) === ScopeKind.File && this.isTypeValue(right);
    if (alias && tree.kind(left) === "identifier") {
      const symbol = this.declare({ label: "TypeAlias", name: this.text(left), node, body: NONE }, at);
      facts.setSymbol(symbol, "type", this.type(right, { ...at, symbol }));
      return at;
    }
    const type = exists(annotation) ? this.type(annotation, at) : NONE;
    const owner = tree.kind(left) === "identifier" ? this.declaredVariable(left, node, at) : NONE;
    const inside = exists(owner) ? { ...at, symbol: owner } : at;
    const value = this.walkAssigned(right, inside);
    if (tree.kind(left) === "identifier") this.noteTypeVariable(this.text(left), right, at);
    if (exists(owner)) {
      if (exists(type)) facts.setSymbol(owner, "type", type);
      if (isNone(this.facts.symbols.value(owner))) facts.setSymbol(owner, "value", value);
      else facts.assign(this.plainName(this.text(left), at), value, at.scope);
    } else {
      const again = tree.kind(left) === "identifier" && this.namesOf(this.home(at.scope)).has(this.text(left));
      this.bindPattern(left, at, value, type);
      if (again && exists(value)) return this.reassign(this.text(left), value, at);
    }
    return at;
  }

  private reassign(name: string, value: ExprRow, at: Place): Place {
    const { facts } = this;
    // Only calls are followed. A value that a loop or function derives from the earlier value is not.
    if (facts.exprs.op(value) !== Expr.Call) return at;
    // Blocks hold no names of their own. If they are nested too deeply, the next one starts directly under the
    // function.
    let depth = 0;
    const home = this.home(at.scope);
    for (let scope = at.scope; scope !== home && depth < MAX_REASSIGNED; depth++) scope = facts.scopes.parent(scope);
    const inside = this.block(depth < MAX_REASSIGNED ? at : { ...at, scope: home });
    facts.narrow(inside.scope, name, facts.type(Type.TypeOf, value));
    return inside;
  }

  /** The assigned value. In `a = b = value`, every name is bound. */
  private walkAssigned(node: TreeNode, at: Place): ExprRow {
    if (this.tree.kind(node) !== "assignment") return this.walkValue(node, at);
    const value = this.walkAssigned(this.tree.child(node, "right"), at);
    this.bindPattern(this.tree.child(node, "left"), at, value);
    return value;
  }
}
