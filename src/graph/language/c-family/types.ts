/** Types and declarators of C and C++. */
import {
  type BindingRow,
  exists,
  FILE_SCOPE,
  isNone,
  NONE,
  type SymbolRow,
  type TreeNode,
  type TypeRow,
} from "../../rows.ts";
import { BlockWalk, type Place } from "../block-walk.ts";
import { BindingKind, SymbolFlag, Type } from "../fact-layout.ts";

const TRANSPARENT =
  /^(unique_ptr|shared_ptr|weak_ptr|optional|reference_wrapper|atomic|add_const_t|decay_t|remove_reference_t|remove_cv_t|remove_cvref_t|intrusive_ptr|not_null|lock_guard)$/;
const SEQUENCES =
  /^(vector|list|deque|forward_list|set|multiset|unordered_set|array|span|initializer_list|stack|queue|priority_queue|valarray)$/;
const MAPS = /^(map|multimap|unordered_map|unordered_multimap)$/;

/** The parts of a declarator. */
export interface Declarator {
  /** The node with the name; none if it has no name. */
  name: TreeNode;
  /** The `function_declarator` of a function; otherwise none. */
  functionNode: TreeNode;
  /** The `function_declarator` of a pointer to a function; otherwise none. */
  pointerTo: TreeNode;
  array: boolean;
  /** Whether the declared value is reached through a pointer. */
  pointer: boolean;
}

export abstract class CFamilyTypes extends BlockWalk {
  protected abstract specifier(node: TreeNode, at: Place, alias: string): TypeRow;
  protected abstract parameters(functionNode: TreeNode, symbol: SymbolRow, inside: Place): void;

  protected typeOf(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    const kind = tree.kind(node);
    switch (kind) {
      case "primitive_type":
      case "sized_type_specifier":
        return this.builtinType(this.plain(this.text(node)));
      case "type_identifier":
      case "namespace_identifier":
      case "identifier":
        return this.ref(this.text(node), at, tree.line(node));
      case "qualified_identifier":
      case "template_type":
      case "nested_namespace_specifier":
        return this.namedType(node, at);
      case "struct_specifier":
      case "class_specifier":
      case "union_specifier":
      case "enum_specifier":
        return this.specifier(node, at, "");
      case "type_descriptor": {
        const type = this.type(tree.child(node, "type"), at);
        const declarator = tree.child(node, "declarator");
        const array = exists(declarator) && tree.kind(declarator).includes("array");
        const pointer = exists(declarator) && tree.kind(declarator).includes("pointer");
        return this.declaredType({ name: NONE, functionNode: NONE, pointerTo: NONE, array, pointer }, type, at);
      }
      case "placeholder_type_specifier":
      case "auto":
        return NONE;
      case "decltype":
        return facts.type(Type.TypeOf, this.expression(tree.firstNamed(node), at));
      case "dependent_type":
        return this.type(tree.firstNamed(node), at);
      default:
        for (const child of tree.namedChildren(node)) this.type(child, at);
        return facts.type(Type.Unknown);
    }
  }

  private plain(text: string): string {
    const word = text.replace(/\s+/g, " ");
    if (word === "void" || word === "bool" || word === "char" || word === "double" || word === "float") return word;
    return /char/.test(word) ? "char" : /long long|int64|uint64/.test(word) ? "long" : "int";
  }

  /** The names of a path from left to right: `a::B<C>::d`. `rooted` if it begins with `::`. */
  protected parts(node: TreeNode): { names: TreeNode[]; rooted: boolean } {
    const { tree } = this;
    const names: TreeNode[] = [];
    let rooted = false;
    let at = node;
    while (tree.kind(at) === "qualified_identifier") {
      const scope = tree.child(at, "scope");
      if (exists(scope)) names.push(scope);
      else if (names.length === 0) rooted = true;
      at = tree.child(at, "name");
    }
    if (tree.kind(at) === "nested_namespace_specifier") names.push(...tree.namedChildren(at));
    else if (exists(at)) names.push(at);
    return { names, rooted };
  }

  /** The plain name of a part of a path: `B` for `B<C>`. */
  protected partName(node: TreeNode): string {
    const { tree } = this;
    const named = tree.child(node, "name");
    return this.text(/template|dependent/.test(tree.kind(node)) && exists(named) ? named : node).replace(
      /^template\s+/,
      "",
    );
  }

  protected templateArguments(node: TreeNode, at: Place): TypeRow[] {
    const { tree } = this;
    const list = tree.child(node, "arguments");
    if (isNone(list) || tree.kind(list) !== "template_argument_list") return [];
    return tree
      .namedChildren(list)
      .map((child) => (tree.kind(child) === "type_descriptor" ? this.type(child, at) : NONE))
      .map((row) => (isNone(row) ? this.facts.type(Type.Unknown) : row));
  }

