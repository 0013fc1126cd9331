/** Types as written in the source, and types of symbols and bindings. All are kept; type-memo.ts handles circles. */

import { BindingKind, Expr, ScopeKind, SymbolFlag, Type } from "../../language/fact-layout.ts";
import {
  type BindingRow,
  type ExprRow,
  exists,
  isNone,
  mapRows,
  NONE,
  NOTHING,
  type Rows,
  type TypeList,
  type TypeRow,
} from "../../rows.ts";
import type { Engine, Entity } from "../engine.ts";
import { EXTERNAL_ENTITY } from "../names/seen.ts";
import type { Repository } from "../repository.ts";
import { TypeBindings } from "./type-bindings.ts";
import { TypeMemo, TypesByFile } from "./type-memo.ts";
import {
  createBuiltin,
  EXTERNAL,
  parameterId,
  parameterOf,
  partsOf,
  substitute,
  THIS_ID,
  type TypeEnv,
  unionOf,
  type ValueType,
} from "./value-type.ts";

const idsOf = (file: number, parameters: Rows<BindingRow>): number[] =>
  mapRows(parameters, (row) => parameterId(file, row));

export class Types {
  private readonly repo: Repository;
  /** Types of type rows, by file. */
  private readonly typeMemo: TypesByFile<TypeRow>;
  /** Types of symbols. */
  private readonly symbolMemo: TypeMemo<number>;
  /** Types of bindings, by file. */
  private readonly bindingMemo: TypesByFile<BindingRow>;

  constructor(private readonly engine: Engine) {
    const { repo, finding } = engine;
    this.repo = repo;
    this.typeMemo = new TypesByFile(
      finding,
      (file) => repo.facts(file).types.length,
      (file, row) => this.findType(file, row),
    );
    this.symbolMemo = new TypeMemo(repo.symbolTotal, finding, (symbol) => this.findTypeOfSymbol(symbol));
    this.bindingMemo = new TypesByFile(
      finding,
      (file) => repo.facts(file).bindings.length,
      (file, binding) => this.findTypeOfBinding(file, binding),
    );
  }

  private typeParametersOf(symbol: number): number[] {
    const { repo } = this;
    const file = repo.fileOf(symbol);
    const list = repo.column(symbol, "typeParameters");
    return isNone(list) ? [] : idsOf(file, repo.facts(file).lists.items(list));
  }

  private envOf(symbol: number, args: readonly (ValueType | undefined)[]): TypeEnv | undefined {
    const { repo } = this;
    const ids = this.typeParametersOf(symbol);
    if (ids.length === 0) return undefined;
    const env = new TypeBindings();
    const file = repo.fileOf(symbol);
    for (const [i, id] of ids.entries()) {
      let arg = args[i];
      if (!arg && args.length > 0) {
        const binding = parameterOf(file, id);
        arg = substitute(this.typeAt(file, repo.facts(file).bindings.fallback(binding)), env);
      }
      if (arg) env.bindType(id, arg);
    }
    return env;
  }

  /** An instance of a class-like symbol, with type arguments in the order of its type parameters. */
  instanceOf(symbol: number, args: readonly (ValueType | undefined)[]): ValueType {
    const { repo } = this;
    const label = repo.label(symbol);
    if (label === "TypeAlias") {
      const file = repo.fileOf(symbol);
      const aliased = this.typeAt(file, repo.column(symbol, "type"));
      return substitute(aliased, this.envOf(symbol, args)) ?? { kind: "instance", symbol, env: undefined, open: false };
    }
    return { kind: "instance", symbol, env: this.envOf(symbol, args), open: repo.has(symbol, SymbolFlag.Hidden) };
  }

  private resolveRef(file: number, row: TypeRow): ValueType | undefined {
    const { engine, repo } = this;
    const facts = repo.facts(file);
    const args = facts.types.args(row);
    const entity = engine.names.lookUp(file, facts.types.scope(row), facts.types.name(row), "type");
    // Overloads are chosen by the names of library types, so the name is kept.
    if (entity?.kind === "external" && repo.rules(file).overloads)
      return createBuiltin(facts.strings[facts.types.name(row)]!, ...this.typesAt(file, args));
    if (entity) return this.toType(entity, this.typesAt(file, args));
    return engine.library.typeNamed(
      repo.language(file),
      facts.strings[facts.types.name(row)]!,
      this.typesAt(file, args),
    );
  }

