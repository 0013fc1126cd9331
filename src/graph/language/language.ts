/** The contract of a language module. README.md in this folder explains how to write one. */
import type { LanguageId } from "../model.ts";
import type { FactsBuilder } from "./facts-builder.ts";
import type { FlatTree } from "./flat-tree.ts";
import type { Conversions, LanguageLibrary } from "./library.ts";

/** The repository's files, as import resolvers see them. Paths are relative, with forward slashes. */
export interface ProjectFiles {
  /** Row of an indexed file, or -1. */
  fileAt(path: string): number;
  /** Rows of the indexed files directly in a folder ("" is the root). */
  filesIn(folder: string): readonly number[];
  /** Rows of the indexed files with this base name in any folder. */
  filesNamed(baseName: string): readonly number[];
  pathOf(file: number): string;
  folderExists(folder: string): boolean;
  /** Paths of configuration files with this base name in any folder (package.json, go.mod, …). */
  configsNamed(baseName: string): readonly string[];
  /** Text of a configuration file; undefined if it cannot be read. */
  readConfig(path: string): string | undefined;
  /** Whether some file declares the name space (FactsBuilder.space). */
  spaceExists(name: string): boolean;
}

/** The target of an import. */
export type ImportTarget =
  /** A file. Its exports are the module's names or, in languages without export lists, its top-level names. */
  | { kind: "file"; file: number }
  /** Several files that form one module, such as a Go package. */
  | { kind: "files"; files: readonly number[] }
  /** A name space, by its full name: a Java package, or a C# or PHP namespace. */
  | { kind: "space"; name: string }
  /** A class inside of a file or name space, given by `path`. Its members are the module's names. */
  | { kind: "inside"; file: number; space: string; path: readonly string[] }
  /** A folder whose files and folders are the names: a Python package without a file of its own. */
  | { kind: "folder"; folder: string }
  /** Outside of the repository. Names that are imported through it are never symbols of the repository. */
  | { kind: "external" };

/**
 * Resolves module names for one language. It is created once for each index and may keep caches, but no other state.
 */
export interface ImportResolver {
  /**
   * @param module the module text, as the facts have it
   * @param name the imported name; "*" or "" for the whole module
   * @param fromFile row of the importing file
   */
  resolve(module: string, name: string, fromFile: number): ImportTarget;
}

/** The imported name of an import that applies beyond its file. See `globalImports`. */
export const EVERYWHERE = "**";

/** The rules for names, as far as languages differ. */
export interface LanguageRules {
  /** Members of enclosing classes and of their bases are visible as plain names: Java, C#, C++. */
  implicitMembers: boolean;
  /** Only names in export lists are visible to other files (ES modules). Otherwise every top-level name is. */
  exportLists: boolean;
  /** Lookup in a name space continues in its parents: C#. */
  parentSpaces: boolean;
  /** Calling a class creates an instance: Python. */
  callConstructs: boolean;
  /** Names of functions, classes and methods ignore case: PHP. */
  ignoreCase: boolean;
  /** Name of the constructor, if SymbolFlag.Constructor does not mark it. */
  constructorName: string;
  /** Languages whose names are visible to this one, such as those of C to C++. */
  compatible: readonly LanguageId[];
  /**
   * Calls reach only functions, methods, and classes by `new` (with "constructors" also by `C(x)`), but never fields.
   */
  strictCalls?: "functions" | "constructors";
  /**
   * Modules are members of the folder that they are in. `index` is the file that represents a folder: Python's
   * packages.
   */
  packages?: { index: string; ending: string };
  /** Functions of one name are chosen by their arguments, which convert like this: Java, C#, C++. */
  overloads?: Conversions;
  /** Declarations in included files are visible, and a declaration stands for the definition of its name: C, C++. */
  includes?: boolean;
  /** A type may be declared in several parts, in several files of its name space: C#. */
  partialTypes?: boolean;
  /**
   * An import may apply to every file of a project (C#'s `global using`). The project is the import's folder or, if
   * that folder matches `folders`, the folder around it. The imported name is `EVERYWHERE`.
   */
  globalImports?: { folders: RegExp };
  /** An unresolved plain name may mean the only function of that name in the repository. */
  guessNames?: boolean;
  /** The method that is called by calling a value: Python's `__call__`, PHP's `__invoke`. */
  callMember?: string;
  /** The method that returns an iterator, and the iterator's method that returns the next element. */
  iteratorMember?: string;
  nextMember?: string;
  /** The method that is called by indexing a value. */
  indexMember?: string;
  /** Members that the language itself calls, so that sources need not mention them. */
  specialMembers?: RegExp;
  /** Names of functions and members that are called by the language, its library or a framework. */
  calledByName: RegExp;
  /**
   * Matches the signature of a type that extends or implements another: its methods may be called as the other type's.
   */
  heritage?: RegExp;
  /**
   * Types implement every interface whose methods they have, including those of the library (Go). These are the methods
   * of library interfaces by name. The value is another method which the type must have as well; it may be the same
   * name.
   */
  libraryMethods?: ReadonlyMap<string, string>;
  /** An undeclared name belongs to the runtime or to a star import, so its value comes from outside. */
  foreignNames?: boolean;
  /** A name that stands for no value: JavaScript's `undefined`. */
  emptyName?: string;
  /**
   * Values can get members by assignment. Functions create instances, which have the members of the function's property
   * `prototype` (JavaScript).
   */
  openValues?: { prototype: string };
  /** Instances have the members that methods assign to `this`, even if the class declares other members: JavaScript. */
  openInstances?: boolean;
  /** Declarations of one name in one scope form one type: interfaces and name spaces of TypeScript. */
  mergedTypes?: boolean;
  /** Names for the module itself as a value: CommonJS's `module` and `exports`. */
  moduleNames?: ReadonlySet<string>;
  /**
   * The name space of names that are declared for every file. `typed` maps variables to the type in it that they have.
   */
  globals?: { space: string; typed: ReadonlyMap<string, string> };
}

export interface LanguageModule {
  id: LanguageId;
  /** Wasm path of the grammar for each file ending. */
  grammars: ReadonlyMap<string, string>;
  rules: LanguageRules;
  /** The language's own library. */
  library: LanguageLibrary;
  /** Base names of the configuration files that the import resolver reads. */
  configNames: readonly string[];
  /** The text for the parser. Parts that it cannot read are blanked; all other characters keep their offsets. */
  prepare?(text: string): string;
  /**
   * The text for a second reading, if the grammar could not read all of it; undefined if there is no other way to read
   * it. The reading with fewer unread lines is used.
   */
  prepareAgain?(text: string): string | undefined;
  /** Writes the facts of a file. It must not throw on syntax errors. */
  extract(tree: FlatTree, facts: FactsBuilder): void;
  createResolver(project: ProjectFiles): ImportResolver;
}
