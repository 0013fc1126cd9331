/** Statements and declarations of TypeScript and JavaScript. */
import {
  type BindingRow,
  type ExprRow,
  exists,
  isNone,
  NONE,
  ROOT,
  type ScopeRow,
  type SymbolRow,
  type TreeNode,
  type TypeRow,
} from "../../rows.ts";
import { BindingKind, ExportKind, Expr, ScopeKind, SymbolFlag } from "../fact-layout.ts";
import { EcmascriptClasses } from "./classes.ts";
import {
  type Context,
  docBefore,
  type Expected,
  expect,
  type FunctionOptions,
  isLambda,
  signatureOf,
} from "./context.ts";

/** The name space of declarations in `declare global`. */
const GLOBAL_SPACE = "globalThis";

function isStatementHolder(kind: string): boolean {
  return (
    kind.endsWith("_statement") ||
    kind.endsWith("_clause") ||
    kind.startsWith("switch_") ||
    kind === "program" ||
    kind === "ERROR"
  );
}

export class EcmascriptWalk extends EcmascriptClasses {
  file(): void {
    const scope = this.facts.scope(NONE, ScopeKind.File);
    if (this.tree.count === 0) return;
    const context: Context = {
      scope,
      varScope: scope,
      symbol: NONE,
      parent: NONE,
      thisScope: NONE,
      returns: undefined,
      top: true,
    };
    this.bindImports(context);
    this.statements(ROOT, context);
  }

