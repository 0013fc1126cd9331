/** C++: name spaces, classes whose members are defined elsewhere, overloads, templates, transparent smart pointers. */
import cppWasm from "tree-sitter-cpp/tree-sitter-cpp.wasm" with { type: "file" };
import type { LanguageModule } from "../language.ts";
import { C_FAMILY_LIBRARY } from "./builtins.ts";
import { withoutMacros } from "./macros.ts";
import { createIncludeResolver } from "./resolver.ts";
import { C_FAMILY_RULES } from "./rules.ts";
import { CFamilyWalk } from "./walk.ts";

export const cpp: LanguageModule = {
  id: "cpp",
  grammars: new Map([".cpp", ".cc", ".cxx", ".hpp", ".hh"].map((ending) => [ending, cppWasm])),
  rules: C_FAMILY_RULES,
  library: C_FAMILY_LIBRARY,
  configNames: [],
  prepare: withoutMacros,
  extract: (tree, facts) => new CFamilyWalk(tree, facts).file(),
  createResolver: createIncludeResolver,
};
