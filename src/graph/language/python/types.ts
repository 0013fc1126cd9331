/** Walks Python's annotations. */
import { type ExprRow, exists, isNone, NONE, type TreeNode, type TypeRow } from "../../rows.ts";
import { BlockWalk, type Place, packArity } from "../block-walk.ts";
import { BindingKind, Expr, SymbolFlag, Type } from "../fact-layout.ts";
import { BUILTIN_GENERICS, containerOf, plainValue, TRANSPARENT, TYPING_MODULES } from "./library.ts";

export abstract class PythonTypes extends BlockWalk {
  /** Names in `typing`, by the local name in the file. */
  protected readonly typingNames = new Map<string, string>();
  /** Local names of modules like `typing`. */
  protected readonly typingModules = new Set<string>();
  /** The type that is sent to the innermost function at a `yield`, or none. */
  protected sent = -1;

  protected noteTypingImport(module: string, name: string, local: string): void {
    if (TYPING_MODULES.has(module)) this.typingNames.set(local, name);
  }

  protected typeOf(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "type":
      case "parenthesized_expression":
        return this.type(tree.firstNamed(node), at);
      case "identifier":
        return this.namedType(node, at);
      case "attribute":
      case "member_type":
        return this.attributeType(node, at);
      case "generic_type": {
        const parameters = tree.childOfKind(node, "type_parameter");
        return this.generic(tree.firstNamed(node), tree.namedChildren(parameters), at);
      }
      case "subscript": {
        const value = tree.child(node, "value");
        const args = tree.namedChildren(node).filter((child) => tree.fieldName(child) === "subscript");
        const only = args.length === 1 ? args[0]! : NONE;
        return this.generic(value, tree.kind(only) === "tuple" ? tree.namedChildren(only) : args, at);
      }
      case "binary_operator":
      case "union_type": {
        const rows = tree.namedChildren(node).map((child) => this.type(child, at));
        return facts.type(Type.Union, facts.list(rows.filter((row) => exists(row))));
      }
      case "constrained_type":
      case "splat_type":
        return this.type(tree.firstNamed(node), at);
      case "string":
        return this.parseQuoted(node, at);
      case "none":
        return this.builtinType("null");
      default:
        return NONE;
    }
  }

  /** The name in `typing` that a name or `module.name` means, or undefined. */
  protected typingWord(node: TreeNode): string | undefined {
    const { tree } = this;
    if (tree.kind(node) === "identifier") {
      const text = this.text(node);
      return this.typingNames.get(text) ?? (BUILTIN_GENERICS.has(text) ? text : undefined);
    }
    if (tree.kind(node) !== "attribute" && tree.kind(node) !== "member_type") return undefined;
    const parts = this.text(node).split(".");
    const name = parts.pop()!;
    return this.typingModules.has(parts.join(".")) ? name.trim() : undefined;
  }

  private namedType(node: TreeNode, at: Place): TypeRow {
    const name = this.text(node);
    const word = this.typingWord(node);
    if (word !== undefined) return this.typingType(word, [], at);
    const plain = plainValue(name);
    return plain ? this.builtinType(plain) : this.plainRef(name, at, this.tree.line(node));
  }

  /** The type of a plain name that is not one of the language's own. */
  protected plainRef(name: string, at: Place, line: number): TypeRow {
    return this.ref(name, at, line);
  }

  private attributeType(node: TreeNode, at: Place): TypeRow {
    const word = this.typingWord(node);
    if (word !== undefined) return this.typingType(word, [], at);
    return this.buildDotted(this.text(node), at, this.tree.line(node), []);
  }

  private buildDotted(path: string, at: Place, line: number, args: readonly TypeRow[]): TypeRow {
    const { facts } = this;
    const parts = path.replace(/\s+/g, "").split(".");
    if (parts.length === 1 && args.length === 0) return this.plainRef(parts[0]!, at, line);
    let row = facts.typeRef(parts[0]!, at.scope, parts.length === 1 ? args : []);
    for (const [i, part] of parts.slice(1).entries())
      row = facts.type(Type.Qualified, row, facts.name(part), i === parts.length - 2 ? facts.list(args) : NONE);
    facts.useType(row, at.symbol, line);
    return row;
  }

  private generic(base: TreeNode, args: readonly TreeNode[], at: Place): TypeRow {
    const { tree, facts } = this;
    const word = this.typingWord(base);
    if (word === "Literal") return this.builtinType("string");
    if (word === "Annotated") return this.type(args[0] ?? NONE, at);
    if (word === "Callable") return this.callableType(base, args, at);
    if ((word === "Tuple" || word === "tuple") && args.length === 2 && this.text(args[1]!).includes("..."))
      return this.builtinType("list", [this.type(args[0]!, at)]);
    const rows = args.map((arg) => this.type(arg, at)).map((row) => (isNone(row) ? facts.type(Type.Unknown) : row));
    if (word !== undefined) return this.typingType(word, rows, at);
    const kind = tree.kind(base);
    if (kind === "identifier" || kind === "attribute")
      return this.buildDotted(this.text(base), at, tree.line(base), rows);
    return NONE;
  }

  private callableType(node: TreeNode, args: readonly TreeNode[], at: Place): TypeRow {
    const { facts } = this;
    const result = this.type(args[1] ?? NONE, at);
    const hidden = this.hiddenFunction(node, at, SymbolFlag.Signature);
    facts.setSymbol(hidden, "type", result);
    const parameters = args[0] === undefined ? NONE : this.findList(args[0]);
    if (exists(parameters)) {
      const { scope } = this.open(hidden, at);
      const rows = this.tree
        .namedChildren(parameters)
        .map((one) => facts.local(scope, "", this.type(one, at), NONE, BindingKind.Parameter));
      facts.setSymbol(hidden, "parameters", facts.list(rows));
      facts.setSymbol(hidden, "arity", packArity(rows.length, rows.length, false));
    }
    return facts.type(Type.Function, hidden);
  }

  /** The list in `Callable[[A, B], R]`, or none. */
  private findList(node: TreeNode): TreeNode {
    const inner = this.tree.kind(node) === "type" ? this.tree.firstNamed(node) : node;
    return this.tree.kind(inner) === "list" ? inner : NONE;
  }

  /**
   * The type that is sent to a generator with the annotation `Generator[T, S, R]`, which is the value of its `yield`,
   * or none.
   */
  protected sentType(node: TreeNode, at: Place): TypeRow {
    const { tree } = this;
    const inner = tree.kind(node) === "type" ? tree.firstNamed(node) : node;
    if (!/^(\w+\.)*(Async)?Generator\s*\[/.test(this.text(inner))) return NONE;
    const parameters = tree.childOfKind(inner, "type_parameter");
    const listed = isNone(parameters) ? tree.namedChildren(inner).slice(1) : tree.namedChildren(parameters);
    return listed[1] === undefined ? NONE : this.type(listed[1], at);
  }

  /** The type that is yielded, for annotations such as `Iterator[T]` and `Generator[T, S, R]`. */
  protected yieldedType(node: TreeNode, at: Place): TypeRow {
    const { tree } = this;
    const inner = tree.kind(node) === "type" ? tree.firstNamed(node) : node;
    if (tree.kind(inner) === "subscript") return this.type(tree.child(inner, "subscript"), at);
    const parameters = tree.childOfKind(inner, "type_parameter");
    return isNone(parameters) ? NONE : this.type(tree.firstNamed(parameters), at);
  }

  /** Whether an assigned value can only be a type: `Union[A, B]`, `Callable[[A], B]`, `A | None`. */
  protected isTypeValue(node: TreeNode): boolean {
    const { tree } = this;
    if (tree.kind(node) === "subscript") {
      const word = this.typingWord(tree.child(node, "value"));
      return word !== undefined && word !== "Generic" && word !== "Protocol" && /^[a-z]|^[A-Z]\w*[a-z]/.test(word);
    }
    if (tree.kind(node) !== "binary_operator" || this.text(tree.child(node, "operator")) !== "|") return false;
    const sides = [tree.child(node, "left"), tree.child(node, "right")];
    const isClassName = (side: TreeNode) => tree.kind(side) === "identifier" && /^[A-Z]\w*[a-z]/.test(this.text(side));
    const isSure = (side: TreeNode) =>
      tree.kind(side) === "none" ||
      isClassName(side) ||
      plainValue(this.text(side)) !== undefined ||
      this.isTypeValue(side);
    const may = (side: TreeNode) =>
      isSure(side) || (tree.kind(side) === "attribute" && /\.[A-Z](?=\w*[a-z])\w*$/.test(this.text(side)));
    return sides.every(may) && sides.some(isSure);
  }

  private typingType(word: string, args: readonly TypeRow[], at: Place): TypeRow {
    const { facts } = this;
    if (TRANSPARENT.has(word)) return args[0] ?? NONE;
    if (word === "Union") return facts.type(Type.Union, facts.list(args));
    if (word === "Tuple" || word === "tuple")
      return args.length > 0 ? facts.type(Type.Tuple, facts.list(args)) : this.builtinType("list");
    if (word === "Type" || word === "type") return facts.typeRef("type", at.scope, args);
    if (word === "Self") return facts.type(Type.This, at.thisScope);
    if (word === "Any") return NONE;
    const container = containerOf(word);
    if (container) return this.builtinType(container, container === "Promise" ? args.slice(-1) : args);
    return this.builtinType(word, args);
  }

  /** A type in quotes, because it is declared later. */
  private parseQuoted(node: TreeNode, at: Place): TypeRow {
    const text = this.text(node).replace(/^[a-zA-Z]*("""|'''|"|')|("""|'''|"|')$/g, "");
    return this.quotedType(text, at, this.tree.line(node), 0);
  }

  private quotedType(text: string, at: Place, line: number, depth: number): TypeRow {
    const { facts } = this;
    const parts = splitOutside(text, "|");
    if (parts.length > 1 && depth < 8) {
      const rows = parts.map((part) => this.quotedType(part, at, line, depth + 1));
      return facts.type(Type.Union, facts.list(rows.filter((row) => exists(row))));
    }
    const match = /^([\w.]+)\s*(?:\[([\s\S]*)\])?$/.exec(text.trim());
    if (!match || depth >= 8) return NONE;
    const name = match[1]!;
    if (name === "None") return this.builtinType("null");
    const args = splitOutside(match[2] ?? "", ",").filter((part) => part.trim() !== "");
    const rows = args.map((arg) => {
      const row = this.quotedType(arg, at, line, depth + 1);
      return isNone(row) ? facts.type(Type.Unknown) : row;
    });
    const last = name.split(".").pop()!;
    const inTyping = last !== name && this.typingModules.has(name.slice(0, -last.length - 1));
    const word = inTyping ? last : (this.typingNames.get(name) ?? (BUILTIN_GENERICS.has(name) ? name : undefined));
    if (word === "Callable" || word === "Literal") return NONE;
    if (word !== undefined) return this.typingType(word, rows, at);
    const plain = plainValue(name);
    return plain ? this.builtinType(plain) : this.buildDotted(name, at, line, rows);
  }

  /** A class that an expression names (`except E`, `isinstance(x, (A, B))`), as the type of its instances. */
  protected namedClass(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    const kind = tree.kind(node);
    if (kind === "tuple") {
      const rows = tree.namedChildren(node).map((child) => this.namedClass(child, at));
      return facts.type(Type.Union, facts.list(rows.filter((row) => exists(row))));
    }
    if (kind === "binary_operator") return this.type(node, at);
    if (kind === "identifier") {
      const plain = plainValue(this.text(node)) ?? (BUILTIN_GENERICS.has(this.text(node)) ? "list" : undefined);
      return plain ? this.builtinType(plain) : facts.typeRef(this.text(node), at.scope);
    }
    return kind === "attribute" && /^[\w.]+$/.test(this.text(node))
      ? this.buildDotted(this.text(node), at, tree.line(node), [])
      : NONE;
  }

  /** A name, without recording a use. */
  protected plainName(name: string, at: Place): ExprRow {
    return this.facts.exprName(name, at.scope);
  }

  /** An expression of which only the type is known. */
  protected createTyped(type: TypeRow): ExprRow {
    return this.facts.expr(Expr.Typed, type);
  }
}

/** Splits a text at separators outside of brackets. */
function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i]!;
    if (letter === "[" || letter === "(") depth++;
    else if (letter === "]" || letter === ")") depth--;
    else if (letter === separator && depth === 0) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}
