/** Walks type annotations of TypeScript. */
import {
  type BindingList,
  type BindingRow,
  type ExprRow,
  exists,
  isNone,
  NONE,
  type SymbolRow,
  type TreeNode,
  type TypeRow,
} from "../../rows.ts";
import { BindingKind, Expr, ScopeKind, SymbolFlag, Type } from "../fact-layout.ts";
import { EcmascriptBase } from "./base.ts";
import { type Context, signatureOf } from "./context.ts";

const BUILT_IN = new Set([
  "string",
  "number",
  "boolean",
  "bigint",
  "symbol",
  "void",
  "undefined",
  "null",
  "never",
  "object",
]);

/**
 * The name of a computed member that is written as a constant: `[kOpen]`, `[Symbol.iterator]`. "" for any other
 * expression.
 */
export function computedName(text: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$.]*$/u.test(text) ? `[${text}]` : "";
}

export abstract class EcmascriptTypes extends EcmascriptBase {
  /** Walks a type. @returns its row; none if there is no node */
  type(node: TreeNode, context: Context): TypeRow {
    const { tree, facts } = this;
    if (isNone(node)) return NONE;
    switch (tree.kind(node)) {
      case "type_annotation":
      case "parenthesized_type":
      case "readonly_type":
      case "optional_type":
      case "constraint":
      case "default_type":
      case "adding_type_annotation":
      case "omitting_type_annotation":
      case "opting_type_annotation":
      case "flow_maybe_type":
        return this.type(tree.firstNamed(node), context);
      case "rest_type":
        return this.type(tree.firstNamed(node), context);
      case "type_identifier":
      case "identifier": {
        const row = facts.typeRef(tree.source(node), context.scope);
        facts.useType(row, context.symbol, tree.line(node));
        return row;
      }
      case "predefined_type": {
        const name = tree.source(node);
        return BUILT_IN.has(name) ? facts.type(Type.Literal, facts.name(name)) : facts.type(Type.Unknown);
      }
      case "literal_type":
        return this.literalType(node);
      case "template_literal_type":
        return facts.type(Type.Literal, facts.name("string"));
      case "generic_type":
        return this.genericType(node, context);
      case "nested_type_identifier":
        return this.nestedType(node, context, []);
      case "union_type":
        return facts.type(Type.Union, facts.list(this.typesIn(node, context)));
      case "intersection_type":
        return facts.type(Type.Intersection, facts.list(this.typesIn(node, context)));
      case "array_type":
        return facts.type(Type.Array, this.type(tree.firstNamed(node), context));
      case "tuple_type":
        return facts.type(Type.Tuple, facts.list(this.typesIn(node, context)));
      case "required_parameter":
      case "optional_parameter":
        return this.type(tree.child(node, "type"), context);
      case "function_type":
      case "constructor_type":
      case "call_signature":
      case "construct_signature":
        return this.functionType(node, context);
      case "object_type":
        return this.objectType(node, context);
      case "type_query":
        return facts.type(Type.TypeOf, this.expression(tree.firstNamed(node), context));
      case "this_type":
      case "this":
        return facts.type(Type.This, context.thisScope);
      case "lookup_type": {
        const [object, index] = tree.namedChildren(node);
        const text = index === undefined ? "" : tree.source(index);
        const key = /^["'].*["']$/.test(text) ? facts.name(text.slice(1, -1)) : NONE;
        const row = this.type(object ?? NONE, context);
        if (index !== undefined && isNone(key)) this.type(index, context);
        return facts.type(Type.Indexed, row, key);
      }
      case "index_type_query":
        return facts.type(Type.KeyOf, this.type(tree.firstNamed(node), context));
      case "type_predicate_annotation":
      case "asserts_annotation":
      case "asserts":
        return this.type(tree.firstNamed(node), context);
      case "type_predicate":
        return this.type(tree.child(node, "type"), context);
      case "conditional_type": {
        const checked = this.type(tree.child(node, "left"), context);
        const inside = { ...context, scope: facts.scope(context.scope, ScopeKind.Block) };
        const pattern = this.type(tree.child(node, "right"), { ...inside, inferScope: inside.scope });
        const results = [
          this.type(tree.child(node, "consequence"), inside),
          this.type(tree.child(node, "alternative"), context),
        ];
        return facts.type(Type.Conditional, checked, pattern, facts.list(results));
      }
      case "infer_type": {
        const [name, bound] = tree.namedChildren(node);
        const text = tree.source(name ?? NONE);
        facts.local(
          context.inferScope ?? context.scope,
          text,
          this.type(bound ?? NONE, context),
          NONE,
          BindingKind.TypeParameter,
        );
        return facts.typeRef(text, context.scope);
      }
      default:
        for (const child of tree.namedChildren(node)) this.type(child, context);
        return facts.type(Type.Unknown);
    }
  }

  private literalType(node: TreeNode): TypeRow {
    const { tree, facts } = this;
    const kind = tree.kind(tree.firstNamed(node));
    const name = kind === "string" ? "string" : kind === "number" || kind === "unary_expression" ? "number" : "boolean";
    return facts.type(Type.Literal, facts.name(kind === "null" || kind === "undefined" ? "null" : name));
  }

  private genericType(node: TreeNode, context: Context): TypeRow {
    const { tree, facts } = this;
    const name = tree.child(node, "name");
    const args = this.typeArguments(tree.child(node, "type_arguments"), context);
    if (tree.kind(name) === "nested_type_identifier") return this.nestedType(name, context, args);
    const row = facts.typeRef(tree.source(name), context.scope, args);
    facts.useType(row, context.symbol, tree.line(node));
    return row;
  }

  /** The type arguments in `<…>`; empty if there are none. */
  protected typeArguments(node: TreeNode, context: Context): TypeRow[] {
    return isNone(node) ? [] : this.typesIn(node, context);
  }

  private typesIn(node: TreeNode, context: Context): TypeRow[] {
    return this.tree.namedChildren(node).map((child) => this.type(child, context));
  }

  private nestedType(node: TreeNode, context: Context, args: TypeRow[]): TypeRow {
    const { tree, facts } = this;
    const module = tree.child(node, "module");
    const name = tree.source(tree.child(node, "name"));
    let left: TypeRow = NONE;
    for (const part of tree.source(module).split(".")) {
      const text = part.trim();
      left = isNone(left)
        ? facts.typeRef(text, context.scope)
        : facts.type(Type.Qualified, left, facts.name(text), NONE);
    }
    const row = facts.type(Type.Qualified, left, facts.name(name), facts.list(args));
    facts.useType(row, context.symbol, tree.line(node));
    return row;
  }

  /** A function type: a hidden symbol with parameters and a return type. */
  private functionType(node: TreeNode, context: Context): TypeRow {
    const { tree, facts } = this;
    const constructs = tree.kind(node) === "constructor_type" || tree.kind(node) === "construct_signature";
    const symbol = facts.symbol({
      label: "Function",
      name: "",
      parent: context.parent,
      scope: context.scope,
      startLine: tree.line(node),
      endLine: tree.endLine(node),
      flags: SymbolFlag.Hidden | SymbolFlag.Signature | (constructs ? SymbolFlag.Constructor : 0),
    });
    this.functionBody(node, symbol, context, { arrow: true, thisScope: context.thisScope });
    return facts.type(Type.Function, symbol);
  }

  private objectType(node: TreeNode, context: Context): TypeRow {
    const { facts } = this;
    const symbol = this.literalHolder("Interface", node, context);
    const scope = facts.scope(context.scope, ScopeKind.Class, symbol);
    this.typeMembers(node, { ...context, scope, parent: symbol, thisScope: scope });
    return facts.type(Type.Object, symbol);
  }

  /** Declares the members of an interface body or type literal under `context.parent`. */
  protected typeMembers(body: TreeNode, context: Context): void {
    const { tree, facts } = this;
    const declared = new Map<string, SymbolRow>();
    for (const member of tree.namedChildren(body)) {
      const kind = tree.kind(member);
      if (kind === "method_signature" || kind === "property_signature") {
        this.typeMember(member, kind === "method_signature", context, declared);
      } else if (kind === "call_signature" || kind === "construct_signature") {
        // Call and construct signatures become members named "()" and "new()". Calls of the value reach them.
        const symbol = facts.symbol({
          label: "Method",
          name: kind === "call_signature" ? "()" : "new()",
          parent: context.parent,
          scope: context.scope,
          startLine: tree.line(member),
          endLine: tree.endLine(member),
          flags: SymbolFlag.Hidden | SymbolFlag.Signature,
        });
        this.functionBody(member, symbol, context, { arrow: true, thisScope: context.thisScope });
      } else if (kind === "index_signature") {
        const mapped = tree.childOfKind(member, "mapped_type_clause");
        let scope = context.scope;
        if (exists(mapped)) {
          scope = facts.scope(context.scope, ScopeKind.Block);
          const over = this.type(tree.child(mapped, "type"), context);
          facts.local(scope, tree.source(tree.child(mapped, "name")), over, NONE, BindingKind.TypeParameter);
        }
        const symbol = facts.symbol({
          label: "Property",
          name: "[]",
          parent: context.parent,
          scope: context.scope,
          startLine: tree.line(member),
          endLine: tree.endLine(member),
          flags: SymbolFlag.Hidden,
        });
        facts.setSymbol(symbol, "type", this.type(tree.child(member, "type"), { ...context, scope }));
      }
    }
  }

  private typeMember(member: TreeNode, method: boolean, context: Context, declared: Map<string, SymbolRow>): void {
    const { tree, facts } = this;
    const name = this.memberName(tree.child(member, "name"));
    if (name === "") return;
    const earlier = method ? declared.get(name) : undefined;
    const getter = method && exists(tree.childOfKind(member, "get"));
    const symbol = facts.symbol({
      label: method && !getter ? "Method" : "Property",
      name,
      parent: context.parent,
      scope: context.scope,
      startLine: tree.line(member),
      endLine: tree.endLine(member),
      flags: SymbolFlag.Signature | (earlier === undefined ? 0 : SymbolFlag.Hidden) | (getter ? SymbolFlag.Getter : 0),
      signature: signatureOf(tree, member, NONE),
    });
    if (method) {
      if (earlier === undefined) declared.set(name, symbol);
      else facts.setSymbol(earlier, "endLine", tree.endLine(member));
      const inside = earlier === undefined ? { ...context, symbol } : context;
      this.functionBody(member, symbol, inside, { arrow: true, thisScope: context.thisScope });
    } else {
      facts.setSymbol(symbol, "type", this.type(tree.child(member, "type"), { ...context, symbol, parent: symbol }));
    }
  }

  /** The name of a member as written; "" if it is computed. */
  protected memberName(node: TreeNode): string {
    const { tree } = this;
    switch (tree.kind(node)) {
      case "property_identifier":
      case "private_property_identifier":
      case "identifier":
      case "shorthand_property_identifier":
      case "number":
        return tree.source(node);
      case "string":
        return tree.source(node).slice(1, -1);
      case "computed_property_name": {
        const inner = tree.firstNamed(node);
        if (tree.kind(inner) === "string") return tree.source(inner).slice(1, -1);
        return computedName(tree.source(inner));
      }
      default:
        return "";
    }
  }

  /** Declares `<T extends C = D>` in a scope. @returns the list of bindings */
  protected typeParameters(node: TreeNode, context: Context): BindingList {
    const { tree, facts } = this;
    if (isNone(node)) return NONE;
    const rows: BindingRow[] = [];
    const parameters = tree.namedChildren(node).filter((child) => tree.kind(child) === "type_parameter");
    for (const parameter of parameters) {
      const name = tree.source(tree.child(parameter, "name"));
      rows.push(facts.local(context.scope, name, NONE, NONE, BindingKind.TypeParameter));
    }
    for (const [i, parameter] of parameters.entries()) {
      facts.bindings.setConstraint(rows[i]!, this.type(tree.child(parameter, "constraint"), context));
      facts.bindings.setFallback(rows[i]!, this.type(tree.child(parameter, "value"), context));
    }
    return facts.list(rows);
  }

  /** An expression row that carries a written type. */
  protected typedExpression(type: TypeRow, value: ExprRow = NONE): ExprRow {
    return this.facts.expr(Expr.Typed, type, value);
  }
}
