/** Declarations of C and C++: functions, classes, enums, fields, variables, aliases. */

import type { SymbolLabel } from "../../model.ts";
import {
  type BindingRow,
  type ExprRow,
  exists,
  isNone,
  NONE,
  type SymbolRow,
  type TreeNode,
  type TypeRow,
} from "../../rows.ts";
import { type Place, packArity } from "../block-walk.ts";
import { BindingKind, CallFlag, Expr, HeritageKind, SymbolFlag, Type } from "../fact-layout.ts";
import type { DecoratorInput } from "../facts-builder.ts";
import { CFamilyExpressions } from "./expressions.ts";
import type { Declarator } from "./types.ts";

const KEYWORDS = /^(if|else|for|while|switch|return|do|case|sizeof|void|int|char|defined|case|goto)$/;

const LABELS: Record<string, SymbolLabel> = {
  struct_specifier: "Struct",
  union_specifier: "Struct",
  class_specifier: "Class",
};

export abstract class CFamilyDeclarations extends CFamilyExpressions {
  /** How many unnamed name spaces are around. Symbols in them are visible in this file only. */
  protected hiddenSpace = 0;
  /** The template parameters of the next declaration. */
  protected template: TreeNode = NONE;

  /** Attributes such as `[[nodiscard]]`, `[[ns::name]]` and `__attribute__((name))`. */
  protected override decoratorsOf(node: TreeNode): readonly DecoratorInput[] {
    const { tree } = this;
    const found: DecoratorInput[] = [];
    for (const list of tree.namedChildren(node)) {
      const kind = tree.kind(list);
      if (kind !== "attribute_declaration" && kind !== "attribute_specifier") continue;
      const holder = kind === "attribute_specifier" ? tree.firstNamed(list) : list;
      for (const one of tree.namedChildren(holder)) {
        const called = tree.kind(one) === "call_expression" ? tree.child(one, "function") : one;
        const prefix = this.field(one, "prefix");
        const name = exists(tree.child(one, "name")) ? this.field(one, "name") : this.text(called);
        found.push(this.decorator(one, prefix === "" ? name : `${prefix}::${name}`, {}));
      }
    }
    return found;
  }

  private storage(node: TreeNode): number {
    const { tree } = this;
    let flags = 0;
    for (let child = tree.first(node); child !== NONE; child = tree.next(child))
      if (tree.kind(child) === "storage_class_specifier" && this.text(child) === "static") flags |= SymbolFlag.Static;
    return flags;
  }

  /** Whether declarations here are members of a class. */
  private inType(at: Place): boolean {
    return exists(at.thisScope) && at.thisScope === at.scope;
  }

  private fileLevel(at: Place): boolean {
    return at.names === undefined && !this.inType(at);
  }

  protected takeTemplate(symbol: SymbolRow, inside: Place): void {
    if (isNone(this.template)) return;
    const list = this.template;
    this.template = NONE;
    this.templateParameters(list, symbol, inside);
  }

  protected functionDefinition(node: TreeNode, at: Place): void {
    const { tree } = this;
    const found = this.declarator(tree.child(node, "declarator"));
    if (isNone(found.functionNode) || isNone(found.name)) {
      this.template = NONE;
      this.statements(tree.child(node, "body"), this.block(at));
      return;
    }
    const body = tree.child(node, "body");
    const name = this.text(found.name);
    // The parser reads `MACRO(x) if (…) {…}` as a function named `if`.
    if (KEYWORDS.test(name)) {
      this.template = NONE;
      this.statements(body, this.block({ ...at, names: at.names ?? new Set() }));
      return;
    }
    if (/^[A-Z][A-Z0-9_]*$/.test(name) && isNone(tree.child(node, "type"))) {
      this.macroFunction(node, found, body, at);
      return;
    }
    const given = exists(body) || exists(tree.childOfKind(node, "default_method_clause"));
    this.functionSymbol(node, found, body, given, at);
  }

  /** `TEST(suite, name) { … }` is a function that a macro makes. Its name consists of the macro's arguments. */
  private macroFunction(node: TreeNode, found: Declarator, body: TreeNode, at: Place): void {
    const { tree } = this;
    const list = tree.child(found.functionNode, "parameters");
    const words = tree
      .namedChildren(list)
      .map((one) => this.text(one))
      .filter((text) => /^\w+$/.test(text));
    const name = words.length > 0 ? words.join("_") : this.text(found.name);
    const flags = SymbolFlag.FileLocal | SymbolFlag.Entry;
    const symbol = this.declare({ label: "Function", name, node, body, flags, bound: false }, at);
    const inside = this.open(symbol, at);
    this.statements(body, inside);
    this.close(symbol, inside);
  }

