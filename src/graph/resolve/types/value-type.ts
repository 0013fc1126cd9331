/**
 * The type of an expression, as far as resolution needs it. Undefined means unknown. `external` means that the value
 * comes from outside of the repository, so that its members must not be guessed.
 */

import { SHARED_TYPES } from "../../language/library.ts";
import { type BindingRow, NOTHING, rowAt } from "../../rows.ts";
import { TypeBindings } from "./type-bindings.ts";

/** The types that type parameters stand for. */
export type TypeEnv = Omit<TypeBindings, "bindType">;

export type ValueType = Shape & {
  /** The `typeKey` of the type, once it was computed. */
  key?: string | undefined;
};

type Shape =
  /**
   * An instance of a class, interface, struct, enum, object or type literal. `env` holds its type arguments. If `open`,
   * it is a literal, which also uses the type parameters around it.
   */
  | { kind: "instance"; symbol: number; env: TypeEnv | undefined; open: boolean }
  /** A class, enum or name space itself. */
  | { kind: "class"; symbol: number; env: TypeEnv | undefined }
  /** A function or method, with the known type parameters and its receiver. */
  | { kind: "function"; symbol: number; env: TypeEnv | undefined; self: ValueType | undefined }
  /**
   * A module whose files share one set of names. If `folder` is set, the modules in that folder are names of it as
   * well.
   */
  | { kind: "module"; files: readonly number[]; folder?: string }
  /** A name space. `from` is the file that names it, in languages where a file sees only what it includes. */
  | { kind: "space"; name: string; from?: number }
  /** A type of the language's own library. */
  | { kind: "builtin"; name: string; args: readonly (ValueType | undefined)[] }
  | { kind: "union"; of: readonly ValueType[] }
  /** A type parameter that stands for itself, given by its file and binding row. */
  | { kind: "parameter"; id: number; file: number; binding: BindingRow }
  /** A value from outside the repository. `holds` is the type argument with which it was made: `useRef<T>()`. */
  | { kind: "external"; holds?: ValueType };

export const EXTERNAL: ValueType = { kind: "external" };
const NO_ARGS: readonly (ValueType | undefined)[] = [];
const MAX_UNION = 12;
const MAX_DEPTH = 4;
/** Types that differ only at greater depth count as equal. */
const MAX_KEY_DEPTH = 2;

export function createBuiltin(name: string, ...args: (ValueType | undefined)[]): ValueType {
  return { kind: "builtin", name, args: args.length === 0 ? NO_ARGS : args };
}

/** A text that is equal for equal types, up to the depth to which types are compared. */
export function typeKey(type: ValueType | undefined, depth = 0): string {
  if (!type) return "?";
  if (depth > 0) return makeKey(type, depth);
  type.key ??= makeKey(type, 0);
  return type.key;
}

function makeKey(type: ValueType, depth: number): string {
  switch (type.kind) {
    case "instance":
    case "class":
      return `${type.kind[0]}${type.symbol}<${envKey(type.env, depth)}>`;
    case "function":
      return `f${type.symbol}${type.self ? `@${typeKey(type.self, depth + 1)}` : ""}`;
    case "module":
      return `m${type.files.join()}${type.folder ?? ""}`;
    case "space":
      return `s${type.name}@${type.from ?? ""}`;
    case "builtin":
      return depth >= MAX_KEY_DEPTH || type.args.length === 0
        ? `b${type.name}`
        : `b${type.name}<${keysOf(type.args, depth).join()}>`;
    case "union":
      return keysOf(type.of, depth).join("|");
    case "parameter":
      return `p${type.id}`;
    case "external":
      return type.holds && depth < MAX_KEY_DEPTH ? `x<${typeKey(type.holds, depth + 1)}>` : "x";
  }
}

const keysOf = (types: readonly (ValueType | undefined)[], depth: number): string[] =>
  types.map((type) => typeKey(type, depth + 1));

const envKey = (env: TypeEnv | undefined, depth: number): string =>
  env && depth < MAX_KEY_DEPTH ? envText(env, depth) : "";

function envText(env: TypeEnv, depth: number): string {
  let text = "";
  env.forEach((value, key) => {
    text += `${key}:${typeKey(value, depth + 1)},`;
  });
  return text;
}

function throughEnv(inner: TypeEnv, outer: TypeEnv, depth: number): TypeEnv {
  const seen = new TypeBindings();
  inner.forEach((value, key) => {
    const type = substitute(value, outer, depth + 1);
    if (type) seen.bindType(key, type);
  });
  return seen;
}

