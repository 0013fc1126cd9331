/** Rust's types and paths. */
import {
  type BindingRow,
  exists,
  isNone,
  NONE,
  type ScopeRow,
  type SymbolRow,
  type TreeNode,
  type TypeRow,
} from "../../rows.ts";
import { BlockWalk, type Place } from "../block-walk.ts";
import { BindingKind, ImportKind, SymbolFlag, Type } from "../fact-layout.ts";

/** Transparent wrappers: they count as the type that they hold. */
const TRANSPARENT =
  /^(Box|Rc|Arc|Weak|Cow|Pin|Option|Result|Mutex|RwLock|RefCell|Cell|OnceCell|OnceLock|LazyLock|Lazy|Ref|RefMut|MutexGuard|RwLockReadGuard|RwLockWriteGuard|ManuallyDrop|MaybeUninit|Saturating|Wrapping)$/;
const SEQUENCES =
  /^(Vec|VecDeque|HashSet|BTreeSet|LinkedList|BinaryHeap|Iterator|IntoIterator|DoubleEndedIterator|ExactSizeIterator|IndexSet|SmallVec|Stream)$/;
const MAPS = /^(HashMap|BTreeMap|IndexMap)$/;

export abstract class RustTypes extends BlockWalk {
  /**
   * The modules around the place, beginning with the file's: the scope of their names, and their path from the file.
   */
  protected readonly modules: { scope: ScopeRow; path: string }[] = [];
  /** The type row of `Self`, by the scope of the impl. */
  protected readonly selfTypes = new Map<number, TypeRow>();
  /** Names that are bound at the top of the file. Other names at the beginning of a path are crates. */
  protected readonly topNames = new Set<string>();
  /** Names that the file or its crate declares, so that they are not the library's. */
  protected readonly ownNames = new Set<string>();
  private readonly roots = new Set<string>();
  /** Names of type parameters, by the scope that declares them. */
  private readonly parametersOf = new Map<number, Set<string>>();

  protected abstract functionTypeParts(node: TreeNode, symbol: SymbolRow, inside: Place): void;

