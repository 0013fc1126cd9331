/** EXTENDS and IMPLEMENTS edges. */

import { HeritageKind, SymbolFlag } from "../../language/fact-layout.ts";
import type { Reason } from "../../model.ts";
import { exists } from "../../rows.ts";
import type { Engine } from "../engine.ts";
import { partsOf } from "../types/value-type.ts";
import type { RawEdge } from "./edges.ts";

/** Adds the EXTENDS and IMPLEMENTS edges that a file declares. */
export function addHeritageEdges(engine: Engine, file: number, into: RawEdge[]): void {
  const { repo } = engine;
  const { heritage } = repo.facts(file);
  for (let row = 0; row < heritage.length; row++) {
    const symbol = heritage.symbol(row);
    const subjectRow = heritage.subject(row);
    const subjects = exists(symbol)
      ? [repo.symbolAt(file, symbol)]
      : partsOf(engine.types.typeAt(file, subjectRow)).flatMap((part) =>
          part.kind === "instance" ? [part.symbol] : [],
        );
    const implementing = heritage.kind(row) === HeritageKind.Implements;
    for (const subject of subjects) {
      if (repo.has(subject, SymbolFlag.Hidden)) continue;
      for (const base of basesOfRow(engine, file, row)) {
        if (base === subject || repo.has(base, SymbolFlag.Hidden)) continue;
        const reason: Reason = repo.fileOf(base) === file ? "same_scope" : "import";
        into.push({
          type: implementing ? "IMPLEMENTS" : "EXTENDS",
          from: subject,
          to: base,
          line: heritage.line(row),
          reason,
        });
      }
    }
  }
}

function basesOfRow(engine: Engine, file: number, row: number): number[] {
  const { repo } = engine;
  const { heritage } = repo.facts(file);
  const type = heritage.type(row);
  const expr = heritage.expr(row);
  const found = new Set<number>();
  if (exists(type))
    for (const part of partsOf(engine.types.typeAt(file, type))) if (part.kind === "instance") found.add(part.symbol);
  if (found.size === 0 && exists(expr))
    for (const part of partsOf(engine.expressions.typeAt(file, expr)))
      if (part.kind === "class" || part.kind === "instance") found.add(part.symbol);
  return [...found];
}
