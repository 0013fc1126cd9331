/** Python's type parameters: those in brackets, and older ones that `TypeVar` creates. */
import { type BindingRow, exists, isNone, NONE, type SymbolRow, type TreeNode, type TypeRow } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { BindingKind, ScopeKind, Type } from "../fact-layout.ts";
import { PythonExpressions } from "./expressions.ts";

export abstract class PythonTypeVariables extends PythonExpressions {
  /** Bounds of the file's type variables, by name. */
  private readonly bounds = new Map<string, TypeRow>();
  /** The type variables over which the function or class of each scope is generic. */
  private readonly declared = new Map<number, Set<string>>();
  /** The type variable that a method declares as its receiver's type, by the method's scope. */
  private readonly receiverTypes = new Map<number, string>();

  /** Records a type variable of the file: `T = TypeVar("T", bound=Base)`. */
  protected noteTypeVariable(name: string, value: TreeNode, at: Place): void {
    const { tree } = this;
    if (tree.kind(value) !== "call" || this.typingWord(tree.child(value, "function")) !== "TypeVar") return;
    const args = tree.child(value, "arguments");
    const bound = tree
      .namedChildren(args)
      .find((child) => tree.kind(child) === "keyword_argument" && this.field(child, "name") === "bound");
    this.bounds.set(name, bound === undefined ? NONE : this.type(tree.child(bound, "value"), at));
  }

  /**
   * The place in which a class's type parameters are bound. It is a scope around the class's scope, because methods see
   * the type parameters but not the class's names. If there are none, `at` is returned.
   */
  protected classTypeParameters(list: TreeNode, bases: TreeNode, symbol: SymbolRow, at: Place): Place {
    const names = isNone(bases) ? [] : this.variablesIn([bases], at);
    if (isNone(list) && names.length === 0) return at;
    const around = { ...at, scope: this.facts.scope(at.scope, ScopeKind.Block) };
    this.declareTypeParameters(list, names, symbol, around);
    return around;
  }

  /** Declares the type parameters of a function in its own scope. */
  protected functionTypeParameters(node: TreeNode, symbol: SymbolRow, inside: Place): void {
    const { tree } = this;
    const parts = [tree.child(node, "parameters"), tree.child(node, "return_type")].filter((part) => exists(part));
    this.noteReceiverType(parts[0] ?? NONE, inside);
    this.declareTypeParameters(tree.child(node, "type_parameters"), this.variablesIn(parts, inside), symbol, inside);
  }

  private declareTypeParameters(list: TreeNode, variables: readonly string[], symbol: SymbolRow, at: Place): void {
    const { tree, facts } = this;
    const rows: BindingRow[] = [];
    for (const parameter of tree.namedChildren(list)) {
      const constrained = tree.firstNamed(parameter);
      const parts = tree.kind(constrained) === "constrained_type" ? tree.namedChildren(constrained) : [parameter];
      const bound = parts[1] === undefined ? NONE : this.type(parts[1], at);
      rows.push(facts.local(at.scope, this.text(parts[0]!), bound, NONE, BindingKind.TypeParameter));
    }
    for (const name of variables)
      rows.push(facts.local(at.scope, name, this.bounds.get(name)!, NONE, BindingKind.TypeParameter));
    if (rows.length === 0) return;
    this.declared.set(at.scope, new Set(variables));
    facts.setSymbol(symbol, "typeParameters", facts.list(rows));
  }

  /** The file's type variables that the nodes mention and that are not bound yet, in the order in which they occur. */
  private variablesIn(nodes: readonly TreeNode[], at: Place): string[] {
    const found = new Set<string>();
    if (this.bounds.size === 0) return [];
    for (const node of nodes)
      for (const [word] of this.text(node).matchAll(/[A-Za-z_]\w*/g))
        if (this.bounds.has(word) && !this.isDeclared(word, at) && !this.isReceiverType(word, at)) found.add(word);
    return [...found];
  }

  private isDeclared(name: string, at: Place): boolean {
    for (let scope = at.scope; exists(scope); scope = this.facts.scopes.parent(scope))
      if (this.declared.get(scope)?.has(name)) return true;
    return false;
  }

  /** In `def copy(self: T) -> T` and `def make(cls: type[T]) -> T`, T is the receiver's own type. */
  private noteReceiverType(parameters: TreeNode, inside: Place): void {
    const { tree } = this;
    const first = isNone(parameters) ? NONE : tree.firstNamed(parameters);
    if (tree.kind(first) !== "typed_parameter" || !this.receivers.has(inside.scope)) return;
    const annotation = this.text(tree.child(first, "type"));
    const name = /^(?:[\w.]*\b[Tt]ype\[)?["']?(\w+)["']?\]?$/.exec(annotation)?.[1];
    if (name !== undefined && this.bounds.has(name) && !this.isDeclared(name, inside))
      this.receiverTypes.set(inside.scope, name);
  }

  private isReceiverType(name: string, at: Place): boolean {
    if (this.receiverTypes.size === 0) return false;
    for (let scope = at.scope; exists(scope); scope = this.facts.scopes.parent(scope))
      if (this.receiverTypes.get(scope) === name) return true;
    return false;
  }

  protected override plainRef(name: string, at: Place, line: number): TypeRow {
    if (this.isReceiverType(name, at)) return this.facts.type(Type.This, at.thisScope);
    return super.plainRef(name, at, line);
  }
}
