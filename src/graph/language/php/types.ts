/** PHP's names and types, in code and in doc comments. */
import { type ExprRow, FILE_SCOPE, isNone, NONE, type ScopeRow, type TreeNode, type TypeRow } from "../../rows.ts";
import { BlockWalk, type Place } from "../block-walk.ts";
import { Expr, ImportKind, ScopeKind, Type } from "../fact-layout.ts";

const PLAIN =
  /^(int|integer|float|double|string|bool|boolean|array|iterable|callable|mixed|void|never|null|object|false|true|resource|scalar|class-string|non-empty-string|numeric-string|positive-int|list|array-key)$/i;
const SEQUENCES =
  /^(array|list|iterable|non-empty-array|non-empty-list|Traversable|Iterator|IteratorAggregate|Generator|Collection)$/i;

/** A tag of a doc comment with its type, and the rest of the line. */
const DOC_TAG = /@(?:phpstan-|psalm-)?(\w+)[ \t]+([^\s<({]+(?:<[^\n]*>)?[^\s]*)([^\n]*)/g;
/** The variable that a tag describes. */
const SUBJECT = /^[ \t]+(?:&|\.\.\.)*\$(\w+)/;

export abstract class PhpTypes extends BlockWalk {
  /** The current name space ("" is the global one), and the scope of its names. */
  protected space = "";
  protected spaceScope = FILE_SCOPE;
  /** Full names by the name that `use` gives them, in lower case. */
  protected readonly aliases = new Map<string, string>();
  private readonly written = new Set<string>();

  protected typeOf(node: TreeNode, at: Place): TypeRow {
    const { tree, facts } = this;
    switch (tree.kind(node)) {
      case "named_type":
      case "name":
      case "qualified_name":
        return this.className(this.text(node), at, tree.line(node));
      case "relative_scope":
        return this.className(this.text(node), at, tree.line(node));
      case "primitive_type":
      case "cast_type":
        return this.builtinType(this.text(node).toLowerCase() === "array" ? "Array" : this.text(node).toLowerCase());
      case "union_type":
      case "intersection_type":
      case "disjunctive_normal_form_type":
      case "type_list":
      case "optional_type": {
        const rows = tree.namedChildren(node).map((child) => this.type(child, at));
        return rows.length === 1 ? rows[0]! : facts.type(Type.Union, facts.list(rows));
      }
      default:
        return NONE;
    }
  }

  /** The type of a class's instances, by the class's name as written. */
  protected className(text: string, at: Place, line: number): TypeRow {
    const { facts } = this;
    const lower = text.toLowerCase();
    if (lower === "self" || lower === "static" || lower === "$this") return facts.type(Type.This, at.thisScope);
    if (lower === "parent") return NONE;
    if (PLAIN.test(text)) return this.builtinType(lower === "array" || lower === "list" ? "Array" : lower);
    return this.ref(this.localName(text), { ...at, scope: this.nameScope(at) }, line);
  }

  /** The scope from which class names are looked up. Variables never hide them. */
  protected nameScope(_at: Place): ScopeRow {
    return this.spaceScope;
  }

  /** A name that can be looked up in the name space. A qualified name becomes an import of its own. */
  protected localName(text: string): string {
    if (!text.includes("\\")) return text;
    const full = this.fullName(text);
    const local = `\\${full}`;
    if (!this.written.has(local)) {
      this.written.add(local);
      const cut = full.lastIndexOf("\\");
      this.facts.import(
        ImportKind.Named,
        full.slice(0, Math.max(0, cut)),
        full.slice(cut + 1),
        local,
        1,
        this.spaceScope,
      );
    }
    return local;
  }

  private fullName(text: string): string {
    if (text.startsWith("\\")) return text.slice(1);
    const [first = "", ...rest] = text.split("\\");
    if (first.toLowerCase() === "namespace") return [this.space, ...rest].filter(Boolean).join("\\");
    const alias = this.aliases.get(first.toLowerCase());
    return alias ? [alias, ...rest].join("\\") : [this.space, text].filter(Boolean).join("\\");
  }

  /** A class as a value, before `::` or after `new`. If nothing here declares the class, it is a library's. */
  protected classValue(text: string, at: Place): ExprRow {
    const { facts } = this;
    const lower = text.toLowerCase();
    if (lower === "self" || lower === "static")
      return isNone(at.thisScope) ? facts.expr(Expr.Unknown) : facts.expr(Expr.This, at.thisScope);
    if (lower === "parent") return facts.expr(Expr.Super, at.thisScope);
    return facts.exprName(this.localName(text), this.nameScope(at));
  }

  /** The type that a doc comment gives; none if it says nothing. */
  protected docType(text: string, at: Place, line: number, depth = 0): TypeRow {
    const { facts } = this;
    if (depth > 4) return NONE;
    const rows: TypeRow[] = [];
    for (const part of splitUnion(text)) {
      const list = /^(.+)\[\]$/.exec(part);
      const generic = /^([\w\\-]+)<(.*)>$/.exec(part);
      if (list) rows.push(facts.type(Type.Array, this.docType(list[1]!, at, line, depth + 1)));
      else if (generic && SEQUENCES.test(generic[1]!)) {
        const last = splitOutside(generic[2]!, ",").at(-1)!.trim();
        rows.push(facts.type(Type.Array, this.docType(last, at, line, depth + 1)));
      } else {
        const name = (generic?.[1] ?? part).replace(/^\?/, "");
        if (/^(\$this|[\w\\]+)$/.test(name) && !PLAIN.test(name)) rows.push(this.className(name, at, line));
      }
    }
    return rows.length === 0 ? NONE : rows.length === 1 ? rows[0]! : facts.type(Type.Union, facts.list(rows));
  }

  /** The doc comment directly before a declaration; "" if there is none. */
  protected docComment(node: TreeNode): string {
    const { tree } = this;
    const before = tree.text.slice(Math.max(0, tree.startIndex(node) - 3000), tree.startIndex(node)).trimEnd();
    if (!before.endsWith("*/")) return "";
    const open = before.lastIndexOf("/**");
    return open < 0 ? "" : before.slice(open);
  }

  /** The type in a tag of a doc comment: `@return T`, `@var T`, `@param T $name`. */
  protected tagType(doc: string, tag: string, name: string, at: Place, line: number): TypeRow {
    if (doc === "") return NONE;
    for (const [, found, type, rest = ""] of doc.matchAll(DOC_TAG)) {
      if (found !== tag || type === undefined) continue;
      if (name === "" || SUBJECT.exec(rest)?.[1] === name) return this.docType(type, at, line);
    }
    return NONE;
  }

  /** The scope of variables. PHP's blocks have no scope of their own. */
  protected home(scope: ScopeRow): ScopeRow {
    let at = scope;
    while (this.facts.scopes.kind(at) === ScopeKind.Block) at = this.facts.scopes.parent(at);
    return at;
  }
}

function splitUnion(text: string): string[] {
  return splitOutside(text.replace(/^\((.*)\)$/, "$1"), "|").map((part) => part.trim());
}

function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    if ("<({[".includes(text[i]!)) depth++;
    else if (">)}]".includes(text[i]!)) depth--;
    else if (text[i] === separator && depth === 0) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}
