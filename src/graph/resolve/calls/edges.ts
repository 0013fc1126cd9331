/** The edges of one file: imports, calls, uses, decorators and inheritance. */
import { CallFlag, Expr, SymbolFlag, Type } from "../../language/fact-layout.ts";
import type { EdgeType, Reason, SymbolLabel } from "../../model.ts";
import { type ExprRow, exists, isNone, NOTHING, type SymbolRow, type TypeRow } from "../../rows.ts";
import type { Engine, Entity } from "../engine.ts";
import type { UniqueNames } from "../names/unique-names.ts";
import type { Repository } from "../repository.ts";
import { partsOf } from "../types/value-type.ts";
import { addHeritageEdges } from "./heritage-edges.ts";
import { addDecoratorEdges, addImportEdges } from "./reference-edges.ts";
import { CallTargets, reasonOf, type Target } from "./targets.ts";

/** An edge between symbols. A negative end stands for a file: `-1 - file`. */
export interface RawEdge {
  type: EdgeType;
  from: number;
  to: number;
  line: number;
  reason: Reason;
}

type AddEdges = (finder: EdgeFinder, file: number, into: RawEdge[]) => void;

/** The steps that find a file's edges. Their order is that of the edges. */
export const EDGE_STEPS: readonly (readonly [name: string, add: AddEdges])[] = [
  ["imports", ({ engine }, file, into) => addImportEdges(engine, file, into)],
  ["calls", (finder, file, into) => finder.addCallEdges(file, into)],
  ["uses", (finder, file, into) => finder.addUseEdges(file, into)],
  ["decorators", (finder, file, into) => addDecoratorEdges(finder, file, into)],
  ["inheritance", ({ engine }, file, into) => addHeritageEdges(engine, file, into)],
];

/** Whether a call can reach a node with this label, in a language with strict calls. */
function isCalled(label: SymbolLabel, constructing: boolean): boolean {
  if (label === "Function" || label === "Method") return true;
  return constructing && (label === "Class" || label === "Struct" || label === "Enum");
}

export class EdgeFinder {
  readonly targets: CallTargets;
  private readonly repo: Repository;
  private readonly unique: UniqueNames;

  constructor(
    readonly engine: Engine,
    unique: UniqueNames,
  ) {
    this.repo = engine.repo;
    this.unique = unique;
    this.targets = new CallTargets(engine, unique);
  }

  /** All edges that leave a file. */
  edgesOf(file: number): RawEdge[] {
    const found: RawEdge[] = [];
    for (const [, add] of EDGE_STEPS) add(this, file, found);
    return found;
  }

  /** The nearest symbol that is a node: the symbol itself, its definition, or one around it; -1 if there is none. */
  private findVisible(symbol: number): number {
    const { repo } = this;
    let at = symbol;
    while (at >= 0 && repo.has(at, SymbolFlag.Hidden)) {
      const definition = this.targets.findDefinition(at);
      if (definition >= 0) return definition;
      at = repo.parent(at);
    }
    return at;
  }

  /** The node that contains a call or use: a symbol, or the file. */
  private ownerOf(file: number, row: SymbolRow): number {
    if (isNone(row)) return -1 - file;
    const node = this.findVisible(this.repo.symbolAt(file, row));
    return node < 0 ? -1 - file : node;
  }

  /** Whether a call is `super(…)` or `base(…)`, which calls the parent's constructor. */
  private callsParent(file: number, callRow: number): boolean {
    const { exprs, calls } = this.repo.facts(file);
    const callee = exprs.callee(calls.expr(callRow));
    return exists(callee) && exprs.op(callee) === Expr.Super;
  }

  /** Adds CALLS edges, and MAY_CALL edges for calls of which only the called name is known. */
  addCallEdges(file: number, into: RawEdge[]): void {
    const { repo } = this;
    const { calls } = repo.facts(file);
    const strict = repo.rules(file).strictCalls;
    for (let row = 0; row < calls.length; row++) {
      const from = this.ownerOf(file, calls.symbol(row));
      const targets = this.targets.findCallTargets(file, row);
      if (targets.length === 0) {
        for (const to of this.findPossible(file, row))
          into.push({ type: "MAY_CALL", from, to, line: calls.line(row), reason: "same_name" });
        continue;
      }
      for (const target of targets) {
        const label = repo.label(target.symbol);
        const isNew = (calls.flags(row) & CallFlag.New) !== 0;
        if (label === "Interface" || label === "TypeAlias" || label === "Namespace") continue;
        if (strict && !isCalled(label, isNew || strict === "constructors" || this.callsParent(file, row))) continue;
        into.push({ type: "CALLS", from, to: target.symbol, line: calls.line(row), reason: target.reason });
      }
    }
  }