  private functionName(node: TreeNode): string {
    const text =
      this.tree.kind(node) === "operator_cast" ? `operator ${this.field(node, "type")}` : this.partName(node);
    return text.replace(/\s+/g, " ");
  }

  protected functionSymbol(node: TreeNode, found: Declarator, body: TreeNode, given: boolean, at: Place): void {
    const { tree, facts } = this;
    const { names } = this.parts(found.name);
    const name = this.functionName(names.at(-1) ?? found.name);
    const member = this.inType(at);
    const outside = !member && names.length > 1;
    const pure = !given && /=\s*0[\s;]*$/.test(this.text(node));
    let flags = this.storage(node) | (this.hiddenSpace > 0 ? SymbolFlag.FileLocal : SymbolFlag.Exported);
    if (!member && flags & SymbolFlag.Static) flags ^= SymbolFlag.Static | SymbolFlag.FileLocal | SymbolFlag.Exported;
    if (pure) flags |= SymbolFlag.Abstract;
    else if (!given) flags |= SymbolFlag.Hidden | SymbolFlag.Signature;
    if (name === "main") flags |= SymbolFlag.Entry;
    const qualifier = outside ? names.slice(0, -1) : [];
    const owner = member ? facts.text(facts.symbols.name(at.parent)) : this.partName(qualifier.at(-1) ?? NONE);
    if ((member || outside) && name === owner) flags |= SymbolFlag.Constructor;
    // `Type::member` and `space::function` look the same. Such symbols are attached to the qualifier and found in
    // either case.
    const label = member || outside ? "Method" : "Function";
    const symbol = this.declare({ label, name, node, body, flags, bound: !member && !outside }, at);
    const inside = this.open(symbol, outside ? { ...at, thisScope: NONE } : at);
    this.takeTemplate(symbol, inside);
    if (outside) this.attachTo(symbol, qualifier, at, inside);
    this.parameters(found.functionNode, symbol, inside);
    const trailing = tree.childOfKind(found.functionNode, "trailing_return_type");
    const result = exists(trailing) ? tree.firstNamed(trailing) : tree.child(node, "type");
    const type = isNone(result) || flags & SymbolFlag.Constructor ? NONE : this.type(result, inside);
    if (exists(type)) facts.setSymbol(symbol, "type", type);
    const initializers = tree.childOfKind(node, "field_initializer_list");
    for (const one of tree.namedChildren(initializers)) this.initializer(one, inside);
    this.statements(body, inside);
    this.close(symbol, inside);
  }

  private attachTo(symbol: SymbolRow, qualifier: readonly TreeNode[], at: Place, inside: Place): void {
    const { facts } = this;
    let type = facts.typeRef(this.partName(qualifier[0]!), at.scope);
    for (const part of qualifier.slice(1))
      type = facts.type(Type.Qualified, type, facts.name(this.partName(part)), NONE);
    facts.attach(symbol, type);
    facts.local(inside.scope, "this", type, NONE, BindingKind.Parameter);
  }

  /** Walks `Base(x)` or `field(x)` before a constructor's body. */
  private initializer(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const [target = NONE, list = NONE] = tree.namedChildren(node);
    const args = tree.namedChildren(list);
    const kind = tree.kind(target);
    if (kind === "field_identifier") {
      // The name may be that of a base class or of a field. Resolution decides.
      const row = facts.expr(Expr.New, facts.exprName(this.text(target), at.scope));
      facts.exprs.setArgs(row, facts.list(args.map((argument) => this.expression(argument, at))));
      facts.call(row, at.symbol, tree.line(target), CallFlag.New);
      return;
    }
    if (kind === "template_method" || kind === "qualified_identifier") {
      const callee =
        kind === "template_method" ? facts.exprName(this.field(target, "name"), at.scope) : this.path(target, at);
      this.newOf(callee, args, at, tree.line(target));
    } else for (const argument of args) this.expression(argument, at);
  }

  protected parameters(functionNode: TreeNode, symbol: SymbolRow, inside: Place): void {
    const { tree, facts } = this;
    const list = tree.child(functionNode, "parameters");
    const rows: BindingRow[] = [];
    let required = 0;
    let variadic = exists(list) && this.text(list).includes("...");
    for (const parameter of tree.namedChildren(list)) {
      const kind = tree.kind(parameter);
      if (!kind.endsWith("parameter_declaration")) continue;
      if (kind === "variadic_parameter_declaration") variadic = true;
      const declared = tree.child(parameter, "declarator");
      const typeNode = tree.child(parameter, "type");
      if (isNone(declared) && this.text(typeNode) === "void") continue;
      const found = this.declarator(declared);
      const pointer = exists(found.pointerTo) ? found : { ...found, pointerTo: found.functionNode };
      const type = this.declaredType(pointer, this.type(typeNode, inside), inside);
      const given = tree.child(parameter, "default_value");
      const value = this.expression(given, inside);
      rows.push(this.local(isNone(found.name) ? "" : this.text(found.name), inside, type, value, true));
      if (isNone(given)) required = rows.length;
    }
    facts.setSymbol(symbol, "parameters", facts.list(rows));
    facts.setSymbol(
      symbol,
      "arity",
      packArity(variadic ? Math.min(required, rows.length) : required, rows.length, variadic),
    );
  }

