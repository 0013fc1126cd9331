/** Classes of TypeScript and JavaScript. */
import { exists, isNone, NONE, type SymbolRow, type TreeNode } from "../../rows.ts";
import { HeritageKind, ScopeKind, SymbolFlag } from "../fact-layout.ts";
import { type Context, docBefore, isLambda, signatureOf } from "./context.ts";
import { EcmascriptDocumented } from "./jsdoc.ts";

export abstract class EcmascriptClasses extends EcmascriptDocumented {
  /** Declares a class with its members, and binds its name. @returns its symbol */
  classLike(node: TreeNode, name: string, context: Context, flags: number): SymbolRow {
    const { tree, facts } = this;
    const body = tree.child(node, "body");
    const symbol = facts.symbol({
      label: "Class",
      name,
      parent: context.parent,
      scope: context.scope,
      startLine: tree.line(node),
      endLine: tree.endLine(node),
      flags: flags | (tree.kind(node) === "abstract_class_declaration" ? SymbolFlag.Abstract : 0),
      signature: signatureOf(tree, node, body),
      doc: docBefore(tree, node),
    });
    if (name !== "") facts.bind(symbol);
    if (name !== "" && context.scope === 0) this.tops.set(name, symbol);
    const scope = facts.scope(context.scope, ScopeKind.Class, symbol);
    const owner = name === "" ? context.symbol : symbol;
    const before = this.takeDecorators();
    const own = this.decoratorsIn(node, { ...context, symbol: owner });
    if (name !== "") this.noteDecorators(symbol, context.scope, [...before, ...own]);
    const inside: Context = {
      ...context,
      scope,
      varScope: scope,
      symbol: owner,
      parent: symbol,
      thisScope: scope,
      top: false,
    };
    facts.setSymbol(symbol, "typeParameters", this.typeParameters(tree.child(node, "type_parameters"), inside));
    for (const child of tree.namedChildren(node)) {
      if (tree.kind(child) === "class_heritage") this.heritage(child, symbol, inside);
    }
    const declared = new Map<string, SymbolRow>();
    if (exists(body)) for (const member of tree.namedChildren(body)) this.classMember(member, inside, declared);
    this.decorators = [];
    return symbol;
  }

  private heritage(node: TreeNode, symbol: SymbolRow, context: Context): void {
    const { tree, facts } = this;
    const line = tree.line(node);
    const clauses = tree.namedChildren(node);
    for (const clause of clauses) {
      const kind = tree.kind(clause);
      if (kind === "implements_clause") {
        for (const base of tree.namedChildren(clause))
          facts.heritage(symbol, HeritageKind.Implements, this.type(base, context), line);
        continue;
      }
      // The TypeScript grammar wraps the base in a clause; the JavaScript grammar does not.
      const base = kind === "extends_clause" ? tree.child(clause, "value") : clause;
      const args = kind === "extends_clause" ? this.typeArguments(tree.child(clause, "type_arguments"), context) : [];
      const outer = { ...context, scope: context.scope };
      if (tree.kind(base) === "identifier") {
        const row = facts.typeRef(tree.source(base), outer.scope, args);
        facts.useType(row, context.symbol, line);
        facts.heritage(symbol, HeritageKind.Extends, row, line, facts.exprName(tree.source(base), outer.scope));
      } else {
        facts.heritage(symbol, HeritageKind.Extends, NONE, line, this.expression(base, outer));
      }
    }
  }

  private classMember(member: TreeNode, context: Context, declared: Map<string, SymbolRow>): void {
    const { tree } = this;
    switch (tree.kind(member)) {
      case "method_definition":
      case "method_signature":
      case "abstract_method_signature":
        this.method(member, context, declared);
        return;
      case "public_field_definition":
      case "field_definition":
        this.field(member, context);
        return;
      case "class_static_block":
        this.statements(tree.child(member, "body"), context);
        return;
      case "decorator":
        this.decorators.push({ node: member, row: this.expression(tree.firstNamed(member), context) });
        return;
      case "index_signature":
        this.type(tree.child(member, "type"), context);
        return;
      default:
    }
  }

