/** Types that JavaScript declares in documentation comments. Only types that name something are read. */
import { exists, isNone, NONE, type TreeNode, type TypeRow } from "../../rows.ts";
import { ImportKind, Type } from "../fact-layout.ts";
import type { Context } from "./context.ts";
import { EcmascriptExpressions } from "./expressions.ts";

interface DocumentedTypes {
  /** Type rows of parameters, by name. */
  parameters: ReadonlyMap<string, TypeRow>;
  /** Type row of the return value, or none. */
  returns: TypeRow;
}

const NOTHING: DocumentedTypes = { parameters: new Map(), returns: NONE };

const MAX_COMMENT = 3_000;

/** Nodes that may stand between a comment and the function that it documents. */
const BETWEEN = new Set(
  `export_statement lexical_declaration variable_declaration variable_declarator assignment_expression
  expression_statement pair field_definition parenthesized_expression`.split(/\s+/),
);

/** Type names that say nothing more than that there is a value. */
const VAGUE = /^(Object|Function|Any|String|Number|Boolean|Symbol|BigInt)$/;

const PARAMETER = /@param\s+\{([^{}]+)\}\s+\[?([\w$]+)/g;

const RETURNS = /@returns?\s+\{([^{}]+)\}/;

const IMPORTED = /@typedef\s+\{\s*import\(\s*["']([^"']+)["']\s*\)(?:\.([\w$]+))?\s*\}\s+([\w$]+)/g;

export abstract class EcmascriptDocumented extends EcmascriptExpressions {
  /** Reads the types of parameters and of the result from the comment before a function. */
  protected readTypes(node: TreeNode, context: Context): DocumentedTypes {
    const { tree, facts } = this;
    if (facts.language !== "javascript") return NOTHING;
    let item = node;
    for (let parent = tree.parent(item); exists(parent) && BETWEEN.has(tree.kind(parent)); parent = tree.parent(item))
      item = parent;
    const end = tree.startIndex(item);
    const before = tree.text.slice(Math.max(0, end - MAX_COMMENT), end).trimEnd();
    if (!before.endsWith("*/")) return NOTHING;
    const comment = before.slice(before.lastIndexOf("/*"));
    if (!comment.includes("{")) return NOTHING;
    const parameters = new Map<string, TypeRow>();
    for (const [, type = "", name = ""] of comment.matchAll(PARAMETER))
      parameters.set(name, this.typeOf(type, context));
    return { parameters, returns: this.typeOf(RETURNS.exec(comment)?.[1] ?? "", context) };
  }

  /** Binds the names of `@typedef {import("module").Name} Local`. */
  protected bindImports(context: Context): void {
    const { tree, facts } = this;
    if (facts.language !== "javascript" || !tree.text.includes("@typedef")) return;
    for (const match of tree.text.matchAll(IMPORTED)) {
      const [, module = "", name, local = ""] = match;
      const line = tree.lineAt(match.index);
      if (name) facts.import(ImportKind.Named, module, name, local, line, context.scope);
      else facts.import(ImportKind.Module, module, "*", local, line, context.scope);
    }
  }

  /** The type row of `Name`, `?Name`, `Name[]`, `Promise<Name>` or `Name | null`; none for anything less specific. */
  private typeOf(written: string, context: Context): TypeRow {
    const { facts } = this;
    const parts = written
      .split("|")
      .map((part) => part.trim().replace(/^[?!.(]+|(?<![=)])[=)]+$/g, ""))
      .filter((part) => part !== "null" && part !== "undefined");
    const [only = ""] = parts;
    if (parts.length !== 1) return NONE;
    const array = /^(.+)\[\]$/.exec(only) ?? /^Array\.?<([^<>]+)>$/.exec(only);
    if (array) {
      const element = this.typeOf(array[1]!, context);
      return isNone(element) ? NONE : facts.type(Type.Array, element);
    }
    const promise = /^Promise\.?<(.+)>$/.exec(only);
    if (promise) {
      const value = this.typeOf(promise[1]!, context);
      return isNone(value) ? NONE : facts.typeRef("Promise", context.scope, [value]);
    }
    return /^\p{Lu}[\w$]*$/u.test(only) && !VAGUE.test(only) ? facts.typeRef(only, context.scope) : NONE;
  }
}
