/** C++: name spaces, classes whose members are defined elsewhere, overloads, templates, smart pointers seen through. */
import cppWasm from "tree-sitter-cpp/tree-sitter-cpp.wasm" with { type: "file" };
import { C_FAMILY_LIBRARY } from "./c-family/builtins.ts";
import { withoutMacros } from "./c-family/macros.ts";
import { createIncludeResolver } from "./c-family/resolver.ts";
import { C_FAMILY_RULES } from "./c-family/rules.ts";
import { CFamilyWalk } from "./c-family/walk.ts";
import type { LanguageModule } from "./language.ts";

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
