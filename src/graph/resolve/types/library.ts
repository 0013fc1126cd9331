/**
 * Knowledge of the libraries of the repository's languages, which the language modules provide. The name of a type has
 * one meaning in all languages, because values cross from one to another. Methods are looked up in the calling file's
 * language.
 */
import type { LanguageModule } from "../../language/language.ts";
import { SHARED_TYPES } from "../../language/library.ts";
import type { Engine } from "../engine.ts";
import { createBuiltin, partsOf, unionOf, type ValueType } from "./value-type.ts";

type Builtin = ValueType & { kind: "builtin" };
type Given = () => ValueType | undefined;
type Argument = (index: number) => ValueType | undefined;

export class Library {
  /** What the names of library types mean. */
  private readonly meanings = new Map<string, string>(SHARED_TYPES);
  /** Names of members that return the value which a cell holds. */
  private readonly cellMembers = new Set<string>();

  constructor(private readonly engine: Engine) {
    for (const { library } of engine.repo.languages) {
      for (const [name, meaning] of library.types) if (!this.meanings.has(name)) this.meanings.set(name, meaning);
      for (const name of library.holders ?? []) this.cellMembers.add(name);
    }
  }

  private shapeOf({ name }: Builtin): "sequence" | "map" | "promise" | undefined {
    const meaning = this.meanings.get(name);
    if (meaning === "dictionary" || meaning === "record") return "map";
    return meaning === "sequence" || meaning === "map" || meaning === "promise" ? meaning : undefined;
  }

  /** The type of the elements when a value is iterated, or indexed by a number. */
  elementOf(type: ValueType): ValueType | undefined {
    if (type.kind !== "builtin") return undefined;
    if (type.name === "Tuple") return unionOf(type.args);
    switch (this.meanings.get(type.name)) {
      case "sequence":
      case "dictionary":
        return type.args[0];
      case "map":
        return createBuiltin("Tuple", type.args[0], type.args[1]);
      case "record":
        return type.args[1];
      default:
        return type.name === "string" ? type : undefined;
    }
  }

  awaitType(type: ValueType): ValueType | undefined {
    if (type.kind !== "builtin" || this.shapeOf(type) !== "promise") return type;
    return type.args[0];
  }

  private elementsOf(type: ValueType | undefined): ValueType | undefined {
    return unionOf(partsOf(type).map((part) => this.elementOf(part) ?? part));
  }

  private makeSequence(of: ValueType | undefined): ValueType {
    return createBuiltin("Array", of);
  }

  private makePromise(of: ValueType | undefined): ValueType {
    return createBuiltin("Promise", of && this.awaitType(of));
  }

  /** The result of a method. `callback` gives the return type of a function that is passed as an argument. */
  callMethod(
    { library }: LanguageModule,
    receiver: ValueType,
    method: string,
    callback: Given,
    argument: Argument,
  ): ValueType | undefined {
    if (receiver.kind !== "builtin") return undefined;
    const shape = this.shapeOf(receiver);
    const inner = this.elementOf(receiver);
    switch (shape && library.methods[shape].get(method)) {
      case "same":
      case "sorted":
        return this.makeSequence(inner);
      case "element":
        return inner;
      case "mapped":
        return this.makeSequence(callback());
      case "flatMapped":
        return this.makeSequence(this.elementsOf(callback()));
      case "flat":
        return this.makeSequence(inner && (this.elementOf(inner) ?? inner));
      case "numbered":
        return this.makeSequence(createBuiltin("Tuple", createBuiltin("number"), inner));
      case "zipped":
        return this.makeSequence(createBuiltin("Tuple", inner, argument(0) && this.elementOf(argument(0)!)));
      case "seed":
        return argument(0);
      case "reduced":
        return unionOf([argument(1), callback()]) ?? inner;
      case "receiver":
        return receiver;
      case "string":
        return createBuiltin("string");
      case "value":
        return receiver.args[1];
      case "values":
        return this.makeSequence(receiver.args[1]);
      case "keys":
        return this.makeSequence(receiver.args[0]);
      case "entries":
        return this.makeSequence(createBuiltin("Tuple", receiver.args[0], receiver.args[1]));
      case "chained":
        return this.makePromise(callback());
    }
    if (receiver.name !== "string") return undefined;
    return library.stringLists?.has(method) ? this.makeSequence(createBuiltin("string")) : createBuiltin("string");
  }