/** The union of types. Undefined members, and types that have no values, are left out. */
export function unionOf(types: readonly (ValueType | undefined)[]): ValueType | undefined {
  if (types.length === 1) return isNothing(types[0]) ? undefined : types[0];
  const seen = new Map<string, ValueType>();
  for (const type of types) addParts(seen, type);
  if (seen.size === 0) return undefined;
  const of = [...seen.values()];
  return of.length === 1 ? of[0] : { kind: "union", of };
}

function addParts(seen: Map<string, ValueType>, type: ValueType | undefined): void {
  if (!type || seen.size >= MAX_UNION) return;
  if (type.kind === "union") for (const part of type.of) addParts(seen, part);
  else if (!isNothing(type)) seen.set(typeKey(type), type);
}

const isNothing = (type: ValueType | undefined): boolean =>
  type?.kind === "builtin" && SHARED_TYPES.get(type.name) === "nothing";

/** The members of a union, or the type alone. */
export function partsOf(type: ValueType | undefined): readonly ValueType[] {
  return !type ? NOTHING : type.kind === "union" ? type.of : [type];
}

/** How deep a type is searched for type parameters. */
const MAX_LOOK = 3;

/** Whether a type certainly contains no type parameter that an environment could replace. */
export function isClosed(type: ValueType | undefined, depth = 0): boolean {
  switch (type?.kind) {
    case "instance":
      return !type.open && areClosed(type.env?.values() ?? NOTHING, depth);
    case "class":
      return areClosed(type.env?.values() ?? NOTHING, depth);
    case "builtin":
      return areClosed(type.args, depth);
    case "union":
      return areClosed(type.of, depth);
    case "parameter":
    case "function":
      return false;
    case "external":
      return !type.holds || isClosed(type.holds, depth + 1);
    default:
      return true;
  }
}

function areClosed(types: readonly (ValueType | undefined)[], depth: number): boolean {
  if (types.length === 0) return true;
  if (depth > MAX_LOOK) return false;
  for (const type of types) if (!isClosed(type, depth + 1)) return false;
  return true;
}

/** Replaces type parameters by the types that the environment has for them. Unknown ones stay. */
export function substitute(type: ValueType | undefined, env: TypeEnv | undefined, depth = 0): ValueType | undefined {
  if (!type || !env || env.size === 0 || depth > MAX_DEPTH) return type;
  switch (type.kind) {
    case "parameter":
      return env.get(type.id) ?? type;
    case "instance":
      if (type.open) return { ...type, key: undefined, env: mergeEnv(type.env, env, depth) };
      return type.env ? { ...type, key: undefined, env: throughEnv(type.env, env, depth) } : type;
    case "class":
      return type.env ? { ...type, key: undefined, env: throughEnv(type.env, env, depth) } : type;
    case "builtin":
      if (type.args.length === 0) return type;
      return { ...type, key: undefined, args: substituteAll(type.args, env, depth) };
    case "union":
      return unionOf(substituteAll(type.of, env, depth));
    case "external":
      return type.holds ? { kind: "external", holds: substitute(type.holds, env, depth + 1) ?? type.holds } : type;
    case "function":
      return {
        ...type,
        key: undefined,
        env: mergeEnv(type.env, env, depth),
        self: substitute(type.self, env, depth + 1),
      };
    default:
      return type;
  }
}

const substituteAll = (types: readonly (ValueType | undefined)[], env: TypeEnv, depth: number) =>
  types.map((type) => substitute(type, env, depth + 1));

/** Combines two environments: that of `inner`, whose types are seen through `outer`, and `outer` itself. */
export function mergeEnv(inner: TypeEnv | undefined, outer: TypeEnv | undefined, depth = 0): TypeEnv | undefined {
  if (!inner || inner.size === 0) return outer;
  return !outer || outer.size === 0 ? inner : joinEnvs(inner, outer, depth);
}

function joinEnvs(inner: TypeEnv, outer: TypeEnv, depth: number): TypeEnv {
  const merged = outer.copy();
  inner.forEach((value, key) => {
    const seen = substitute(value, outer, depth + 1);
    if (seen) merged.bindType(key, seen);
  });
  return merged;
}

/** The id of the type parameter that stands for the receiver: `this`, `Self`. */
export const THIS_ID = -1;

/** More bindings than a file can have, as files are at most 1 MiB large. */
const BINDINGS = 1_000_000;

/** A number for a type parameter that is unique in the repository. */
export function parameterId(file: number, binding: BindingRow): number {
  return file * BINDINGS + binding;
}

/** The binding of a type parameter of this file. */
export const parameterOf = (file: number, id: number): BindingRow => rowAt(id - file * BINDINGS);

/** The environment, extended by the receiver's own type. */
export function withSelf(env: TypeEnv | undefined, self: ValueType | undefined): TypeEnv | undefined {
  if (!self) return env;
  const seen = env?.copy() ?? new TypeBindings();
  seen.bindType(THIS_ID, self);
  return seen;
}
