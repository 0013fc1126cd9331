/** Statements, name spaces and preprocessor directives of C and C++. */
import { exists, FILE_SCOPE, isNone, NONE, ROOT, type SymbolRow, type TreeNode } from "../../rows.ts";
import type { Place } from "../block-walk.ts";
import { Expr, ImportKind, ScopeKind, SymbolFlag } from "../fact-layout.ts";
import { CFamilyDeclarations } from "./declarations.ts";
import { type MacroSpace, macroSpaces, spaceOfMacro } from "./macro-spaces.ts";

/** Words that may stand before a parenthesis without being functions. */
const MACRO_WORDS =
  /^(if|for|while|switch|return|sizeof|defined|do|else|case|_?_?[Aa]lignof|typeof|__typeof__|__attribute__|__builtin_\w+|_Pragma|decltype|static_cast|catch)$/;

export class CFamilyWalk extends CFamilyDeclarations {
  private readonly spaceNames = new Map<number, string>();
  private macroSpaces: readonly MacroSpace[] = [];

  file(): void {
    const at = this.top();
    this.macroSpaces = macroSpaces(this.tree.text);
    for (const name of new Set(this.macroSpaces.map((one) => one.name))) this.facts.space(at.scope, name);
    if (this.tree.count > 0) this.statements(ROOT, at);
  }

  protected statementOf(node: TreeNode, at: Place): Place {
    const { tree } = this;
    const kind = tree.kind(node);
    switch (kind) {
      case "preproc_include":
        this.include(node, at);
        return at;
      case "preproc_def":
      case "preproc_function_def":
        this.macro(node, kind, at);
        return at;
      case "namespace_definition":
        this.nameSpace(node, at);
        return at;
      case "using_declaration":
        this.using(node, at);
        return at;
      case "namespace_alias_definition":
        this.spaceAlias(node, at);
        return at;
      case "template_declaration":
        this.templateDeclaration(node, at);
        return at;
      case "function_definition":
      case "inline_method_definition":
        this.functionDefinition(node, at);
        return at;
      case "declaration":
      case "field_declaration":
        this.declaration(node, at);
        return at;
      case "type_definition":
        this.typeDefinition(node, at);
        return at;
      case "alias_declaration":
        this.aliasDeclaration(node, at);
        return at;
      case "struct_specifier":
      case "class_specifier":
      case "union_specifier":
      case "enum_specifier":
        this.specifier(node, at, "");
        return at;
      default:
        return this.otherStatement(node, kind, at);
    }
  }

  private otherStatement(node: TreeNode, kind: string, at: Place): Place {
    const { tree, facts } = this;
    switch (kind) {
      case "compound_statement":
      case "if_statement":
      case "for_statement":
      case "while_statement":
      case "do_statement":
      case "switch_statement":
      case "case_statement":
      case "try_statement":
        this.statements(node, this.block(at));
        return at;
      case "for_range_loop": {
        const inside = this.block(at);
        const over = this.expression(tree.child(node, "right"), at);
        const type = this.type(tree.child(node, "type"), inside);
        const found = this.declarator(tree.child(node, "declarator"));
        const value = facts.expr(Expr.Iterate, over);
        if (tree.kind(found.name) === "structured_binding_declarator")
          for (const [i, name] of tree.namedChildren(found.name).entries())
            this.local(this.text(name), inside, NONE, facts.expr(Expr.Index, value, facts.name(String(i))));
        else if (exists(found.name)) this.local(this.text(found.name), inside, type, value);
        this.statement(tree.child(node, "body"), inside);
        return at;
      }
      case "catch_clause": {
        const inside = this.block(at);
        const list = tree.child(node, "parameters");
        for (const one of tree.namedChildren(list)) {
          const found = this.declarator(tree.child(one, "declarator"));
          const type = this.type(tree.child(one, "type"), inside);
          if (exists(found.name)) this.local(this.text(found.name), inside, type, NONE);
        }
        this.statement(tree.child(node, "body"), inside);
        return at;
      }
      case "return_statement":
      case "co_return_statement": {
        const value = this.expression(tree.firstNamed(node), at);
        if (exists(value)) at.returns?.push(value);
        return at;
      }
      case "access_specifier":
      case "friend_declaration":
      case "concept_definition":
      case "static_assert_declaration":
      case "preproc_call":
        return at;
      default:
        if (/(_statement|_clause|_list|^ERROR|^preproc_|^linkage|^translation_unit)/.test(kind))
          this.statements(node, at);
        else if (/_type$|type_identifier|^type_/.test(kind)) this.type(node, at);
        else this.expression(node, at);
        return at;
    }
  }