  private method(node: TreeNode, context: Context, declared: Map<string, SymbolRow>): void {
    const { tree, facts } = this;
    const nameNode = tree.child(node, "name");
    const name = this.memberName(nameNode);
    const decorators = [...this.takeDecorators(), ...this.decoratorsIn(node, context)];
    if (tree.kind(nameNode) === "computed_property_name") this.expression(tree.firstNamed(nameNode), context);
    const getter = exists(tree.childOfKind(node, "get"));
    const setter = exists(tree.childOfKind(node, "set"));
    const isStatic = exists(tree.childOfKind(node, "static"));
    const signature = tree.kind(node) !== "method_definition";
    const key = `${isStatic ? "static " : ""}${name}`;
    const open = signature || declared.has(key) ? declared.get(key) : undefined;
    let flags = name === "" ? SymbolFlag.Hidden : 0;
    if (isStatic) flags |= SymbolFlag.Static;
    if (getter) flags |= SymbolFlag.Getter;
    if (signature) flags |= SymbolFlag.Signature;
    if (exists(tree.childOfKind(node, "abstract"))) flags |= SymbolFlag.Abstract;
    if (name === "constructor" && !isStatic) flags |= SymbolFlag.Constructor;
    const symbol = facts.symbol({
      label: getter || setter ? "Property" : "Method",
      name,
      parent: context.parent,
      scope: context.scope,
      startLine: open === undefined ? tree.line(node) : facts.symbols.startLine(open),
      endLine: tree.endLine(node),
      flags,
      signature: signatureOf(tree, node, tree.child(node, "body")),
      doc: docBefore(tree, node),
    });
    this.noteDecorators(symbol, context.scope, decorators);
    if (setter && declared.has(`get ${key}`)) facts.addFlag(symbol, SymbolFlag.Hidden);
    if (open !== undefined && !getter && !setter) facts.addFlag(open, SymbolFlag.Hidden | SymbolFlag.Signature);
    if (signature && !tree.source(node).startsWith("abstract")) declared.set(key, symbol);
    else declared.delete(key);
    if (getter) declared.set(`get ${key}`, symbol);
    const inside = name === "" ? context : { ...context, symbol };
    this.functionBody(node, symbol, inside, { arrow: false, thisScope: context.scope });
    if (flags & SymbolFlag.Constructor) this.parameterProperties(node, symbol, context);
  }

  /** Declares properties for parameters with modifiers: `constructor(private x: X)`. */
  private parameterProperties(node: TreeNode, owner: SymbolRow, context: Context): void {
    const { tree, facts } = this;
    const list = tree.child(node, "parameters");
    if (isNone(list)) return;
    const scope = facts.symbols.inner(owner);
    for (const parameter of tree.namedChildren(list)) {
      const modified = tree.namedChildren(parameter).some((child) => /modifier$/.test(tree.kind(child)));
      if (!modified && isNone(tree.childOfKind(parameter, "readonly"))) continue;
      const pattern = tree.child(parameter, "pattern");
      if (isNone(pattern) || tree.kind(pattern) !== "identifier") continue;
      const name = tree.source(pattern);
      facts.symbol({
        label: "Property",
        name,
        parent: context.parent,
        scope: context.scope,
        startLine: tree.line(parameter),
        endLine: tree.endLine(parameter),
        value: facts.exprName(name, scope),
        signature: signatureOf(tree, parameter, NONE),
      });
    }
  }

  private field(node: TreeNode, context: Context): void {
    const { tree, facts } = this;
    const nameField = tree.child(node, "name");
    const nameNode = exists(nameField) ? nameField : tree.child(node, "property");
    const name = this.memberName(nameNode);
    const valueNode = tree.child(node, "value");
    const functional = isLambda(tree.kind(valueNode));
    const decorators = [...this.takeDecorators(), ...this.decoratorsIn(node, context)];
    const symbol = facts.symbol({
      label: functional ? "Method" : "Property",
      name,
      parent: context.parent,
      scope: context.scope,
      startLine: tree.line(node),
      endLine: tree.endLine(node),
      flags: (name === "" ? SymbolFlag.Hidden : 0) | (exists(tree.childOfKind(node, "static")) ? SymbolFlag.Static : 0),
      signature: signatureOf(tree, node, functional ? tree.child(valueNode, "body") : NONE),
      doc: docBefore(tree, node),
    });
    this.noteDecorators(symbol, context.scope, decorators);
    const inside = name === "" ? context : { ...context, symbol };
    const type = this.type(tree.child(node, "type"), inside);
    if (functional) {
      const expected = this.expectType(type);
      this.functionBody(valueNode, symbol, inside, {
        arrow: tree.kind(valueNode) === "arrow_function",
        thisScope: context.scope,
        ...this.functionOf(expected),
      });
      if (expected && isNone(facts.symbols.type(symbol))) facts.setSymbol(symbol, "value", expected());
    } else {
      facts.setSymbol(symbol, "type", type);
      const within = { ...inside, parent: symbol };
      if (exists(valueNode))
        facts.setSymbol(symbol, "value", this.walkExpected(valueNode, within, this.expectType(type)));
    }
  }

  /** Declares an interface, alias, enum or namespace. @returns its symbol */
  typeDeclaration(node: TreeNode, context: Context, flags: number): SymbolRow {
    const { tree, facts } = this;
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
    facts.setSymbol(symbol, "typeParameters", this.typeParameters(tree.child(node, "type_parameters"), inside));
    if (label === "TypeAlias") facts.setSymbol(symbol, "type", this.type(tree.child(node, "value"), inside));
    else if (label === "Interface") {
      const extending = tree.childOfKind(node, "extends_type_clause");
      if (exists(extending))
        for (const base of tree.namedChildren(extending))
          facts.heritage(symbol, HeritageKind.Extends, this.type(base, inside), tree.line(base));
      this.typeMembers(body, inside);
    } else if (label === "Enum") this.enumMembers(body, inside);
    else if (exists(body)) this.statements(body, { ...inside, top: true, returns: undefined });
    return symbol;
  }

  private enumMembers(body: TreeNode, context: Context): void {
    const { tree, facts } = this;
    for (const member of tree.namedChildren(body)) {
      const assigned = tree.kind(member) === "enum_assignment";
      const name = this.memberName(assigned ? tree.child(member, "name") : member);
      if (assigned) this.expression(tree.child(member, "value"), context);
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
}
