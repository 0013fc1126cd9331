/**
 * The libraries of the repository's languages, for resolution. Language modules give the names. A type's name means
 * the same in all of them, because values cross from one to another; methods are looked up in the calling file's
 * language.
 */
import type { LanguageModule } from "../../language/language.ts";
import { SHARED_TYPES } from "../../language/library.ts";
import type { Engine } from "../engine.ts";
import { builtin, partsOf, unionOf, type ValueType } from "./value-type.ts";

type Builtin = ValueType & { kind: "builtin" };
type Given = () => ValueType | undefined;
type Argument = (index: number) => ValueType | undefined;

export interface Library {
  /** The type that a library name stands for. Never undefined: an unknown name is at least not of the repository. */
  named(language: LanguageModule, name: string, args: readonly (ValueType | undefined)[]): ValueType | undefined;
  /** Whether a member of this name gives what a cell holds: `ref.current`, `signal.value`. */
  isCellMember(name: string): boolean;
  /** Whether a library value may hold values of the repository, though its type does not say so. */
  holdsOthers(type: Builtin): boolean;
  /** The type of a record's members; undefined for any other type. */
  memberOf(type: Builtin): ValueType | undefined;
  /** A container whose constructor was given its elements; undefined if the constructor takes none. */
  copied(language: LanguageModule, name: string, from: ValueType | undefined): ValueType | undefined;
  /** The element that a value yields when it is iterated, or indexed by number. */
  element(type: ValueType): ValueType | undefined;
  /** The value behind a key: like the element, but of maps the value. */
  indexed(type: ValueType, key: string | undefined): ValueType | undefined;
  awaited(type: ValueType): ValueType | undefined;
  /** The result of a method; `callback` is what a function argument returns. */
  methodCall(
    language: LanguageModule,
    receiver: ValueType,
    method: string,
    callback: Given,
    argument: Argument,
  ): ValueType | undefined;
  /** The type of parameter `parameter` of a function passed to a method. */
  callback(language: LanguageModule, receiver: ValueType, method: string, parameter: number): ValueType | undefined;
  /** The result of a function of the library's own objects, named `Owner.name`. */
  staticCall(language: LanguageModule, name: string, argument: Argument, callback: Given): ValueType | undefined;
}

