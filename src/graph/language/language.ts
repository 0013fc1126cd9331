/**
 * The contract of a language module. How to write one: README.md in this folder.
 */
import type { LanguageId } from "../model.ts";
import type { FactsBuilder } from "./facts-builder.ts";
import type { FlatTree } from "./flat-tree.ts";
import type { Conversions, LanguageLibrary } from "./library.ts";

/** The repository's files as an import resolver may see them. Paths are relative, with forward slashes. */
export interface ProjectFiles {
  /** Row of an indexed file, or none. */
  fileAt(path: string): number;
  /** Indexed files directly in a folder ("" is the root). */
  filesIn(folder: string): readonly number[];
  /** Indexed files of that base name, anywhere. */
  filesNamed(baseName: string): readonly number[];
  pathOf(file: number): string;
  folderExists(folder: string): boolean;
  /** Paths of configuration files of that base name anywhere in the repository (package.json, go.mod, …). */
  configsNamed(baseName: string): readonly string[];
  /** Text of a configuration file, or undefined. */
  readConfig(path: string): string | undefined;
  /** True when some file declares that space (FactsBuilder.space). */
  spaceExists(name: string): boolean;
}

/** Where an import leads. */
export type ImportTarget =
  /** One file; its exports (or, without export lists, its top-level names) are the module's names. */
  | { kind: "file"; file: number }
  /** Several files that are one module: a Go package. */
  | { kind: "files"; files: readonly number[] }
  /** A namespace by its whole name: Java package, C# or PHP namespace. */
  | { kind: "space"; name: string }
  /** What stands inside a file or space: a class by `path`, whose members are the module's names. */
  | { kind: "inside"; file: number; space: string; path: readonly string[] }
  /** A folder whose files and folders are the names: a Python package without a file of its own. */
  | { kind: "folder"; folder: string }
  /** Outside the repository: nothing named through it can be one of ours. */
  | { kind: "external" };

/** Resolves module names of one language. Created once an index; must not keep state between files beyond caches. */
export interface ImportResolver {
  /**
   * @param module the module text as the facts give it
   * @param name the imported name, "*" or "" for the whole module
   * @param fromFile the importing file
   */
  resolve(module: string, name: string, fromFile: number): ImportTarget;
}

/** The imported name of an import that holds beyond its file. See `globalImports`. */
export const EVERYWHERE = "**";

/** How names behave, where languages differ. */
export interface LanguageRules {
  /** Members of enclosing classes (and their bases) are visible as plain names: Java, C#, C++. */
  implicitMembers: boolean;
  /** Only names in export tables are visible from other files (ES modules). Otherwise every top-level name is. */
  exportLists: boolean;
  /** A name space's parents are searched too: C#. */
  parentSpaces: boolean;
  /** Calling a class makes an instance: Python. */
  callConstructs: boolean;
  /** Case-insensitive function, class and method names: PHP. */
  ignoreCase: boolean;
  /** Name of the member that constructs, if it is not marked by SymbolFlag.Constructor. */
  constructorName: string;
  /** Languages whose names are visible to this one (C in C++). */
  compatible: readonly LanguageId[];
  /** Calls reach functions and methods, and classes by `new` (or, with "constructors", by `C(x)`): never a field. */
  strictCalls?: "functions" | "constructors";
  /** Modules are members of the folder they are in. `index` is the file that stands for a folder: Python's packages. */
  packages?: { index: string; ending: string };
  /** Functions of one name are distinguished by their arguments, which convert like this: Java, C#, C++. */
  overloads?: Conversions;
  /** What included files declare is visible, and a declaration stands for the definition of its name: C, C++. */
  includes?: boolean;
  /** A type may be declared in parts over several files of its name space: C#. */
  partialTypes?: boolean;
  /**
   * An import may hold for every file of a project, which is the folder it is in, or the one around a folder that is kept
   * for such files: C#'s `global using`. The imported name is `EVERYWHERE`.
   */
  globalImports?: { folders: RegExp };
  /** An unresolved plain name may be the repository's only function of that name. */
  guessNames?: boolean;
  /** The method that calling a value calls: Python's `__call__`, PHP's `__invoke`. */
  callMember?: string;
  /** The method that gives an iterator, and the method of an iterator that gives the next element. */
  iteratorMember?: string;
  nextMember?: string;
  /** The method that indexing a value calls. */
  indexMember?: string;
  /** Members that the language itself calls: sources need not mention them. */
  specialMembers?: RegExp;
  /** Functions and members that the language, its library or a framework calls by these names. */
  calledByName: RegExp;
  /** The signature of a type that extends or implements another: its methods may be called as that one's. */
  heritage?: RegExp;
  /**
   * Types implement every interface whose methods they have, also those of the library, which are these: each with one
   * that the type must have, too. Go.
   */
  libraryMethods?: ReadonlyMap<string, string>;
  /** An undeclared name belongs to the runtime or to a star import: its value comes from outside. */
  foreignNames?: boolean;
  /** A name that means no value: JavaScript's `undefined`. */
  emptyName?: string;
  /**
   * Values can get members by assignment. Functions make instances, which have the members of the function's member
   * `prototype`: JavaScript.
   */
  openValues?: { prototype: string };
  /** Instances have the members that methods assign to `this`, even if the class declares others: JavaScript. */
  openInstances?: boolean;
  /** Declarations of one name in one scope are one type: interfaces and name spaces of TypeScript. */
  mergedTypes?: boolean;
  /** Names of the module itself as a value: CommonJS's `module` and `exports`. */
  moduleNames?: ReadonlySet<string>;
  /** The space of names that are declared for every file, and variables whose type is declared there. */
  globals?: { space: string; typed: ReadonlyMap<string, string> };
}

export interface LanguageModule {
  id: LanguageId;
  /** File name endings with the wasm path of their grammar. */
  grammars: ReadonlyMap<string, string>;
  rules: LanguageRules;
  /** The language's own library. */
  library: LanguageLibrary;
  /** Base names of configuration files the import resolver wants to read. */
  configNames: readonly string[];
  /** The text for the parser, with unreadable parts blanked and every other character in its place. */
  prepare?(text: string): string;
  /**
   * The text for a second reading, where the grammar could not read all of it; undefined if there is no other way to
   * read it. Of both readings the one that left less unread counts.
   */
  prepareAgain?(text: string): string | undefined;
  /** Writes the facts of one file. Must not throw on syntax errors. */
  extract(tree: FlatTree, facts: FactsBuilder): void;
  createResolver(project: ProjectFiles): ImportResolver;
}