  protected typeOf(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "type_identifier":
      case "identifier":
        return this.namedType(node, [], at);
      case "primitive_type":
        return this.builtinType(this.text(node) === "str" ? "string" : this.text(node));
      case "scoped_type_identifier":
        return this.scopedType(node, [], at);
      case "generic_type":
      case "generic_type_with_turbofish": {
        const list = tree.child(node, "type_arguments");
        const args = isNone(list) ? [] : this.typeArguments(list, at);
        const named = tree.child(node, "type");
        return /scoped/.test(tree.kind(named)) ? this.scopedType(named, args, at) : this.namedType(named, args, at);
      }
      case "reference_type":
      case "pointer_type":
        return this.type(tree.child(node, "type"), at);
      case "dynamic_type":
      case "abstract_type":
        return this.type(tree.child(node, "trait"), at);
      case "bounded_type":
      case "trait_bounds":
      case "removed_trait_bound":
      case "higher_ranked_trait_bound": {
        const rows = tree
          .namedChildren(node)
          .filter((child) => !/lifetime|type_parameters/.test(tree.kind(child)))
          .map((child) => this.type(child, at));
        return rows.length === 1 ? rows[0]! : facts.type(Type.Union, facts.list(rows));
      }
      case "array_type":
        return facts.type(Type.Array, this.type(tree.child(node, "element"), at));
      case "tuple_type":
        return facts.type(Type.Tuple, facts.list(tree.namedChildren(node).map((child) => this.type(child, at))));
      case "function_type": {
        const hidden = this.hiddenFunction(node, at, SymbolFlag.Signature);
        this.functionTypeParts(node, hidden, this.open(hidden, at));
        return facts.type(Type.Function, hidden);
      }
      case "bracketed_type":
        return this.type(tree.firstNamed(node), at);
      case "qualified_type":
        return this.type(tree.child(node, "type"), at);
      case "unit_type":
      case "never_type":
        return this.builtinType("void");
      case "macro_invocation":
      case "lifetime":
        return facts.type(Type.Unknown);
      default:
        for (const child of tree.namedChildren(node)) this.type(child, at);
        return facts.type(Type.Unknown);
    }
  }

  protected typeArguments(list: TreeNode, at: Place): TypeRow[] {
    const { tree } = this;
    const rows: TypeRow[] = [];
    for (const child of tree.namedChildren(list)) {
      const kind = tree.kind(child);
      if (kind === "lifetime" || kind === "block" || kind.endsWith("_literal")) continue;
      rows.push(kind === "type_binding" ? this.type(tree.child(child, "type"), at) : this.type(child, at));
    }
    return rows;
  }

  private namedType(node: TreeNode, args: readonly TypeRow[], at: Place): TypeRow {
    const name = this.text(node);
    if (name === "Self") return this.selfType(at);
    return this.libraryType(name, args) ?? this.ref(name, at, this.tree.line(node), args);
  }

  /** A wrapper or container of the standard library; undefined for any other name. */
  private libraryType(name: string, args: readonly TypeRow[]): TypeRow | undefined {
    if (args.length > 0 && !this.ownNames.has(name)) {
      if (TRANSPARENT.test(name) || name === "Result") return args[0]!;
      if (SEQUENCES.test(name)) return this.facts.type(Type.Array, args[0]!);
      if (MAPS.test(name)) return this.builtinType("Map", args);
    }
    // An alias, declared in the crate or in a library (`io::Result<T>`).
    if (name === "Result" && args.length > 0) return args[0]!;
    return name === "String" ? this.builtinType("string") : undefined;
  }

  protected selfType(at: Place): TypeRow {
    return this.selfTypes.get(at.thisScope) ?? this.facts.type(Type.This, at.thisScope);
  }

  private scopedType(node: TreeNode, args: readonly TypeRow[], at: Place): TypeRow {
    const { tree, facts } = this;
    const name = this.field(node, "name");
    const path = tree.child(node, "path");
    const library = this.libraryType(name, args);
    if (library !== undefined && !/^(crate|self|super)\b/.test(this.text(path))) return library;
    const left = isNone(path) ? NONE : this.pathType(path, at);
    if (isNone(left)) return this.ref(name, at, tree.line(node), args);
    const row = facts.type(Type.Qualified, left, facts.name(name), facts.list(args));
    facts.useType(row, at.symbol, tree.line(node));
    return row;
  }

  private pathType(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    const kind = tree.kind(node);
    if (kind === "scoped_identifier" || kind === "scoped_type_identifier") {
      const inner = tree.child(node, "path");
      const left = isNone(inner) ? NONE : this.pathType(inner, at);
      const name = this.field(node, "name");
      return isNone(left)
        ? facts.typeRef(this.root(name, at), at.scope)
        : facts.type(Type.Qualified, left, facts.name(name), NONE);
    }
    if (this.text(node) === "Self") return this.selfType(at);
    if (kind === "crate" || kind === "super" || kind === "self" || kind === "identifier")
      return facts.typeRef(this.root(this.text(node), at), at.scope);
    return this.type(node, at);
  }

  /** The first word of a path. `crate`, `self`, `super` and other crates are imported when they are first used. */
  protected root(word: string, at: Place): string {
    const { facts } = this;
    const module = this.modules.at(-1)!;
    if (word === "crate" || word === "self" || word === "super") {
      const key = `${module.scope}.${word}`;
      if (!this.roots.has(key)) {
        this.roots.add(key);
        facts.import(ImportKind.Module, this.canonical(word), "*", word, 1, module.scope);
      }
    } else if (/^[a-z]/.test(word) && !at.names?.has(word)) this.pathRoots.add(word);
    return word;
  }
  protected readonly pathRoots = new Set<string>();

  /** Whether a name is a type parameter of an enclosing item. */
  protected isTypeParameter(name: string, at: Place): boolean {
    const { scopes } = this.facts;
    for (let scope = at.scope; exists(scope); scope = scopes.parent(scope))
      if (this.parametersOf.get(scope)?.has(name)) return true;
    return false;
  }

  /** A path as seen from the file, and not from a module inside of the file. */
  protected canonical(path: string): string {
    const inner = this.modules.length - 1;
    if (inner === 0) return path;
    const parts = path.split("::");
    if (parts[0] === "crate") return path;
    let depth = inner;
    while (parts[0] === "super" && depth > 0) {
      parts.shift();
      depth--;
    }
    if (parts[0] === "super") return parts.join("::");
    if (parts[0] === "self") parts.shift();
    else if (depth === inner && path !== "") return path;
    return ["self", ...this.modules.slice(1, depth + 1).map((module) => module.path), ...parts].join("::");
  }

  protected typeParameters(list: TreeNode, symbol: SymbolRow, at: Place, where: TreeNode): void {
    const { tree, facts } = this;
    const rows = new Map<string, BindingRow>();
    const bounds: [string, TreeNode][] = [];
    for (const parameter of tree.namedChildren(list)) {
      if (!/type_parameter|const_parameter/.test(tree.kind(parameter))) continue;
      const name = this.field(parameter, "name");
      rows.set(name, facts.local(at.scope, name, NONE, NONE, BindingKind.TypeParameter));
      bounds.push([name, tree.child(parameter, "bounds")]);
    }
    for (const predicate of tree.namedChildren(where))
      bounds.push([this.field(predicate, "left"), tree.child(predicate, "bounds")]);
    const found = new Map<BindingRow, TypeRow[]>();
    for (const [name, node] of bounds) {
      const row = rows.get(name);
      const type = isNone(node) ? NONE : this.type(node, at);
      if (row !== undefined && exists(type)) found.set(row, [...(found.get(row) ?? []), type]);
    }
    // The bounds in `T: A` and `where T: B` both apply.
    for (const [row, types] of found)
      facts.bindings.setConstraint(row, types.length === 1 ? types[0]! : facts.type(Type.Union, facts.list(types)));
    if (rows.size > 0) this.parametersOf.set(at.scope, new Set(rows.keys()));
    if (rows.size > 0 && exists(symbol)) facts.setSymbol(symbol, "typeParameters", facts.list([...rows.values()]));
  }
}