export function createLibrary(engine: Engine): Library {
  const meanings = new Map<string, string>(SHARED_TYPES);
  for (const language of new Set(engine.repo.files.map((file) => file.language)))
    for (const [name, meaning] of language.library.types) if (!meanings.has(name)) meanings.set(name, meaning);

  const cellMembers = new Set<string>();
  for (const language of new Set(engine.repo.files.map((file) => file.language)))
    for (const name of language.library.holders ?? []) cellMembers.add(name);

  const shapeOf = ({ name }: Builtin): "sequence" | "map" | "promise" | undefined => {
    const meaning = meanings.get(name);
    if (meaning === "dictionary" || meaning === "record") return "map";
    return meaning === "sequence" || meaning === "map" || meaning === "promise" ? meaning : undefined;
  };

  function element(type: ValueType): ValueType | undefined {
    if (type.kind !== "builtin") return undefined;
    if (type.name === "Tuple") return unionOf(type.args);
    switch (meanings.get(type.name)) {
      case "sequence":
      case "dictionary":
        return type.args[0];
      case "map":
        return builtin("Tuple", type.args[0], type.args[1]);
      case "record":
        return type.args[1];
      default:
        return type.name === "string" ? type : undefined;
    }
  }

  function awaited(type: ValueType): ValueType | undefined {
    if (type.kind !== "builtin" || shapeOf(type) !== "promise") return type;
    return type.args[0];
  }

  const elementsOf = (type: ValueType | undefined) => unionOf(partsOf(type).map((part) => element(part) ?? part));
  const sequence = (of: ValueType | undefined) => builtin("Array", of);
  const promise = (of: ValueType | undefined) => builtin("Promise", of && awaited(of));

  function methodCall(
    { library }: LanguageModule,
    receiver: ValueType,
    method: string,
    callback: Given,
    argument: Argument,
  ): ValueType | undefined {
    if (receiver.kind !== "builtin") return undefined;
    const shape = shapeOf(receiver);
    const inner = element(receiver);
    switch (shape && library.methods[shape].get(method)) {
      case "same":
      case "sorted":
        return sequence(inner);
      case "element":
        return inner;
      case "mapped":
        return sequence(callback());
      case "flatMapped":
        return sequence(elementsOf(callback()));
      case "flat":
        return sequence(inner && (element(inner) ?? inner));
      case "numbered":
        return sequence(builtin("Tuple", builtin("number"), inner));
      case "zipped":
        return sequence(builtin("Tuple", inner, argument(0) && element(argument(0)!)));
      case "seed":
        return argument(0);
      case "reduced":
        return unionOf([argument(1), callback()]) ?? inner;
      case "receiver":
        return receiver;
      case "string":
        return builtin("string");
      case "value":
        return receiver.args[1];
      case "values":
        return sequence(receiver.args[1]);
      case "keys":
        return sequence(receiver.args[0]);
      case "entries":
        return sequence(builtin("Tuple", receiver.args[0], receiver.args[1]));
      case "chained":
        return promise(callback());
    }
    if (receiver.name !== "string") return undefined;
    return library.stringLists?.has(method) ? sequence(builtin("string")) : builtin("string");
  }

  function staticCall({ library }: LanguageModule, name: string, argument: Argument, callback: Given) {
    const first = () => argument(0);
    switch (library.statics.get(name)) {
      case "promise":
        return builtin("Promise", engine.awaited(first()));
      case "promiseOfAll": {
        const list = first();
        if (list?.kind === "builtin" && list.name === "Tuple")
          return builtin("Promise", builtin("Tuple", ...list.args.map((arg) => engine.awaited(arg))));
        return builtin("Promise", sequence(engine.awaited(engine.elementType(list))));
      }
      case "promiseOfElement":
        return builtin("Promise", engine.awaited(engine.elementType(first())));
      case "elements":
        return sequence(engine.elementType(first()));
      case "entries":
        return sequence(builtin("Tuple", builtin("string"), engine.elementType(first())));
      case "either":
        return unionOf([first(), argument(1)]);
      case "first":
        return first();
      case "sequenceFrom":
        return sequence(callback() ?? engine.elementType(first()));
      case "sequenceOf":
        return sequence(first());
      default:
        return undefined;
    }
  }

  return {
    element,
    awaited,
    methodCall,
    staticCall,
    named({ library }, name, args) {
      switch (library.types.get(name)) {
        case "first":
          return args[0];
        case "union":
          return unionOf(args);
        case "result":
          return engine.callResult(args[0], undefined);
        case "instance":
          return unionOf(
            partsOf(args[0]).map((part) => (part.kind === "class" ? engine.instanceOf(part.symbol, []) : undefined)),
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
    },
    memberOf: (type) => (meanings.get(type.name) === "record" ? type.args[1] : undefined),
    copied({ library }, name, from) {
      if (!library.copies?.has(name)) return undefined;
      const inner = unionOf(partsOf(from).map((part) => engine.elementType(part)));
      if (library.types.get(name) !== "map") return builtin(name, inner);
      return inner?.kind === "builtin" && inner.name === "Tuple" ? builtin(name, ...inner.args) : builtin(name);
    },
    isCellMember: (name) => cellMembers.has(name),
    holdsOthers: (type) => type.args.length > 0 || shapeOf(type) !== undefined,
    indexed(type, key) {
      if (type.kind !== "builtin") return undefined;
      if (type.name === "Tuple" && key !== undefined) return type.args[Number(key)] ?? undefined;
      return shapeOf(type) === "map" ? type.args[1] : element(type);
    },
    callback({ library }, receiver, method, parameter) {
      if (receiver.kind !== "builtin") return undefined;
      const shape = shapeOf(receiver);
      const result = shape && library.methods[shape].get(method);
      if (shape === "promise") return result === "chained" && parameter === 0 ? receiver.args[0] : undefined;
      if (shape === "map") return result === "visited" ? receiver.args[parameter === 0 ? 1 : 0] : undefined;
      const inner = element(receiver);
      if (result === "reduced") return parameter === 1 ? inner : undefined;
      if (result === "sorted") return inner;
      return parameter === 0 ? inner : parameter === 2 ? receiver : undefined;
    },
  };
}