  /** The result of a static function of the library, named `Owner.name`. */
  callStatic({ library }: LanguageModule, name: string, argument: Argument, callback: Given): ValueType | undefined {
    const { engine } = this;
    const typeFirst = () => argument(0);
    switch (library.statics.get(name)) {
      case "promise":
        return createBuiltin("Promise", engine.expressions.awaitType(typeFirst()));
      case "promiseOfAll": {
        const list = typeFirst();
        if (list?.kind === "builtin" && list.name === "Tuple")
          return createBuiltin(
            "Promise",
            createBuiltin("Tuple", ...list.args.map((arg) => engine.expressions.awaitType(arg))),
          );
        return createBuiltin(
          "Promise",
          this.makeSequence(engine.expressions.awaitType(engine.expressions.elementOf(list))),
        );
      }
      case "promiseOfElement":
        return createBuiltin("Promise", engine.expressions.awaitType(engine.expressions.elementOf(typeFirst())));
      case "elements":
        return this.makeSequence(engine.expressions.elementOf(typeFirst()));
      case "entries":
        return this.makeSequence(
          createBuiltin("Tuple", createBuiltin("string"), engine.expressions.elementOf(typeFirst())),
        );
      case "either":
        return unionOf([typeFirst(), argument(1)]);
      case "first":
        return typeFirst();
      case "sequenceFrom":
        return this.makeSequence(callback() ?? engine.expressions.elementOf(typeFirst()));
      case "sequenceOf":
        return this.makeSequence(typeFirst());
      default:
        return undefined;
    }
  }

  /**
   * The type that a library name stands for. An unknown name gives a builtin type too, as it is not of the repository.
   */
  typeNamed(
    { library }: LanguageModule,
    name: string,
    args: readonly (ValueType | undefined)[],
  ): ValueType | undefined {
    const { engine } = this;
    switch (library.types.get(name)) {
      case "first":
        return args[0];
      case "union":
        return unionOf(args);
      case "result":
        return engine.calls.resultOf(args[0], undefined);
      case "instance":
        return unionOf(
          partsOf(args[0]).map((part) =>
            part.kind === "class" ? engine.types.instanceOf(part.symbol, []) : undefined,
          ),
        );
      case "class":
        return unionOf(
          partsOf(args[0]).map((part) =>
            part.kind === "instance" ? { kind: "class", symbol: part.symbol, env: part.env } : part,
          ),
        );
      default:
        return { kind: "builtin", name, args };
    }
  }

  /** The type of a record's members; undefined for any other type. */
  memberOf(type: Builtin): ValueType | undefined {
    return this.meanings.get(type.name) === "record" ? type.args[1] : undefined;
  }

  /** The type of a container whose constructor was given its elements; undefined if the constructor takes none. */
  copy({ library }: LanguageModule, name: string, from: ValueType | undefined): ValueType | undefined {
    if (!library.copies?.has(name)) return undefined;
    const inner = unionOf(partsOf(from).map((part) => this.engine.expressions.elementOf(part)));
    if (library.types.get(name) !== "map") return createBuiltin(name, inner);
    return inner?.kind === "builtin" && inner.name === "Tuple"
      ? createBuiltin(name, ...inner.args)
      : createBuiltin(name);
  }

  /** Whether a member with this name returns the value that a cell holds: `ref.current`, `signal.value`. */
  isCellMember(name: string): boolean {
    return this.cellMembers.has(name);
  }

  /** Whether a library value may hold values of the repository, even if its type does not say so. */
  holdsOthers(type: Builtin): boolean {
    return type.args.length > 0 || this.shapeOf(type) !== undefined;
  }

  /** The type of the value at a key or index. For maps it is the value type, otherwise the element type. */
  indexInto(type: ValueType, key: string | undefined): ValueType | undefined {
    if (type.kind !== "builtin") return undefined;
    if (type.name === "Tuple" && key !== undefined) return type.args[Number(key)] ?? undefined;
    return this.shapeOf(type) === "map" ? type.args[1] : this.elementOf(type);
  }

  /** The type of parameter `parameter` of a function passed to a method. */
  typeOfCallback(
    { library }: LanguageModule,
    receiver: ValueType,
    method: string,
    parameter: number,
  ): ValueType | undefined {
    if (receiver.kind !== "builtin") return undefined;
    const shape = this.shapeOf(receiver);
    const result = shape && library.methods[shape].get(method);
    if (shape === "promise") return result === "chained" && parameter === 0 ? receiver.args[0] : undefined;
    if (shape === "map") return result === "visited" ? receiver.args[parameter === 0 ? 1 : 0] : undefined;
    const inner = this.elementOf(receiver);
    if (result === "reduced") return parameter === 1 ? inner : undefined;
    if (result === "sorted") return inner;
    return parameter === 0 ? inner : parameter === 2 ? receiver : undefined;
  }
}