  /** The type that an entity means in a place where a type is written. */
  private toType(entity: Entity, args: readonly (ValueType | undefined)[]): ValueType | undefined {
    const { repo } = this;
    if (entity.kind === "external") return EXTERNAL;
    if (entity.kind === "symbol") {
      const label = repo.label(entity.symbol);
      // A constructor function of JavaScript is the type of the instances that it makes.
      if (label === "Function" && repo.rules(repo.fileOf(entity.symbol)).openValues)
        return this.instanceOf(entity.symbol, []);
      if (label === "Function" || label === "Method") return undefined;
      // A variant of an enum. A pattern may take its fields apart.
      if (repo.has(entity.symbol, SymbolFlag.EnumMember))
        return { kind: "instance", symbol: entity.symbol, env: undefined, open: false };
      if (label === "Const" || label === "Variable" || label === "Property") {
        // A constant that holds a class names that class: `const Alias = Class`.
        return unionOf(
          partsOf(this.typeOfSymbol(entity.symbol)).map((part) =>
            part.kind === "class" ? this.instanceOf(part.symbol, args) : undefined,
          ),
        );
      }
      return this.instanceOf(entity.symbol, args);
    }
    if (entity.kind === "binding") {
      const kind = repo.facts(entity.file).bindings.kind(entity.binding);
      if (kind === BindingKind.TypeParameter) {
        const id = parameterId(entity.file, entity.binding);
        return { kind: "parameter", id, file: entity.file, binding: entity.binding };
      }
      return unionOf(
        partsOf(this.typeOfBinding(entity.file, entity.binding)).map((part) =>
          part.kind === "class" ? this.instanceOf(part.symbol, args) : part.kind === "external" ? part : undefined,
        ),
      );
    }
    return entity.type.kind === "class" ? this.instanceOf(entity.type.symbol, args) : entity.type;
  }

  /** What a qualified name may mean, likeliest first. An alias is returned itself, not the type it stands for. */
  findQualified(file: number, row: TypeRow): readonly Entity[] {
    const { engine } = this;
    const facts = this.repo.facts(file);
    const name = facts.strings[facts.types.member(row)]!;
    const left = this.resolveQualifier(file, facts.types.qualifier(row));
    if (left?.kind === "external") return [EXTERNAL_ENTITY];
    if (left?.kind !== "module")
      return engine.members.find(left, name).members.map(({ symbol }) => ({ kind: "symbol", symbol, via: "member" }));
    for (const target of left.files) {
      const found = engine.exports.findExport(target, name, "type");
      if (found) return [found];
    }
    return NOTHING;
  }

  private resolveQualified(file: number, row: TypeRow): ValueType | undefined {
    const args = this.typesAt(file, this.repo.facts(file).types.args(row));
    for (const entity of this.findQualified(file, row)) {
      const found = this.toType(entity, args);
      if (found) return found;
    }
    return undefined;
  }

  /** The left side of `A.B`: a module, name space or class, but not an instance. */
  private resolveQualifier(file: number, row: TypeRow): ValueType | undefined {
    const { engine, repo } = this;
    if (isNone(row)) return undefined;
    const facts = repo.facts(file);
    if (facts.types.op(row) === Type.Qualified) {
      const left = this.resolveQualifier(file, facts.types.qualifier(row));
      return left ? engine.members.typeOfMember(left, facts.strings[facts.types.member(row)]!) : undefined;
    }
    if (facts.types.op(row) !== Type.Ref) return this.typeAt(file, row);
    const scope = facts.types.scope(row);
    const name = facts.types.name(row);
    const entity = engine.names.lookUp(file, scope, name, "value") ?? engine.names.lookUp(file, scope, name, "type");
    const text = facts.strings[name]!;
    const left: ValueType | undefined =
      !entity && repo.spaceExists(text) ? { kind: "space", name: text } : engine.types.typeOfEntity(entity);
    return left?.kind === "space" && repo.rules(file).includes ? { ...left, key: undefined, from: file } : left;
  }