  private include(node: TreeNode, at: Place): void {
    const path = this.field(node, "path");
    if (/^["<]/.test(path)) {
      const statement = this.importStatement(node, path.slice(1, -1), FILE_SCOPE);
      this.facts.import(ImportKind.Wildcard, path, "*", "", this.tree.line(node), FILE_SCOPE, statement);
    } else this.expression(this.tree.child(node, "path"), at);
  }

  private macro(node: TreeNode, kind: string, at: Place): void {
    const { tree, facts } = this;
    const name = this.field(node, "name");
    const value = this.field(node, "value").trim();
    if (value === "" && kind === "preproc_def") return;
    const space = kind === "preproc_def" ? spaceOfMacro(value) : "";
    if (space !== "") facts.space(NONE, `#${name}=${space}`);
    const label = kind === "preproc_def" ? "Const" : "Function";
    const symbol = this.declare(
      { label, name, node, body: NONE, flags: SymbolFlag.Exported },
      { ...at, scope: FILE_SCOPE },
    );
    if (kind === "preproc_function_def") this.macroCalls(node, value, symbol);
    // The node of a directive extends to the next line, so its own text gives the end.
    facts.setSymbol(symbol, "endLine", tree.lineAt(tree.startIndex(node) + this.text(node).trimEnd().length - 1));
  }

  /** Records the calls in a macro's text, by plain names. The macro's own parameters are left out. */
  private macroCalls(node: TreeNode, value: string, symbol: SymbolRow): void {
    const { tree, facts } = this;
    const parameters = new Set(this.field(node, "parameters").match(/\w+/g));
    const called = new Set<string>();
    for (const [, before = "", name = ""] of value.matchAll(/(^|->\s*|[.#>]\s*|[^\w])([A-Za-z_]\w*)\s*\(/g))
      if (!/[.>#]\s*$/.test(before) && !parameters.has(name) && !MACRO_WORDS.test(name)) called.add(name);
    for (const name of called)
      facts.call(facts.exprCall(facts.exprName(name, FILE_SCOPE), []), symbol, tree.line(node));
  }

  private nameSpace(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const nameNode = tree.child(node, "name");
    const body = tree.child(node, "body");
    if (isNone(nameNode)) {
      this.hiddenSpace++;
      this.statements(body, at);
      this.hiddenSpace--;
      return;
    }
    let place = at;
    for (const name of this.text(nameNode)
      .replace(/\s+|\binline\b/g, "")
      .split("::")) {
      const symbol = this.declare({ label: "Namespace", name, node, body }, place);
      const scope = facts.scope(place.scope, ScopeKind.Namespace, symbol);
      const outer = this.spaceNames.get(place.scope) ?? this.macroSpaceAt(node);
      const whole = outer ? `${outer}.${name}` : name;
      this.spaceNames.set(scope, whole);
      facts.space(scope, whole);
      // Names in an inline name space also belong to the name space around it.
      if (outer && /^\s*inline\b/.test(this.text(node))) facts.space(scope, outer);
      place = { ...place, scope, parent: symbol };
    }
    this.statements(body, place);
  }

  /** The name space that a macro before a node opened, if it is still open. */
  private macroSpaceAt(node: TreeNode): string | undefined {
    const start = this.tree.startIndex(node);
    return this.macroSpaces.find((one) => one.start < start && start < one.end)?.name;
  }

  private using(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const target = tree.namedChildren(node).at(-1) ?? NONE;
    const names = this.parts(target).names.map((part) => this.partName(part));
    const line = tree.line(node);
    if (exists(tree.childOfKind(node, "namespace")))
      facts.import(ImportKind.Wildcard, `::${names.join(".")}`, "*", "", line, at.scope);
    else if (names.length > 1) {
      const name = names.pop()!;
      facts.import(ImportKind.Named, `::${names.join(".")}`, name, name, line, at.scope);
    }
  }

  private spaceAlias(node: TreeNode, at: Place): void {
    const { tree, facts } = this;
    const local = this.field(node, "name");
    const names = tree
      .namedChildren(node)
      .filter((child) => tree.fieldName(child) !== "name")
      .flatMap((child) => this.parts(child).names.map((part) => this.partName(part)));
    facts.import(ImportKind.Module, `::${names.join(".")}`, "*", local, tree.line(node), at.scope);
  }

  private templateDeclaration(node: TreeNode, at: Place): void {
    const { tree } = this;
    for (const child of tree.namedChildren(node)) {
      if (tree.fieldName(child) === "parameters") this.template = child;
      else if (tree.kind(child) !== "requires_clause") this.statement(child, at);
    }
    this.template = NONE;
  }
}