  private namedType(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    const { names, rooted } = this.parts(node);
    const last = names.at(-1);
    if (last === undefined) return NONE;
    const args = this.templateArguments(last, at);
    const name = this.partName(last);
    const qualified = names.length > 1 ? this.partName(names[0]!) : "";
    if (qualified === "std" || (qualified === "" && args.length > 0)) {
      const library = this.libraryType(name, args);
      if (library !== undefined) return library;
    }
    if (qualified === "std") return this.builtinType(/string(_view)?$/.test(name) ? "string" : `std::${name}`, args);
    let row = facts.typeRef(this.partName(names[0]!), rooted ? FILE_SCOPE : at.scope, names.length === 1 ? args : []);
    for (const [i, part] of names.slice(1).entries())
      row = facts.type(
        Type.Qualified,
        row,
        facts.name(this.partName(part)),
        i === names.length - 2 ? facts.list(args) : NONE,
      );
    facts.useType(row, at.symbol, tree.line(node));
    return row;
  }

  private libraryType(name: string, args: readonly TypeRow[]): TypeRow | undefined {
    if (TRANSPARENT.test(name)) return args[0];
    if (SEQUENCES.test(name)) return this.builtinType("Array", args.slice(0, 1));
    return MAPS.test(name) ? this.builtinType("Map", args) : undefined;
  }

  protected declarator(node: TreeNode): Declarator {
    const { tree } = this;
    const found: Declarator = { name: NONE, functionNode: NONE, pointerTo: NONE, array: false, pointer: false };
    let pointed = false;
    for (let at = node, steps = 0; exists(at) && steps < 40; steps++) {
      const kind = tree.kind(at);
      if (kind === "function_declarator" || kind === "abstract_function_declarator") {
        found.functionNode = at;
        pointed = false;
      } else if (kind === "pointer_declarator" || kind === "reference_declarator") {
        pointed = exists(found.functionNode);
        if (kind === "pointer_declarator") found.pointer = true;
      } else if (kind === "array_declarator") found.array = true;
      else if (!/declarator$/.test(kind)) {
        if (!kind.startsWith("abstract")) found.name = at;
        break;
      }
      const inner = tree.child(at, "declarator");
      at = exists(inner) ? inner : kind.startsWith("abstract") ? NONE : this.declaratorChild(at);
    }
    if (pointed || found.array) {
      found.pointerTo = found.functionNode;
      found.functionNode = NONE;
    }
    if (tree.kind(found.name) === "operator_cast" && isNone(found.functionNode))
      found.functionNode = tree.child(found.name, "declarator");
    return found;
  }

  private declaratorChild(node: TreeNode): TreeNode {
    const { tree } = this;
    const children = tree
      .namedChildren(node)
      .filter((child) => !/^(ms_|type_qualifier|attribute)/.test(tree.kind(child)));
    return children.at(-1) ?? NONE;
  }

  /** The type of what a declarator declares, given the type before it. */
  protected declaredType(found: Declarator, type: TypeRow, at: Place): TypeRow {
    const { facts } = this;
    if (exists(found.pointerTo)) {
      const hidden = this.hiddenFunction(found.pointerTo, at, SymbolFlag.Signature);
      this.parameters(found.pointerTo, hidden, this.open(hidden, at));
      facts.setSymbol(hidden, "type", type);
      return facts.type(Type.Function, hidden);
    }
    if (found.array || found.pointer) {
      const plain = facts.types.op(type) === Type.Literal ? facts.text(facts.types.name(type)) : "";
      if (plain === "char") return this.builtinType("string");
      if (found.pointer && plain !== "" && !found.array) return this.toPointer(plain, type);
    }
    return found.array && exists(type) ? facts.type(Type.Array, type) : type;
  }

  /** A pointer to a number or `void` is of type `pointer`. Pointers to other library types are transparent. */
  private toPointer(plain: string, type: TypeRow): TypeRow {
    return /^(void|bool|int|long|float|double)$/.test(plain) ? this.builtinType("pointer") : type;
  }

  protected templateParameters(list: TreeNode, symbol: SymbolRow, at: Place): void {
    const { tree, facts } = this;
    const rows: BindingRow[] = [];
    for (const parameter of tree.namedChildren(list)) {
      const kind = tree.kind(parameter);
      if (!/type_parameter|template_template/.test(kind)) {
        const found = this.declarator(tree.child(parameter, "declarator"));
        if (exists(found.name)) facts.local(at.scope, this.text(found.name), NONE, NONE, BindingKind.Parameter);
        continue;
      }
      const named = tree.child(parameter, "name");
      const name = exists(named) ? named : (tree.namedChildren(parameter).at(-1) ?? NONE);
      const fallback = this.type(tree.child(parameter, "default_type"), at);
      rows.push(facts.local(at.scope, this.text(name), NONE, fallback, BindingKind.TypeParameter));
    }
    facts.setSymbol(symbol, "typeParameters", facts.list(rows));
  }
}