  private resolveIndexed(file: number, row: TypeRow): ValueType | undefined {
    const { engine } = this;
    const facts = this.repo.facts(file);
    const object = this.typeAt(file, facts.types.object(row));
    const key = facts.types.key(row);
    return isNone(key)
      ? engine.expressions.elementOf(object)
      : engine.members.typeOfMember(object, facts.strings[key]!);
  }

  /** The union of both results. `infer` names stand for the parts of the checked type that are in their place. */
  private resolveConditional(file: number, row: TypeRow): ValueType | undefined {
    const { bindings, types } = this.repo.facts(file);
    const results = unionOf(this.typesAt(file, types.results(row)));
    const inferred = this.findInferredNames(file, results);
    if (inferred.size === 0) return results;
    const env = new TypeBindings();
    this.engine.unifier.unify(
      this.typeAt(file, types.pattern(row)),
      this.typeAt(file, types.checked(row)),
      env,
      inferred,
      true,
    );
    for (const id of inferred) {
      const bound = env.has(id) ? undefined : this.typeAt(file, bindings.constraint(parameterOf(file, id)));
      if (bound) env.bindType(id, bound);
    }
    return substitute(results, env);
  }

  /** The type parameters among these types that `infer` declared. */
  private findInferredNames(file: number, type: ValueType | undefined): Set<number> {
    const { bindings, scopes } = this.repo.facts(file);
    const own = partsOf(type).filter(
      (part) =>
        part.kind === "parameter" &&
        exists(part.binding) &&
        part.file === file &&
        scopes.kind(bindings.scope(part.binding)) === ScopeKind.Block,
    );
    return new Set(own.flatMap((part) => (part.kind === "parameter" ? [part.id] : [])));
  }

  private findType(file: number, row: TypeRow): ValueType | undefined {
    const { repo } = this;
    const { scopes, strings, types } = repo.facts(file);
    switch (types.op(row)) {
      case Type.Ref:
        return this.resolveRef(file, row);
      case Type.Qualified:
        return this.resolveQualified(file, row);
      case Type.Union:
      case Type.Intersection:
        return unionOf(this.typesAt(file, types.list(row)));
      case Type.Array:
        return createBuiltin("Array", this.typeAt(file, types.element(row)));
      case Type.Tuple:
        return createBuiltin("Tuple", ...this.typesAt(file, types.list(row)));
      case Type.Function:
        return { kind: "function", symbol: repo.symbolAt(file, types.symbol(row)), env: undefined, self: undefined };
      case Type.Object:
        return { kind: "instance", symbol: repo.symbolAt(file, types.symbol(row)), env: undefined, open: true };
      case Type.TypeOf:
        return this.engine.expressions.typeAt(file, types.expr(row));
      case Type.This: {
        const scope = types.thisScope(row);
        const owner = isNone(scope) ? NONE : scopes.symbol(scope);
        return isNone(owner)
          ? undefined
          : { kind: "parameter", id: THIS_ID, file: repo.symbolAt(file, owner), binding: NONE };
      }
      case Type.Literal:
        return createBuiltin(strings[types.name(row)]!, ...this.typesAt(file, types.literalArgs(row)));
      case Type.Indexed:
        return this.resolveIndexed(file, row);
      case Type.Conditional:
        return this.resolveConditional(file, row);
      case Type.KeyOf:
        return createBuiltin("string");
      default:
        return undefined;
    }
  }

  private typesAt(file: number, list: TypeList): (ValueType | undefined)[] {
    return mapRows(this.repo.facts(file).lists.items(list), (row) => this.typeAt(file, row));
  }

  /** The type of a type row. Type parameters stand for themselves. */
  typeAt(file: number, row: TypeRow): ValueType | undefined {
    if (isNone(row)) return undefined;
    return this.typeMemo.of(file, row);
  }

