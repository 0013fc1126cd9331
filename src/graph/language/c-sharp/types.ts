/** C#'s types, parameters and type parameters. */
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
import { BlockWalk, type Place, packArity } from "../block-walk.ts";
import { BindingKind, SymbolFlag, Type } from "../fact-layout.ts";

const SEQUENCES =
  /^(I?List|IEnumerable|IEnumerator|I?Collection|IReadOnlyList|IReadOnlyCollection|ReadOnlyCollection|HashSet|ISet|Queue|Stack|LinkedList|SortedSet|IQueryable|IAsyncEnumerable|Span|ReadOnlySpan|Memory|ConcurrentBag|ConcurrentQueue|ImmutableArray|ImmutableList|ObservableCollection|IOrderedEnumerable)$/;
const MAPS =
  /^(I?Dictionary|SortedDictionary|ConcurrentDictionary|IReadOnlyDictionary|ReadOnlyDictionary|SortedList|ImmutableDictionary)$/;

export abstract class CSharpTypes extends BlockWalk {
  /** The child that is the operand: a named node, or one of the keywords that are expressions (`this`, `base`). */
  protected inner(node: TreeNode): TreeNode {
    const { tree } = this;
    let found: TreeNode = NONE;
    for (let child = tree.first(node); child !== NONE; child = tree.next(child)) {
      const kind = tree.kind(child);
      if (tree.fieldName(child) === "name" && tree.kind(node) === "argument") continue;
      if (kind === "this" || kind === "base" || (tree.isNamed(child) && kind !== "comment")) found = child;
    }
    return found;
  }

  protected typeOf(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "identifier":
        return this.text(node) === "var" || this.text(node) === "dynamic"
          ? NONE
          : this.ref(this.text(node), at, tree.line(node));
      case "implicit_type":
        return NONE;
      case "predefined_type":
        return this.builtinType(this.text(node));
      case "generic_name":
        return this.genericName(node, at);
      case "qualified_name":
      case "alias_qualified_name":
        return this.qualifiedName(node, at);
      case "array_type":
        return facts.type(Type.Array, this.type(tree.child(node, "type"), at));
      case "nullable_type":
      case "ref_type":
      case "pointer_type":
      case "scoped_type":
        return this.type(tree.namedChildren(node).at(-1) ?? NONE, at);
      case "tuple_type": {
        const rows = tree.namedChildren(node).map((child) => this.type(tree.child(child, "type"), at));
        return facts.type(Type.Tuple, facts.list(rows));
      }
      default:
        for (const child of tree.namedChildren(node)) this.type(child, at);
        return facts.type(Type.Unknown);
    }
  }

  protected typeArguments(node: TreeNode, at: Place): TypeRow[] {
    const list = this.tree.childOfKind(node, "type_argument_list");
    return this.tree.namedChildren(list).map((child) => this.type(child, at));
  }

  private genericName(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    const name = this.text(tree.firstNamed(node));
    const args = this.typeArguments(node, at);
    if (SEQUENCES.test(name)) return this.builtinType("Array", args);
    if (MAPS.test(name)) return this.builtinType("Map", args);
    if (name === "Task" || name === "ValueTask") return this.builtinType("Promise", args);
    if (name === "Nullable" || name === "Lazy" || name === "Func" || name === "ThreadLocal")
      return name === "Nullable" ? (args[0] ?? facts.type(Type.Unknown)) : this.builtinType("Option", args.slice(-1));
    return this.ref(name, at, tree.line(node), args);
  }

  private qualifiedName(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    const nameNode = tree.child(node, "name");
    const qualifier = tree.child(node, "qualifier");
    const generic = tree.kind(nameNode) === "generic_name";
    const name = generic ? this.text(tree.firstNamed(nameNode)) : this.text(nameNode);
    const args = generic ? this.typeArguments(nameNode, at) : [];
    if (isNone(qualifier)) return this.ref(name, at, tree.line(node), args);
    const row = facts.type(Type.Qualified, this.qualifier(qualifier, at), facts.name(name), facts.list(args));
    facts.useType(row, at.symbol, tree.line(node));
    return row;
  }

  private qualifier(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    if (tree.kind(node) === "qualified_name") {
      const left = this.qualifier(tree.child(node, "qualifier"), at);
      return facts.type(Type.Qualified, left, facts.name(this.field(node, "name")), NONE);
    }
    if (tree.kind(node) === "generic_name") return this.genericName(node, at);
    return facts.typeRef(this.text(node), at.scope);
  }

  /**
   * Walks the parameters of a function. If the first one is marked `this`, the function is an extension method of its
   * type.
   */
  protected parameters(
    list: TreeNode,
    symbol: SymbolRow,
    inside: Place,
    contextual?: (parameter: number) => ExprRow,
  ): void {
    const { tree, facts } = this;
    if (isNone(list)) return;
    const rows: BindingRow[] = [];
    let required = 0;
    const single = tree.kind(list) === "implicit_parameter" || tree.kind(list) === "identifier";
    for (const parameter of single ? [list] : tree.namedChildren(list)) {
      const kind = tree.kind(parameter);
      if (kind !== "parameter" && kind !== "implicit_parameter" && kind !== "identifier") continue;
      const named = tree.child(parameter, "name");
      const type = this.type(tree.child(parameter, "type"), inside);
      const value = isNone(type) && contextual ? contextual(rows.length) : NONE;
      rows.push(this.local(this.text(exists(named) ? named : parameter), inside, type, value, true));
      if (/^this\b/.test(this.text(parameter)) && rows.length === 1 && exists(type)) {
        facts.addFlag(symbol, SymbolFlag.Extension);
        facts.attach(symbol, type);
      }
      const children = tree.namedChildren(parameter);
      const optional =
        exists(tree.childOfKind(parameter, "=")) || tree.fieldName(children.at(-1) ?? NONE) === "default";
      if (!optional) required = rows.length;
    }
    // In this grammar `params T[] rest` has no node of its own: its type and name are children of the list.
    const variadic = !single && exists(tree.childOfKind(list, "params"));
    if (variadic) {
      const type = this.type(tree.child(list, "type"), inside);
      rows.push(this.local(this.field(list, "name"), inside, type, NONE, true));
    }
    facts.setSymbol(symbol, "parameters", facts.list(rows));
    facts.setSymbol(symbol, "arity", packArity(required, rows.length, variadic));
  }

  protected typeParameters(node: TreeNode, symbol: SymbolRow, at: Place): void {
    const { tree, facts } = this;
    const list = tree.childOfKind(node, "type_parameter_list");
    if (isNone(list)) return;
    const names = new Map<string, BindingRow>();
    for (const parameter of tree.namedChildren(list)) {
      const name = this.field(parameter, "name");
      names.set(name, facts.local(at.scope, name, NONE, NONE, BindingKind.TypeParameter));
    }
    facts.setSymbol(symbol, "typeParameters", facts.list([...names.values()]));
    for (const clause of tree.namedChildren(node)) {
      if (tree.kind(clause) !== "type_parameter_constraints_clause") continue;
      const row = names.get(this.text(tree.firstNamed(clause)));
      const types = tree
        .namedChildren(clause)
        .map((child) => this.type(tree.child(child, "type"), at))
        .filter((type) => exists(type));
      if (row !== undefined && types.length > 0)
        facts.bindings.setConstraint(row, types.length === 1 ? types[0]! : facts.type(Type.Union, facts.list(types)));
    }
  }
}