  /** Walks one statement (or anything that holds statements). */
  statement(node: TreeNode, context: Context): void {
    if (isNone(node)) return;
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "import_statement":
        this.importStatement(node, context);
        return;
      case "import_alias":
        this.importAlias(node, context);
        return;
      case "export_statement":
        this.exportStatement(node, context);
        return;
      case "function_declaration":
      case "generator_function_declaration":
      case "function_signature":
        this.functionDeclaration(node, context, tree.source(tree.child(node, "name")), 0);
        return;
      case "class_declaration":
      case "abstract_class_declaration":
        this.classLike(node, tree.source(tree.child(node, "name")), context, 0);
        return;
      case "interface_declaration":
      case "type_alias_declaration":
      case "enum_declaration":
      case "internal_module":
      case "module":
        this.typeDeclaration(node, context, 0);
        return;
      case "lexical_declaration":
      case "variable_declaration":
        this.variableDeclaration(node, context, 0);
        return;
      case "ambient_declaration":
        if (exists(tree.childOfKind(node, "global"))) {
          // Every file can see the names in `declare global`.
          const scope = facts.scope(context.scope, ScopeKind.Namespace);
          facts.space(scope, GLOBAL_SPACE);
          this.statements(tree.childOfKind(node, "statement_block"), { ...context, scope, varScope: scope, top: true });
          return;
        }
        for (const child of tree.namedChildren(node)) this.statement(child, context);
        return;
      case "statement_block": {
        const scope = facts.scope(context.scope, ScopeKind.Block);
        this.statements(node, { ...context, scope });
        return;
      }
      case "if_statement": {
        const condition = tree.child(node, "condition");
        this.expression(condition, context);
        this.statement(tree.child(node, "consequence"), this.narrow(condition, context));
        const otherwise = tree.child(node, "alternative");
        if (exists(otherwise)) this.statement(otherwise, context);
        return;
      }
      case "for_in_statement":
        this.forIn(node, context);
        return;
      case "for_statement": {
        const scope = facts.scope(context.scope, ScopeKind.Block);
        this.statements(node, { ...context, scope });
        return;
      }
      case "catch_clause": {
        const scope = facts.scope(context.scope, ScopeKind.Block);
        const inside = { ...context, scope };
        const parameter = tree.child(node, "parameter");
        if (exists(parameter)) this.bindPattern(parameter, facts.expr(Expr.Unknown), NONE, inside, scope);
        this.statement(tree.child(node, "body"), inside);
        return;
      }
      case "return_statement": {
        const value = tree.firstNamed(node);
        if (exists(value)) context.returns?.push(this.walkExpected(value, context, context.returning));
        return;
      }
      case "expression_statement":
        this.expression(tree.firstNamed(node), context);
        return;
      case "comment":
      case "empty_statement":
      case "hash_bang_line":
        return;
      default:
        if (isStatementHolder(tree.kind(node))) this.statements(node, context);
        else this.expression(node, context);
    }
  }

  /** Walks the children of a node as statements. */
  protected statements(node: TreeNode, context: Context): void {
    for (const child of this.tree.namedChildren(node)) this.statement(child, context);
  }

  private forIn(node: TreeNode, context: Context): void {
    const { tree, facts } = this;
    const scope = facts.scope(context.scope, ScopeKind.Block);
    const inside = { ...context, scope };
    const right = this.expression(tree.child(node, "right"), context);
    const of = tree.kind(tree.child(node, "operator")) === "of";
    const value = of ? facts.expr(Expr.Iterate, right) : facts.exprLiteral("string");
    const left = tree.child(node, "left");
    if (exists(tree.child(node, "kind"))) this.bindPattern(left, value, NONE, inside, scope);
    else this.expression(left, inside);
    this.statement(tree.child(node, "body"), inside);
  }

  /** Declares a function. Earlier overload signatures of the name become hidden. */
  functionDeclaration(node: TreeNode, context: Context, name: string, flags: number): SymbolRow {
    const { tree, facts } = this;
    const signature = tree.kind(node) === "function_signature";
    const key = `${context.scope}/${name}`;
    const open = this.overloads.get(key);
    const symbol = facts.symbol({
      label: "Function",
      name,
      parent: context.parent,
      scope: context.scope,
      startLine: open === undefined ? tree.line(node) : facts.symbols.startLine(open),
      endLine: tree.endLine(node),
      flags: flags | (signature ? SymbolFlag.Signature : 0),
      signature: signatureOf(tree, node, tree.child(node, "body")),
      doc: docBefore(tree, node),
    });
    if (open !== undefined) {
      // The later declaration becomes the node. The signature before it stays as a hidden overload.
      facts.addFlag(open, SymbolFlag.Hidden | SymbolFlag.Signature);
      if (exists(facts.symbols.doc(open))) facts.setSymbol(symbol, "doc", facts.symbols.doc(open));
    }
    if (signature) this.overloads.set(key, symbol);
    else this.overloads.delete(key);
    facts.bind(symbol);
    if (context.scope === 0) this.tops.set(name, symbol);
    // In JavaScript, a function named like a class is a constructor: `this` is the instance that it makes.
    const constructs = facts.language === "javascript" && /^\p{Lu}/u.test(name);
    this.functionBody(node, symbol, { ...context, symbol }, { arrow: false, thisScope: NONE, constructs });
    return symbol;
  }

  /** Walks the parameters, type parameters, return type and body of a function. */
  functionBody(node: TreeNode, symbol: SymbolRow, context: Context, options: FunctionOptions): void {
    const { tree, facts } = this;
    const scope = facts.scope(context.scope, ScopeKind.Function, symbol);
    const returns: ExprRow[] = [];
    const thisScope = options.constructs ? scope : options.arrow ? context.thisScope : options.thisScope;
    const inside: Context = { ...context, scope, varScope: scope, parent: symbol, thisScope, returns, top: false };
    facts.setSymbol(symbol, "typeParameters", this.typeParameters(tree.child(node, "type_parameters"), inside));
    const single = tree.child(node, "parameter");
    const list = tree.child(node, "parameters");
    const parameters = exists(single) ? [single] : tree.namedChildren(list);
    const documented = this.readTypes(node, inside);
    const rows: BindingRow[] = [];
    let required = 0;
    let variadic = false;
    for (const parameter of parameters) {
      const said = documented.parameters.get(tree.source(parameter)) ?? NONE;
      const row = this.declareParameter(parameter, inside, said, () => options.toContextual?.(rows.length) ?? NONE);
      if (isNone(row)) continue;
      rows.push(row);
      const pattern = tree.child(parameter, "pattern");
      const rest =
        tree.kind(parameter) === "rest_pattern" || (exists(pattern) && tree.kind(pattern) === "rest_pattern");
      if (rest) variadic = true;
      else if (tree.kind(parameter) !== "optional_parameter" && isNone(tree.child(parameter, "value")))
        required = rows.length;
    }
    facts.setSymbol(symbol, "parameters", facts.list(rows));
    facts.setSymbol(symbol, "arity", required * 1000 + (variadic ? 999 : rows.length));
    const returnType = tree.child(node, "return_type");
    const result = exists(returnType) ? returnType : tree.child(node, "type");
    if (exists(result)) {
      facts.setSymbol(symbol, "type", this.type(result, inside));
      if (/^(type_predicate|asserts)/.test(tree.kind(result))) facts.addFlag(symbol, SymbolFlag.Guard);
    }
    if (isNone(result) && exists(documented.returns)) facts.setSymbol(symbol, "type", documented.returns);
    if (exists(tree.childOfKind(node, "async"))) facts.addFlag(symbol, SymbolFlag.Async);
    if (tree.kind(node).startsWith("generator") || exists(tree.childOfKind(node, "*")))
      facts.addFlag(symbol, SymbolFlag.Generator);
    const body = tree.child(node, "body");
    if (isNone(body)) return;
    inside.returning = this.expectReturn(symbol, options);
    if (tree.kind(body) === "statement_block") this.statements(body, inside);
    else returns.push(this.walkExpected(body, inside, inside.returning));
    facts.setSymbol(symbol, "returns", facts.list(returns));
  }

  /** The expectation for returned values: the declared return type, otherwise what the context expects. */
  private expectReturn(symbol: SymbolRow, options: FunctionOptions): Expected | undefined {
    const { facts } = this;
    const flags = facts.symbols.flags(symbol);
    if (flags & (SymbolFlag.Generator | SymbolFlag.Guard)) return undefined;
    const whole = this.expectType(facts.symbols.type(symbol)) ?? options.returning;
    return whole && flags & SymbolFlag.Async ? expect(() => facts.expr(Expr.Await, whole())) : whole;
  }

  /**
   * Declares a parameter. @returns its binding row; for a pattern that of the whole value, for the parameter `this`
   * none
   */
  private declareParameter(
    node: TreeNode,
    context: Context,
    documented: TypeRow,
    contextual: () => ExprRow,
  ): BindingRow {
    const { tree, facts } = this;
    const kind = tree.kind(node);
    const wrapped = kind === "required_parameter" || kind === "optional_parameter";
    let pattern = wrapped ? tree.child(node, "pattern") : node;
    if (isNone(pattern)) pattern = tree.child(node, "name");
    if (isNone(pattern) || tree.kind(pattern) === "this") return NONE;
    const type = wrapped ? this.type(tree.child(node, "type"), context) : documented;
    this.noteDecorators(context.symbol, context.scope, this.decoratorsIn(node, context));
    let value = isNone(type) ? contextual() : NONE;
    const valueNode = wrapped ? tree.child(node, "value") : NONE;
    if (exists(valueNode)) {
      const given = this.walkExpected(valueNode, context, this.expectType(type));
      value = isNone(value) ? given : facts.expr(Expr.Either, facts.list([value, given]));
    }
    if (tree.kind(pattern) === "assignment_pattern") {
      const given = this.expression(tree.child(pattern, "right"), context);
      value = isNone(value) ? given : facts.expr(Expr.Either, facts.list([value, given]));
      pattern = tree.child(pattern, "left");
    }
    if (tree.kind(pattern) === "rest_pattern") pattern = tree.firstNamed(pattern);
    if (tree.kind(pattern) === "identifier")
      return facts.local(context.scope, tree.source(pattern), type, value, BindingKind.Parameter);
    const whole = facts.local(context.scope, "", type, value, BindingKind.Parameter);
    const source = exists(type) ? facts.expr(Expr.Typed, type, value) : value;
    this.bindPattern(pattern, isNone(source) ? facts.expr(Expr.Unknown) : source, NONE, context, context.scope);
    return whole;
  }

  /**
   * Declares `const`, `let` and `var`. Functions and classes become nodes anywhere, other variables only at the top.
   */
  variableDeclaration(node: TreeNode, context: Context, flags: number): void {
    const { tree, facts } = this;
    const kind = tree.kind(tree.first(node));
    const scope = kind === "var" ? context.varScope : context.scope;
    for (const declarator of tree.namedChildren(node)) {
      if (tree.kind(declarator) !== "variable_declarator") continue;
      const nameNode = tree.child(declarator, "name");
      const valueNode = tree.child(declarator, "value");
      const typeNode = tree.child(declarator, "type");
      const named = tree.kind(nameNode) === "identifier";
      if (named && (context.top || isLambda(tree.kind(valueNode)) || tree.kind(valueNode) === "class")) {
        this.variableSymbol(declarator, kind === "const" ? "Const" : "Variable", context, scope, flags);
        continue;
      }
      const type = this.type(typeNode, context);
      const value = exists(valueNode) ? this.walkExpected(valueNode, context, this.expectType(type)) : NONE;
      const names = this.bindPattern(nameNode, value, type, context, scope);
      if (flags & SymbolFlag.Exported) for (const name of names) facts.export(ExportKind.Local, name, facts.name(name));
    }
  }

  private variableSymbol(
    declarator: TreeNode,
    label: "Const" | "Variable",
    context: Context,
    scope: ScopeRow,
    flags: number,
  ): void {
    const { tree, facts } = this;
    const name = tree.source(tree.child(declarator, "name"));
    const valueNode = tree.child(declarator, "value");
    const typeNode = tree.child(declarator, "type");
    if (flags & SymbolFlag.Exported) facts.export(ExportKind.Local, name, facts.name(name));
    if (tree.kind(valueNode) === "class") {
      const symbol = this.classLike(valueNode, name, { ...context, scope }, flags);
      facts.setSymbol(symbol, "startLine", tree.line(declarator));
      return;
    }
    const functional = isLambda(tree.kind(valueNode));
    const symbol = facts.symbol({
      label: functional ? "Function" : label,
      name,
      parent: context.parent,
      scope,
      startLine: tree.line(declarator),
      endLine: tree.endLine(declarator),
      flags,
      signature: signatureOf(tree, declarator, functional ? tree.child(valueNode, "body") : NONE),
      doc: docBefore(tree, declarator),
    });
    facts.bind(symbol);
    if (scope === 0) this.tops.set(name, symbol);
    const inside = { ...context, symbol };
    const type = this.type(typeNode, inside);
    if (functional) {
      const expected = this.expectType(type);
      this.functionBody(valueNode, symbol, inside, {
        arrow: tree.kind(valueNode) === "arrow_function",
        thisScope: NONE,
        ...this.functionOf(expected),
      });
      if (expected && isNone(facts.symbols.type(symbol))) facts.setSymbol(symbol, "value", expected());
    } else {
      const within = { ...inside, parent: symbol };
      if (exists(valueNode))
        facts.setSymbol(symbol, "value", this.walkExpected(valueNode, within, this.expectType(type)));
      facts.setSymbol(symbol, "type", type);
    }
  }
}