  /** Walks a struct, class, union or enum in the place of a type. `alias` names one without a name of its own. */
  protected specifier(node: TreeNode, at: Place, alias: string): TypeRow {
    const { tree, facts } = this;
    const body = tree.child(node, "body");
    const nameNode = tree.child(node, "name");
    const { names } = isNone(nameNode) ? { names: [] } : this.parts(nameNode);
    const last = names.at(-1);
    const name = last === undefined ? alias : this.partName(last);
    if (isNone(body)) return name === "" ? NONE : this.type(nameNode, at);
    const isEnum = tree.kind(node) === "enum_specifier";
    const label = isEnum ? "Enum" : LABELS[tree.kind(node)]!;
    let flags = this.hiddenSpace > 0 ? SymbolFlag.FileLocal : SymbolFlag.Exported;
    if (name === "") flags |= SymbolFlag.Hidden;
    // In C, a type declared inside a struct is visible outside of it. Binding it there does no harm in C++.
    const symbol = this.declare({ label, name, node, body, flags }, at);
    const inside = this.openClass(symbol, at);
    this.takeTemplate(symbol, inside);
    if (isEnum) this.enumerators(body, symbol, at, isNone(tree.childOfKind(node, "class")));
    else {
      const bases = tree.childOfKind(node, "base_class_clause");
      for (const base of tree.namedChildren(bases))
        if (/type_identifier|qualified_identifier|template_type/.test(tree.kind(base)))
          facts.heritage(symbol, HeritageKind.Extends, this.type(base, inside), tree.line(base));
      this.statements(body, inside);
    }
    return name === "" ? facts.type(Type.Object, symbol) : facts.typeRef(name, at.scope);
  }

  private enumerators(body: TreeNode, owner: SymbolRow, at: Place, visible: boolean): void {
    const { tree } = this;
    for (const node of tree.namedChildren(body)) {
      if (tree.kind(node) !== "enumerator") continue;
      const flags = SymbolFlag.Static | SymbolFlag.EnumMember | SymbolFlag.Exported;
      const what = {
        label: "Property" as const,
        name: this.field(node, "name"),
        node,
        body: NONE,
        flags,
        bound: visible,
      };
      const symbol = this.declare(what, { ...at, parent: owner });
      this.expression(tree.child(node, "value"), { ...at, symbol });
    }
  }

  /** Walks `int a, *b = x, f(int);` at the top of a file, in a class, or in a function. */
  protected declaration(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const typeNode = tree.child(node, "type");
    const type = this.type(typeNode, at);
    const declarators = tree.namedChildren(node).filter((child) => tree.fieldName(child) === "declarator");
    const external = /^extern\b/.test(this.text(node));
    for (const one of declarators) {
      const found = this.declarator(one);
      if (isNone(found.name)) continue;
      if (exists(found.functionNode) && !this.isConstruction(found, at)) {
        this.functionSymbol(node, found, NONE, false, at);
        continue;
      }
      const name = this.partName(this.parts(found.name).names.at(-1) ?? found.name);
      const built = exists(found.functionNode) ? this.readAsParameters(found.functionNode, type, typeNode, at) : NONE;
      const declared = this.declaredType(found, type, at);
      const initial = tree.kind(one) === "init_declarator" ? tree.child(one, "value") : tree.child(node, "value");
      const fallback = tree.child(node, "default_value");
      const valueNode = exists(initial) ? initial : fallback;
      if (this.inType(at)) this.fieldSymbol(node, name, declared, valueNode, at);
      else if (!this.fileLevel(at))
        this.local(name, at, declared, exists(built) ? built : this.initialValue(valueNode, declared, typeNode, at));
      else if (!external) {
        const label = /^(static\s+)?(const|constexpr)\b/.test(this.text(node)) ? "Const" : "Variable";
        const flags = this.storage(node) ? SymbolFlag.FileLocal : SymbolFlag.Exported;
        const symbol = this.declare({ label, name, node, body: NONE, flags }, at);
        if (exists(declared)) facts.setSymbol(symbol, "type", declared);
        facts.setSymbol(symbol, "value", this.initialValue(valueNode, declared, typeNode, { ...at, symbol }));
      }
    }
    this.template = NONE;
  }

