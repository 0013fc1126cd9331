/** Imports and exports of ES modules and CommonJS. */
import { type ExprRow, exists, isNone, NONE, type SymbolRow, type TreeNode } from "../../rows.ts";
import { ExportKind, Expr, ImportKind, SymbolFlag } from "../fact-layout.ts";
import { oneLine } from "../one-line.ts";
import { type Context, isLambda, stringValue } from "./context.ts";
import { EcmascriptLiterals } from "./literals.ts";

export abstract class EcmascriptModules extends EcmascriptLiterals {
  /** Declares the Import node of an import in the source. */
  protected statementOf(node: TreeNode, module: string, context: Context): SymbolRow {
    const { tree, facts } = this;
    const { scope } = context;
    const [startLine, endLine] = [tree.line(node), tree.endLine(node)];
    return facts.importStatement({
      name: oneLine(module),
      scope,
      startLine,
      endLine,
      signature: oneLine(tree.source(node)),
    });
  }

  protected importStatement(node: TreeNode, context: Context): void {
    const { tree, facts } = this;
    const line = tree.line(node);
    const required = tree.childOfKind(node, "import_require_clause");
    if (exists(required)) {
      const module = stringValue(tree, tree.child(required, "source"));
      const local = tree.source(tree.firstNamed(required));
      const statement = this.statementOf(node, module, context);
      facts.import(ImportKind.Module, module, "*", local, line, context.scope, statement);
      return;
    }
    const module = stringValue(tree, tree.child(node, "source"));
    const clause = tree.childOfKind(node, "import_clause");
    const statement = this.statementOf(node, module, context);
    if (isNone(clause)) {
      facts.import(ImportKind.Effect, module, "", "", line, context.scope, statement);
      return;
    }
    for (const part of tree.namedChildren(clause)) {
      const kind = tree.kind(part);
      if (kind === "identifier") {
        facts.import(ImportKind.Named, module, "default", tree.source(part), line, context.scope, statement);
      } else if (kind === "namespace_import") {
        const local = tree.source(tree.firstNamed(part));
        facts.import(ImportKind.Module, module, "*", local, line, context.scope, statement);
      } else if (kind === "named_imports") {
        for (const specifier of tree.namedChildren(part)) {
          const [name, local] = this.namedPair(specifier);
          if (name) facts.import(ImportKind.Named, module, name, local, line, context.scope, statement);
        }
      }
    }
  }

  /** Binds a local name for a path: `import A = B.C`. */
  protected importAlias(node: TreeNode, context: Context): void {
    const { tree, facts } = this;
    const [name, path] = tree.namedChildren(node);
    if (name === undefined || path === undefined) return;
    let value: ExprRow = NONE;
    for (const part of tree.source(path).split(".")) {
      value = isNone(value) ? facts.exprName(part.trim(), context.scope) : facts.exprMember(value, part.trim());
    }
    facts.local(context.scope, tree.source(name), NONE, value);
  }

  private namedPair(specifier: TreeNode): [string, string] {
    const { tree } = this;
    const readText = (node: TreeNode) => (tree.kind(node) === "string" ? stringValue(tree, node) : tree.source(node));
    const name = tree.child(specifier, "name");
    const alias = tree.child(specifier, "alias");
    return [readText(name), readText(exists(alias) ? alias : name)];
  }

  protected exportStatement(node: TreeNode, context: Context): void {
    const { tree, facts } = this;
    const source = tree.child(node, "source");
    this.decorators = this.decoratorsIn(node, context);
    if (exists(source)) {
      this.reExport(node, stringValue(tree, source), context);
      return;
    }
    const declaration = tree.child(node, "declaration");
    const isDefault = exists(tree.childOfKind(node, "default"));
    if (exists(declaration)) {
      this.exportDeclaration(declaration, isDefault, context);
      this.decorators = [];
      return;
    }
    const value = tree.child(node, "value");
    if (exists(value)) {
      this.exportDefault(value, context);
      return;
    }
    const clause = tree.childOfKind(node, "export_clause");
    if (exists(clause)) {
      for (const specifier of tree.namedChildren(clause)) {
        const [local, name] = this.namedPair(specifier);
        facts.export(ExportKind.Local, name, facts.name(local));
      }
      return;
    }
    // Handles `export = value`.
    const assigned = tree.firstNamed(node);
    if (exists(assigned)) facts.export(ExportKind.Value, "=", this.expression(assigned, context));
  }

