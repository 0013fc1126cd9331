/** Python's functions and classes, and the variables and attributes that assignments declare. */
import {
  type BindingRow,
  type ExprRow,
  exists,
  isNone,
  NONE,
  rowAfter,
  type ScopeRow,
  type SymbolRow,
  type TreeNode,
  type TypeRow,
} from "../../rows.ts";
import { type Place, packArity } from "../block-walk.ts";
import { BindingKind, Expr, HeritageKind, ScopeKind, SymbolFlag, Type } from "../fact-layout.ts";
import type { DecoratorInput } from "../facts-builder.ts";
import { type Taker, TestFixtures } from "./test-fixtures.ts";
import { PythonTypeVariables } from "./type-variables.ts";

const ENTRY = /\.(route|get|post|put|delete|patch|websocket|command|task|event|listener|handler)\b/;

export abstract class PythonDeclarations extends PythonTypeVariables {
  /** Attributes, by class scope and name. */
  private readonly attributes = new Map<string, SymbolRow>();
  private readonly enumScopes = new Set<number>();
  protected readonly fixtures = new TestFixtures(this.facts);
  /** The function whose parameters are being read, if its parameters are fixtures. */
  private taker: Taker | undefined;

  /** Decorators of the next definition. */
  private decorators: DecoratorInput[] = [];

  protected override decoratorsOf(): readonly DecoratorInput[] {
    const { decorators } = this;
    this.decorators = [];
    return decorators;
  }

  private exportFlag(name: string): number {
    return name.startsWith("_") ? 0 : SymbolFlag.Exported;
  }

  protected walkDecorated(node: TreeNode, at: Place): void {
    const { tree } = this;
    const definition = tree.child(node, "definition");
    const decorators = tree.namedChildren(node).filter((child) => tree.kind(child) === "decorator");
    this.decorators = decorators.map((decorator) => {
      const inner = tree.firstNamed(decorator);
      const called = tree.kind(inner) === "call" ? tree.child(inner, "function") : inner;
      return this.decorator(decorator, this.text(called), { value: this.expression(inner, at) });
    });
    const texts = decorators.map((decorator) => this.text(tree.firstNamed(decorator)));
    if (tree.kind(definition) === "class_definition") this.classDefinition(definition, node, at);
    else this.functionDefinition(definition, node, texts, at);
  }