  /** Methods with the called name, if nothing is known of the receiver and there are several such methods. */
  private findPossible(file: number, callRow: number): readonly number[] {
    const { calls, exprs, strings } = this.repo.facts(file);
    const callee = exprs.callee(calls.expr(callRow));
    if (isNone(callee) || exprs.op(callee) !== Expr.Member) return NOTHING;
    const object = exprs.object(callee);
    if (this.engine.expressions.typeAt(file, object)) return NOTHING;
    const candidates = this.unique.findCandidates(file, strings[exprs.member(callee)]!);
    return candidates.length === 0 || this.targets.isForeign(file, object) ? NOTHING : candidates;
  }

  /**
   * Adds USES edges from each symbol to the types, values and methods that it names without calling them. Each edge is
   * added once.
   */
  addUseEdges(file: number, into: RawEdge[]): void {
    const { repo } = this;
    const { uses } = repo.facts(file);
    const seen = new Set<number>();
    const add = (user: SymbolRow, to: number, line: number, reason: Reason) => {
      const from = this.ownerOf(file, user);
      // Files are negative numbers, so the key is shifted.
      const key = (from + repo.files.length) * repo.symbolTotal + to;
      if (from === to || seen.has(key)) return;
      seen.add(key);
      into.push({ type: "USES", from, to, line, reason });
    };
    for (let row = 0; row < uses.length; row++) {
      for (const { symbol, reason } of this.methodsAt(file, uses.expr(row)))
        add(uses.symbol(row), symbol, uses.line(row), reason);
      const type = uses.type(row);
      const entity = exists(type) ? this.resolveUsedType(file, type) : this.resolveUsedValue(file, uses.expr(row));
      if (entity?.kind !== "symbol" || repo.has(entity.symbol, SymbolFlag.Hidden)) continue;
      add(uses.symbol(row), entity.symbol, uses.line(row), reasonOf(repo, file, entity));
    }
    const { calls, exprs, lists } = repo.facts(file);
    for (let row = 0; row < calls.length; row++) {
      const args = exprs.args(calls.expr(row));
      if (isNone(args)) continue;
      for (const arg of lists.items(args))
        for (const { symbol, reason } of this.methodsAt(file, arg))
          add(calls.symbol(row), symbol, calls.line(row), reason);
    }
  }

  /**
   * Functions and methods that a member expression names without calling it: `on("end", this.close)`,
   * `map(Shape::area)`.
   */
  private methodsAt(file: number, expr: ExprRow): readonly Target[] {
    if (isNone(expr) || this.repo.facts(file).exprs.op(expr) !== Expr.Member) return NOTHING;
    return this.keepMethods(this.targets.findCalleeTargets(file, expr, expr));
  }

  private keepMethods(targets: readonly Target[]): Target[] {
    return targets.filter(({ symbol, reason }) => reason !== "unique_name" && isCalled(this.repo.label(symbol), false));
  }

  /** The symbol that a mentioned type stands for. */
  resolveUsedType(file: number, row: TypeRow): Entity | undefined {
    const { engine } = this;
    const { types } = this.repo.facts(file);
    if (types.op(row) === Type.Ref) return engine.names.lookUp(file, types.scope(row), types.name(row), "type");
    const [named] = types.op(row) === Type.Qualified ? engine.types.findQualified(file, row) : NOTHING;
    if (named?.kind === "symbol") return named;
    const [part] = partsOf(engine.types.typeAt(file, row));
    return part?.kind === "instance" ? { kind: "symbol", symbol: part.symbol, via: "import" } : undefined;
  }

  private resolveUsedValue(file: number, row: ExprRow): Entity | undefined {
    const { exprs } = this.repo.facts(file);
    if (exprs.op(row) !== Expr.Name) return undefined;
    return this.engine.names.lookUp(file, exprs.nameScope(row), exprs.name(row), "value");
  }
}