  /** Whether the parser read a construction in a function, `Foo x(y);`, as the declaration of a function. */
  private isConstruction(found: Declarator, at: Place): boolean {
    if (at.names === undefined) return false;
    const { tree } = this;
    const list = tree.child(found.functionNode, "parameters");
    const parameters = tree.namedChildren(list);
    return parameters.some((one) => {
      const declarator = tree.child(one, "declarator");
      if (isNone(declarator)) return at.names?.has(this.text(one)) === true;
      return (
        tree.kind(declarator) === "abstract_function_declarator" &&
        tree.kind(tree.child(one, "type")) !== "primitive_type"
      );
    });
  }

  /** The construction in a text that was parsed as a function: `Cart cart(makeItem());`. None for plain types. */
  private readAsParameters(functionNode: TreeNode, built: TypeRow, typeNode: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const list = tree.child(functionNode, "parameters");
    for (const one of tree.namedChildren(list)) {
      if (tree.kind(tree.child(one, "declarator")) !== "abstract_function_declarator") continue;
      const type = tree.child(one, "type");
      const callee =
        tree.kind(type) === "qualified_identifier" ? this.path(type, at) : facts.exprName(this.text(type), at.scope);
      this.callOf(callee, [], at, tree.line(type));
    }
    const op = facts.types.op(built);
    if (op !== Type.Ref && op !== Type.Qualified) return NONE;
    return this.newOf(this.classExpression(built), [], at, tree.line(typeNode));
  }

  private fieldSymbol(node: TreeNode, name: string, type: TypeRow, value: TreeNode, at: Place): void {
    const { facts } = this;
    const flags = this.storage(node) | SymbolFlag.Exported;
    const symbol = this.declare({ label: "Property", name, node, body: NONE, flags, bound: false }, at);
    if (exists(type)) facts.setSymbol(symbol, "type", type);
    if (exists(value)) facts.setSymbol(symbol, "value", this.expression(value, { ...at, symbol }));
  }

  /** The initial value of a variable: `T x(a)` and `T x{a}` construct, while `T x = v` has the value v. */
  private initialValue(node: TreeNode, type: TypeRow, typeNode: TreeNode, at: Place): ExprRow {
    const { tree, facts } = this;
    const kind = tree.kind(node);
    if (kind !== "argument_list" && kind !== "initializer_list") return this.expression(node, at);
    const args = tree.namedChildren(node);
    const op = facts.types.op(type);
    const before = tree.text.slice(Math.max(0, tree.startIndex(node) - 3), tree.startIndex(node));
    // `T x = {…}` fills in fields, in C++ as in C.
    if (/=\s*$/.test(before) || (op !== Type.Ref && op !== Type.Qualified)) {
      for (const argument of args) this.expression(argument, at);
      return NONE;
    }
    return this.newOf(this.classExpression(type), args, at, tree.line(typeNode));
  }

  protected typeDefinition(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const typeNode = tree.child(node, "type");
    const declarators = tree.namedChildren(node).filter((child) => tree.fieldName(child) === "declarator");
    const plain = declarators.find((child) => tree.kind(child) === "type_identifier");
    const anonymous =
      /_specifier$/.test(tree.kind(typeNode)) &&
      exists(tree.child(typeNode, "body")) &&
      isNone(tree.child(typeNode, "name"));
    const named = anonymous && plain !== undefined ? this.text(plain) : "";
    const type = named === "" ? this.type(typeNode, at) : this.specifier(typeNode, at, named);
    for (const one of declarators) {
      const found = this.declarator(one);
      if (isNone(found.name) || (named !== "" && this.text(found.name) === named)) continue;
      const name = this.text(found.name);
      // In `typedef struct s s;`, the struct has this name already.
      const op = facts.types.op(type);
      if (op === Type.Ref && facts.text(facts.types.name(type)) === name) continue;
      const pointer = exists(found.pointerTo) ? found : { ...found, pointerTo: found.functionNode };
      const symbol = this.declare({ label: "TypeAlias", name, node, body: NONE, flags: SymbolFlag.Exported }, at);
      facts.setSymbol(symbol, "type", this.declaredType(pointer, type, { ...at, parent: symbol }));
    }
  }

  protected aliasDeclaration(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const flags = SymbolFlag.Exported;
    const symbol = this.declare({ label: "TypeAlias", name: this.field(node, "name"), node, body: NONE, flags }, at);
    const inside = this.block(at);
    this.takeTemplate(symbol, inside);
    facts.setSymbol(symbol, "type", this.type(tree.child(node, "type"), inside));
  }
}
