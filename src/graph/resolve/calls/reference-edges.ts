/** Edges of nodes that refer to declarations without calling them: imports and decorators. */

import { Expr, SymbolFlag, Type } from "../../language/fact-layout.ts";
import { exists, isNone, rowAfter, type TypeRow } from "../../rows.ts";
import type { Engine } from "../engine.ts";
import { isReference } from "../repository.ts";
import type { EdgeFinder, RawEdge } from "./edges.ts";

/**
 * Adds IMPORTS edges: one from the file to each file and symbol, and one from each import statement to what it brings
 * in.
 */
export function addImportEdges(engine: Engine, file: number, into: RawEdge[]): void {
  const { repo } = engine;
  const { imports, symbols } = repo.facts(file);
  const seen = new Set<number>();
  for (let row = imports.first; row < imports.length; row = rowAfter(row)) {
    const target = engine.imports.targetOf(file, row);
    const line = imports.line(row);
    const statement = imports.statement(row);
    const add = (to: number): void => {
      if (exists(statement)) {
        const written = symbols.startLine(statement);
        into.push({ type: "IMPORTS", from: repo.symbolAt(file, statement), to, line: written, reason: "import" });
      }
      if (seen.has(to)) return;
      seen.add(to);
      into.push({ type: "IMPORTS", from: -1 - file, to, line, reason: "import" });
    };
    const files = target.kind === "file" ? [target.file] : target.kind === "files" ? target.files : [];
    for (const other of files) if (other !== file) add(-1 - other);
    if (target.kind === "external") continue;
    for (const space of ["value", "type"] as const) {
      const entity = engine.names.followImport(file, row, space);
      if (entity?.kind === "symbol" && !repo.has(entity.symbol, SymbolFlag.Hidden)) add(entity.symbol);
      // The import names a module of a package.
      if (entity?.kind === "type" && entity.type.kind === "module")
        for (const other of entity.type.files) if (other !== file) add(-1 - other);
    }
  }
}

/** Adds USES edges from each decorator to the symbols that it names. */
export function addDecoratorEdges(finder: EdgeFinder, file: number, into: RawEdge[]): void {
  const { repo } = finder.engine;
  const { symbols, exprs } = repo.facts(file);
  const base = repo.base[file]!;
  for (let row = symbols.first; row < symbols.length; row = rowAfter(row)) {
    if (!isReference(symbols.label(row))) continue;
    const [value, type] = [symbols.value(row), symbols.type(row)];
    const edge = { type: "USES", from: base + row, line: symbols.startLine(row) } as const;
    if (exists(value)) {
      const called = exprs.op(value) === Expr.Call;
      const callee = called ? exprs.callee(value) : value;
      for (const { symbol, reason } of finder.targets.findCalleeTargets(file, callee, value))
        into.push({ ...edge, to: symbol, reason });
    }
    const used = findUsed(finder, file, type);
    if (used >= 0) into.push({ ...edge, to: used, reason: repo.fileOf(used) === file ? "same_scope" : "import" });
  }
}

/** The symbol of an annotation's type; -1 if there is none. Of a union, the first member that is a symbol. */
function findUsed(finder: EdgeFinder, file: number, type: TypeRow): number {
  if (isNone(type)) return -1;
  const { repo } = finder.engine;
  const facts = repo.facts(file);
  const union = facts.types.op(type) === Type.Union;
  for (const one of union ? facts.lists.items(facts.types.list(type)) : [type]) {
    const used = finder.resolveUsedType(file, one);
    if (used?.kind === "symbol" && !repo.has(used.symbol, SymbolFlag.Hidden)) return used.symbol;
  }
  return -1;
}
