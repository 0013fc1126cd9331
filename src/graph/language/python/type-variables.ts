/** Python's type parameters: those in brackets, and the older variables that `TypeVar` makes. */
import type { Place } from "../block-walk.ts";
import { BindingKind, ScopeKind, Type } from "../fact-layout.ts";
import { PythonExpressions } from "./expressions.ts";

export abstract class PythonTypeVariables extends PythonExpressions {
  /** Bounds of the file's type variables, by name; -1 for none. */
  private readonly bounds = new Map<string, number>();
  /** Type variables that a scope's function or class is generic over. */
  private readonly declared = new Map<number, Set<string>>();
  /** The type variable that a method declares its receiver to be of, by the method's scope. */
  private readonly receiverTypes = new Map<number, string>();

  /** `T = TypeVar("T", bound=Base)`: names a type variable of the file. */
  protected noteTypeVariable(name: string, value: number, at: Place): void {
    const { tree } = this;
    if (tree.kind(value) !== "call" || this.typingWord(tree.child(value, "function")) !== "TypeVar") return;
    const args = tree.child(value, "arguments");
    const bound = (args < 0 ? [] : tree.namedChildren(args)).find(
      (child) => tree.kind(child) === "keyword_argument" && this.field(child, "name") === "bound",
    );
    this.bounds.set(name, bound === undefined ? -1 : this.type(tree.child(bound, "value"), at));
  }

  /**
   * The place in which a class's type parameters are known: a scope around the class's own, because the methods see
   * them and not the class's names. `at` itself when there are none.
   */
  protected classTypeParameters(list: number, bases: number, symbol: number, at: Place): Place {
    const names = bases < 0 ? [] : this.variablesIn([bases], at);
    if (list < 0 && names.length === 0) return at;
    const around = { ...at, scope: this.facts.scope(at.scope, ScopeKind.Block) };
    this.declareTypeParameters(list, names, symbol, around);
    return around;
  }

  /** The type parameters of a function, declared in its own scope. */
  protected functionTypeParameters(node: number, symbol: number, inside: Place): void {
    const { tree } = this;
    const parts = [tree.child(node, "parameters"), tree.child(node, "return_type")].filter((part) => part >= 0);
    this.noteReceiverType(parts[0] ?? -1, inside);
    this.declareTypeParameters(tree.child(node, "type_parameters"), this.variablesIn(parts, inside), symbol, inside);
  }

  private declareTypeParameters(list: number, variables: readonly string[], symbol: number, at: Place): void {
    const { tree, facts } = this;
    const rows: number[] = [];
    for (const parameter of list < 0 ? [] : tree.namedChildren(list)) {
      const constrained = tree.firstNamed(parameter);
      const parts = tree.kind(constrained) === "constrained_type" ? tree.namedChildren(constrained) : [parameter];
      const bound = parts[1] === undefined ? -1 : this.type(parts[1], at);
      rows.push(facts.local(at.scope, this.text(parts[0]!), bound, -1, BindingKind.TypeParameter));
    }
    for (const name of variables)
      rows.push(facts.local(at.scope, name, this.bounds.get(name)!, -1, BindingKind.TypeParameter));
    if (rows.length === 0) return;
    this.declared.set(at.scope, new Set(variables));
    facts.setSymbol(symbol, "typeParameters", facts.list(rows));
  }

  /** Type variables of the file that nodes mention and nothing around declares, in the order they are written. */
  private variablesIn(nodes: readonly number[], at: Place): string[] {
    const found = new Set<string>();
    if (this.bounds.size === 0) return [];
    for (const node of nodes)
      for (const [word] of this.text(node).matchAll(/[A-Za-z_]\w*/g))
        if (this.bounds.has(word) && !this.isDeclared(word, at) && !this.isReceiverType(word, at)) found.add(word);
    return [...found];
  }

  private isDeclared(name: string, at: Place): boolean {
    for (let scope = at.scope; scope >= 0; scope = this.facts.scopes.parent(scope))
      if (this.declared.get(scope)?.has(name)) return true;
    return false;
  }

  /** `def copy(self: T) -> T`, `def make(cls: type[T]) -> T`: T is the receiver's own type. */
  private noteReceiverType(parameters: number, inside: Place): void {
    const { tree } = this;
    const first = parameters < 0 ? -1 : tree.firstNamed(parameters);
    if (tree.kind(first) !== "typed_parameter" || !this.receivers.has(inside.scope)) return;
    const annotation = this.text(tree.child(first, "type"));
    const name = /^(?:[\w.]*\b[Tt]ype\[)?["']?(\w+)["']?\]?$/.exec(annotation)?.[1];
    if (name !== undefined && this.bounds.has(name) && !this.isDeclared(name, inside))
      this.receiverTypes.set(inside.scope, name);
  }

  private isReceiverType(name: string, at: Place): boolean {
    if (this.receiverTypes.size === 0) return false;
    for (let scope = at.scope; scope >= 0; scope = this.facts.scopes.parent(scope))
      if (this.receiverTypes.get(scope) === name) return true;
    return false;
  }

  protected override plainRef(name: string, at: Place, line: number): number {
    if (this.isReceiverType(name, at)) return this.facts.type(Type.This, at.thisScope);
    return super.plainRef(name, at, line);
  }
}
