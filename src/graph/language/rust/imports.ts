/** Walks Rust's `use`. */
import { isNone, type TreeNode } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { ImportKind } from "../fact-layout.ts";
import { RustExpressions } from "./expressions.ts";

export abstract class RustImports extends RustExpressions {
  /** Walks `use a::{b, c as d, self, e::*}`. `prefix` is the path before it. */
  protected use(node: TreeNode, prefix: string, at: Place, line: number): void {
    const { tree } = this;
    const addPrefix = (path: string) => (prefix === "" ? path : `${prefix}::${path}`);
    switch (tree.kind(node)) {
      case "scoped_use_list": {
        const path = tree.child(node, "path");
        const list = tree.child(node, "list");
        const whole = isNone(path) ? prefix : addPrefix(this.text(path).replace(/\s+/g, ""));
        for (const child of tree.namedChildren(list)) this.use(child, whole, at, tree.line(child));
        return;
      }
      case "use_list":
        for (const child of tree.namedChildren(node)) this.use(child, prefix, at, tree.line(child));
        return;
      case "use_wildcard": {
        const path = tree.firstNamed(node);
        const whole = isNone(path) ? prefix : addPrefix(this.text(path).replace(/\s+/g, ""));
        const statement = this.importStatement(node, `${whole}::*`, at.scope, `use ${whole}::*`);
        this.facts.import(ImportKind.Wildcard, this.usePath(whole), "*", "", line, at.scope, statement);
        return;
      }
      case "use_as_clause":
        this.useName(node, addPrefix(this.field(node, "path").replace(/\s+/g, "")), this.field(node, "alias"), at);
        return;
      case "self":
        this.useName(node, prefix, prefix.split("::").pop()!, at);
        return;
      default: {
        const path = addPrefix(this.text(node).replace(/\s+/g, ""));
        this.useName(node, path, path.split("::").pop()!, at);
      }
    }
  }

  private useName(node: TreeNode, path: string, local: string, at: Place): void {
    const line = this.tree.line(node);
    const alias = path.endsWith(local) ? "" : ` as ${local}`;
    const statement = this.importStatement(node, path, at.scope, `use ${path}${alias}`);
    const cut = path.lastIndexOf("::");
    if (at.scope === 0) this.topNames.add(local);
    if (/^(crate|self|super)\b/.test(path)) this.ownNames.add(local);
    const bound = local === "_" ? "" : local;
    if (cut < 0) this.facts.import(ImportKind.Module, this.usePath(path), "*", bound, line, at.scope, statement);
    else {
      const module = this.usePath(path.slice(0, cut));
      this.facts.import(ImportKind.Named, module, path.slice(cut + 2), bound, line, at.scope, statement);
    }
  }

  /**
   * A module's path for the resolver. If it begins with a name that this file declares, it is made relative to this
   * file.
   */
  private usePath(path: string): string {
    const canonical = this.canonical(path.replace(/^::/, ""));
    const first = canonical.split("::")[0]!;
    if (/^(crate|self|super)$/.test(first) || !this.topNames.has(first)) return canonical;
    return `self::${canonical}`;
  }
}