  typeOfEntity(entity: Entity | undefined): ValueType | undefined {
    if (!entity) return undefined;
    switch (entity.kind) {
      case "symbol":
        return this.typeOfSymbol(entity.symbol);
      case "binding":
        return this.typeOfBinding(entity.file, entity.binding);
      case "type":
        return entity.type;
      case "external":
        return EXTERNAL;
    }
  }

  private findTypeOfSymbol(symbol: number): ValueType | undefined {
    const { engine, repo } = this;
    const file = repo.fileOf(symbol);
    const flags = repo.flags(symbol);
    switch (repo.label(symbol)) {
      case "Function":
      case "Method":
        return { kind: "function", symbol, env: undefined, self: undefined };
      case "Namespace": {
        const space = repo.spaceOf(symbol);
        return space === undefined ? { kind: "class", symbol, env: undefined } : { kind: "space", name: space };
      }
      case "TypeAlias": {
        // A declared type with another type's shape is a class. An alias stands for its type.
        if (isNone(repo.column(symbol, "type"))) return { kind: "class", symbol, env: undefined };
        return unionOf(
          partsOf(this.typeAt(file, repo.column(symbol, "type"))).map((part) =>
            part.kind === "instance" ? { kind: "class", symbol: part.symbol, env: part.env } : undefined,
          ),
        );
      }
      case "Class":
      case "Struct":
      case "Enum":
      case "Trait":
      case "Interface":
        return { kind: "class", symbol, env: undefined };
      case "Property":
      case "Const":
      case "Variable": {
        if (flags & SymbolFlag.EnumMember) {
          const owner = repo.parent(symbol);
          return owner < 0 ? undefined : engine.types.instanceOf(owner, []);
        }
        if (flags & SymbolFlag.Getter) return engine.calls.returnTypeOf(symbol);
        const declared = this.typeAt(file, repo.column(symbol, "type"));
        if (declared) return declared;
        if (exists(repo.column(symbol, "inner")) && exists(repo.column(symbol, "parameters")))
          return this.typeOfSetter(symbol, file);
        const value = repo.column(symbol, "value");
        const given = exists(value) ? engine.expressions.typeAt(file, value) : undefined;
        return given && !this.isEmpty(file, value)
          ? given
          : unionOf([given, engine.assignments.typeAssignedTo(symbol)]);
      }
      default:
        return undefined;
    }
  }

  /** Whether a first value says nothing of the type (`null`, `undefined`): later assignments say more. */
  private isEmpty(file: number, value: ExprRow): boolean {
    const { repo } = this;
    const facts = repo.facts(file);
    const op = facts.exprs.op(value);
    const a = facts.exprs.name(value);
    return (
      (op === Expr.Literal && facts.strings[a] === "null") ||
      (op === Expr.Name && facts.strings[a] === repo.rules(file).emptyName)
    );
  }

  private typeOfSetter(symbol: number, file: number): ValueType | undefined {
    const { repo } = this;
    const [first] = repo.facts(file).lists.items(repo.column(symbol, "parameters"));
    return first === undefined ? undefined : this.typeOfBinding(file, first);
  }

  typeOfSymbol(symbol: number): ValueType | undefined {
    return this.symbolMemo.of(symbol);
  }

  typeOfBinding(file: number, binding: BindingRow): ValueType | undefined {
    return this.bindingMemo.of(file, binding);
  }

  /** Forgets the types of a file's bindings. */
  forgetFile(file: number): void {
    this.bindingMemo.forget(file);
  }

  private findTypeOfBinding(file: number, binding: BindingRow): ValueType | undefined {
    const { engine, repo } = this;
    const { bindings } = repo.facts(file);
    if (bindings.kind(binding) === BindingKind.Symbol)
      return this.typeOfSymbol(repo.symbolAt(file, bindings.symbol(binding)));
    const declared = this.typeAt(file, bindings.type(binding));
    if (declared) return declared;
    const value = bindings.value(binding);
    const given = exists(value) ? engine.expressions.typeAt(file, value) : undefined;
    if (given && !this.isEmpty(file, value)) return given;
    return unionOf([given, engine.assignments.typeAssignedToBinding(file, binding)]);
  }
}