  private reExport(node: TreeNode, module: string, context: Context): void {
    const { tree, facts } = this;
    const line = tree.line(node);
    const statement = this.statementOf(node, module, context);
    const clause = tree.childOfKind(node, "export_clause");
    if (exists(clause)) {
      for (const specifier of tree.namedChildren(clause)) {
        const [from, name] = this.namedPair(specifier);
        const row = facts.import(ImportKind.Named, module, from, "", line, context.scope, statement);
        facts.export(ExportKind.ReExport, name, facts.name(from), row);
      }
      return;
    }
    const row = facts.import(ImportKind.Module, module, "*", "", line, context.scope, statement);
    const namespace = tree.childOfKind(node, "namespace_export");
    if (exists(namespace)) facts.export(ExportKind.Module, tree.source(tree.firstNamed(namespace)), -1, row);
    else facts.export(ExportKind.Star, "*", -1, row);
  }

  private exportDeclaration(declaration: TreeNode, isDefault: boolean, context: Context): void {
    const { tree, facts } = this;
    const kind = tree.kind(declaration);
    const local = tree.source(tree.child(declaration, "name"));
    const exportLocal = (name: string) =>
      facts.export(ExportKind.Local, isDefault ? "default" : name, facts.name(name));
    switch (kind) {
      case "function_declaration":
      case "generator_function_declaration":
      case "function_signature":
        this.functionDeclaration(declaration, context, local || "default", SymbolFlag.Exported);
        exportLocal(local || "default");
        return;
      case "class_declaration":
      case "abstract_class_declaration":
        this.classLike(declaration, local || "default", context, SymbolFlag.Exported);
        exportLocal(local || "default");
        return;
      case "interface_declaration":
      case "type_alias_declaration":
      case "enum_declaration":
      case "internal_module":
      case "module":
        this.typeDeclaration(declaration, context, SymbolFlag.Exported);
        exportLocal(local);
        return;
      case "lexical_declaration":
      case "variable_declaration":
        this.variableDeclaration(declaration, context, SymbolFlag.Exported);
        return;
      default:
        for (const child of tree.namedChildren(declaration)) this.exportDeclaration(child, isDefault, context);
    }
  }

  /** Handles `export default expression`. Functions and classes without a name become nodes with the name "default". */
  private exportDefault(value: TreeNode, context: Context): void {
    const { tree, facts } = this;
    const kind = tree.kind(value);
    if (kind === "identifier") {
      this.expression(value, context);
      facts.export(ExportKind.Local, "default", facts.name(tree.source(value)));
    } else if (isLambda(kind)) {
      const name = tree.source(tree.child(value, "name")) || "default";
      this.functionDeclaration(value, context, name, SymbolFlag.Exported);
      facts.export(ExportKind.Local, "default", facts.name(name));
    } else if (kind === "class") {
      const name = tree.source(tree.child(value, "name")) || "default";
      this.classLike(value, name, context, SymbolFlag.Exported);
      facts.export(ExportKind.Local, "default", facts.name(name));
    } else {
      facts.export(ExportKind.Value, "default", this.expression(value, context));
    }
  }

  /**
   * Handles CommonJS exports: `module.exports = v`, `module.exports.x = v`, `exports.x = v`, and chains of them.
   * Functions that are assigned like this become nodes.
   * @returns the value's row; undefined for any other assignment
   */
  commonJsExport(left: TreeNode, right: TreeNode, context: Context): ExprRow | undefined {
    const name = this.exportName(left);
    if (name === undefined) return undefined;
    const value = this.exportValue(right, name === "=" ? "default" : name, context);
    this.facts.export(ExportKind.Value, name, value);
    return value;
  }

  /** The name that an assignment to `left` exports. "=" stands for the whole module, undefined for no export. */
  private exportName(left: TreeNode): string | undefined {
    const { tree } = this;
    if (tree.kind(left) !== "member_expression") return undefined;
    const text = tree.source(left);
    return text === "module.exports" ? "=" : /^(?:module\.)?exports\.([\w$]+)$/.exec(text)?.[1];
  }

  private exportValue(right: TreeNode, name: string, context: Context): ExprRow {
    const { tree, facts } = this;
    const kind = tree.kind(right);
    if (kind === "parenthesized_expression") return this.exportValue(tree.firstNamed(right), name, context);
    // An exported value is a top-level symbol, even inside of `const f = (exports.f = …)`.
    const top = { ...context, parent: NONE };
    if (isLambda(kind)) {
      const own = tree.source(tree.child(right, "name"));
      const symbol = this.functionDeclaration(right, top, own || name, SymbolFlag.Exported);
      return facts.expr(Expr.Function, symbol);
    }
    if (kind === "class") {
      const own = tree.source(tree.child(right, "name"));
      return facts.expr(Expr.Class, this.classLike(right, own || name, top, SymbolFlag.Exported));
    }
    const target = kind === "assignment_expression" ? tree.child(right, "left") : NONE;
    if (exists(target) && tree.kind(target) === "identifier" && tree.source(target) === "exports")
      return this.exportValue(tree.child(right, "right"), name, context);
    return this.expression(right, context);
  }
}