  protected functionDefinition(node: TreeNode, whole: TreeNode, decorators: readonly string[], at: Place): void {
    const { tree, facts } = this;
    const name = this.field(node, "name");
    const body = tree.child(node, "body");
    const inClass = facts.scopes.kind(this.home(at.scope)) === ScopeKind.Class;
    const has = (pattern: RegExp) => decorators.some((text) => pattern.test(text));
    const getter = inClass && has(/(^|[._])property$|^property\b|\.(setter|deleter|getter)$/i);
    let flags = this.exportFlag(name);
    if (exists(tree.childOfKind(node, "async"))) flags |= SymbolFlag.Async;
    if (getter) flags |= SymbolFlag.Getter;
    if (inClass && has(/(^|\.)(static|class)method$/)) flags |= SymbolFlag.Static;
    if (has(/(^|\.)abstractmethod$/)) flags |= SymbolFlag.Abstract;
    if (has(/(^|\.)overload$/)) flags |= SymbolFlag.Hidden | SymbolFlag.Signature;
    if (/^test(_|$)/.test(name) || has(ENTRY)) flags |= SymbolFlag.Entry;
    if (inClass && name === "__init__") flags |= SymbolFlag.Constructor;
    const yields = this.yields(body);
    if (yields) flags |= SymbolFlag.Generator;
    const fixture = has(/(^|\.)fixture(\(|$)/);
    // A parameter that names a fixture gets the value that the fixture yields, or that is awaited.
    if (fixture) flags &= ~(SymbolFlag.Generator | SymbolFlag.Async);
    const label = getter ? "Property" : inClass ? "Method" : "Function";
    const home = this.home(at.scope);
    const symbol = this.declare({ label, name, node: whole, body, flags }, { ...at, scope: home });
    this.namesOf(home).add(name);
    this.describe(symbol, node, body);
    // The names of a class are not visible in its methods.
    const outer = inClass ? facts.scopes.parent(home) : at.scope;
    const inside = { ...this.open(symbol, { ...at, scope: outer }), thisScope: inClass ? home : at.thisScope };
    if (inClass && !has(/(^|\.)staticmethod$/)) this.receiverOf(node, home, inside, name, has(/(^|\.)classmethod$/));
    this.functionTypeParameters(node, symbol, inside);
    if (fixture) this.fixtures.declare(/\bname\s*=\s*["'](\w+)/.exec(decorators.join())?.[1] ?? name, home);
    if (fixture || /^test(_|$)/.test(name))
      this.taker = {
        at: inside,
        line: tree.line(node),
        given: decorators.filter((text) => /parametrize|patch/.test(text)).join(),
      };
    this.parameters(tree.child(node, "parameters"), symbol, inside);
    this.taker = undefined;
    const result = tree.child(node, "return_type");
    if (exists(result))
      facts.setSymbol(symbol, "type", fixture && yields ? this.yieldedType(result, inside) : this.type(result, inside));
    const { sent } = this;
    this.sent = yields && exists(result) ? this.sentType(result, inside) : NONE;
    this.statements(body, inside);
    this.sent = sent;
    this.close(symbol, inside);
  }

  /** Sets the docstring and signature of a definition. */
  private describe(symbol: SymbolRow, node: TreeNode, body: TreeNode): void {
    const { tree, facts } = this;
    const text = tree.text
      .slice(tree.startIndex(node), exists(body) ? tree.startIndex(body) : tree.endIndex(node))
      .replace(/#.*$/gm, "")
      .replace(/\s+/g, " ")
      .replace(/(?<![\s:])[\s:]+$/, "");
    facts.setSymbol(symbol, "signature", facts.name(text.slice(0, 240)));
    const first = isNone(body) ? NONE : tree.firstNamed(body);
    const string = tree.kind(first) === "expression_statement" ? tree.firstNamed(first) : NONE;
    if (tree.kind(string) !== "string") return;
    const content = this.text(string)
      .replace(/^[a-zA-Z]*("""|'''|"|')|("""|'''|"|')$/g, "")
      .trim()
      .split(/\n\s*\n/)[0]!
      .replace(/\s+/g, " ");
    const stop = content.search(/\.(\s|$)/);
    const doc = (stop > 0 ? content.slice(0, stop) : content).slice(0, 240);
    if (doc !== "") facts.setSymbol(symbol, "doc", facts.name(doc));
  }

  /** Whether a body contains a `yield`, apart from nested functions and classes. */
  private yields(body: TreeNode): boolean {
    const { tree } = this;
    if (isNone(body)) return false;
    for (let node = rowAfter(body); node < tree.end(body); ) {
      const kind = tree.kind(node);
      if (kind === "yield" && tree.isNamed(node)) return true;
      node = /^(function_definition|class_definition|lambda)$/.test(kind) ? tree.end(node) : rowAfter(node);
    }
    return false;
  }

  private receiverOf(node: TreeNode, thisScope: ScopeRow, inside: Place, method: string, isClass: boolean): void {
    const { tree } = this;
    const list = tree.child(node, "parameters");
    const first = isNone(list) ? NONE : tree.firstNamed(list);
    const nameNode = tree.kind(first) === "typed_parameter" ? tree.firstNamed(first) : first;
    if (tree.kind(nameNode) !== "identifier") return;
    const asClass = isClass || /^(__new__|__init_subclass__|__class_getitem__)$/.test(method);
    this.receivers.set(inside.scope, { name: this.text(nameNode), isClass: asClass, thisScope });
  }

  protected parameters(list: TreeNode, symbol: SymbolRow, inside: Place): void {
    const { tree, facts } = this;
    if (isNone(list)) return;
    const rows: BindingRow[] = [];
    let required = 0;
    let variadic = false;
    const receiver = this.receivers.get(inside.scope)?.name;
    for (const [i, parameter] of tree.namedChildren(list).entries()) {
      const kind = tree.kind(parameter);
      if (kind === "keyword_separator" || kind === "positional_separator") continue;
      let nameNode = tree.child(parameter, "name");
      if (isNone(nameNode)) nameNode = kind === "identifier" ? parameter : tree.firstNamed(parameter);
      const splat = /splat_pattern$/.test(tree.kind(nameNode)) || /splat_pattern$/.test(kind);
      if (/splat_pattern$/.test(tree.kind(nameNode))) nameNode = tree.firstNamed(nameNode);
      const name = this.text(nameNode);
      if (i === 0 && name === receiver) continue;
      let type = this.type(tree.child(parameter, "type"), inside);
      if (splat && exists(type))
        type = this.text(parameter).startsWith("**")
          ? this.builtinType("dict", [this.builtinType("string"), type])
          : this.builtinType("list", [type]);
      const value = tree.child(parameter, "value");
      const given = isNone(value)
        ? NONE
        : this.expression(value, { ...inside, scope: facts.scopes.parent(inside.scope) });
      this.namesOf(inside.scope).add(name);
      const passed =
        isNone(value) && !splat && this.taker?.at.symbol === symbol ? this.fixtures.request(name, this.taker) : given;
      rows.push(facts.local(inside.scope, name, type, passed, BindingKind.Parameter));
      if (splat) variadic = true;
      else if (isNone(value)) required = rows.length;
    }
    facts.setSymbol(symbol, "parameters", facts.list(rows));
    facts.setSymbol(symbol, "arity", packArity(required, rows.length, variadic));
  }

  protected classDefinition(node: TreeNode, whole: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const name = this.field(node, "name");
    const body = tree.child(node, "body");
    const home = this.home(at.scope);
    const flags = this.exportFlag(name);
    const symbol = this.declare({ label: "Class", name, node: whole, body, flags }, { ...at, scope: home });
    this.namesOf(home).add(name);
    this.describe(symbol, node, body);
    // A nested class sees what the outer class sees, but not the outer class's members.
    const inClass = facts.scopes.kind(home) === ScopeKind.Class;
    const outer = { ...at, scope: inClass ? facts.scopes.parent(home) : at.scope };
    const bases = tree.child(node, "superclasses");
    const around = this.classTypeParameters(tree.child(node, "type_parameters"), bases, symbol, outer);
    const inside = this.openClass(symbol, around);
    for (const base of tree.namedChildren(bases)) this.base(base, symbol, around === outer ? at : around, inside);
    this.statements(body, { ...inside, names: new Set() });
  }

  private base(node: TreeNode, symbol: SymbolRow, at: Place, inside: Place): void {
    const { tree, facts } = this;
    const line = tree.line(node);
    const kind = tree.kind(node);
    if (kind === "keyword_argument") this.expression(tree.child(node, "value"), at);
    else if (kind === "identifier" || kind === "attribute" || kind === "subscript") {
      if (/(^|\.)\w*(Enum|Flag)$/.test(this.text(node))) this.enumScopes.add(inside.scope);
      const type = this.type(node, at);
      const op = facts.types.op(type);
      if (op === Type.Ref || op === Type.Qualified) facts.heritage(symbol, HeritageKind.Extends, type, line);
    } else facts.heritage(symbol, HeritageKind.Extends, NONE, line, this.expression(node, at));
  }

  /** The symbol that an assignment to a plain name declares, at the top of a file or class; none elsewhere. */
  protected declaredVariable(nameNode: TreeNode, node: TreeNode, at: Place): SymbolRow {
    const { facts } = this;
    const home = this.home(at.scope);
    const kind = facts.scopes.kind(home);
    if (kind !== ScopeKind.File && kind !== ScopeKind.Class) return NONE;
    const name = this.text(nameNode);
    const key = `${home}.${name}`;
    const known = this.attributes.get(key);
    if (known !== undefined) return known;
    if (kind === ScopeKind.File && this.namesOf(home).has(name)) return NONE;
    const inClass = kind === ScopeKind.Class;
    let flags = this.exportFlag(name);
    if (inClass && this.enumScopes.has(home)) flags |= SymbolFlag.EnumMember | SymbolFlag.Static;
    const label = inClass ? "Property" : /^_*[A-Z][A-Z0-9_]*$/.test(name) ? "Const" : "Variable";
    const symbol = this.declare({ label, name, node, body: NONE, flags }, { ...at, scope: home });
    this.namesOf(home).add(name);
    this.attributes.set(key, symbol);
    return symbol;
  }

  /** Handles `self.name = value`, which declares an attribute of the class the first time. */
  protected assignAttribute(node: TreeNode, at: Place, value: ExprRow, type: TypeRow): void {
    const { tree, facts } = this;
    const object = this.expression(tree.child(node, "object"), at);
    const name = this.field(node, "attribute");
    const target = facts.exprMember(object, name);
    if (facts.exprs.op(object) === Expr.This) {
      const scope = facts.exprs.thisScope(object);
      const owner = facts.scopes.symbol(scope);
      const key = `${scope}.${name}`;
      if (!this.attributes.has(key) && !this.namesOf(scope).has(name)) {
        const symbol = this.declare(
          {
            label: "Property",
            name,
            node: this.statementAround(node),
            body: NONE,
            flags: this.exportFlag(name),
            bound: false,
          },
          { ...at, scope, parent: owner },
        );
        if (exists(type)) facts.setSymbol(symbol, "type", type);
        facts.setSymbol(symbol, "value", value);
        this.attributes.set(key, symbol);
      }
    }
    if (exists(value)) facts.assign(target, value, at.scope);
  }

  private statementAround(node: TreeNode): TreeNode {
    const { tree } = this;
    let found = node;
    while (exists(tree.parent(found)) && tree.kind(found) !== "assignment" && !tree.kind(found).endsWith("_statement"))
      found = tree.parent(found);
    return found;
  }
}
