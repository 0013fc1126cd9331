/**
 * C: declarations in headers stand for definitions elsewhere. Headers may belong to C++ too, so they are parsed as C++.
 */
import cWasm from "tree-sitter-c/tree-sitter-c.wasm" with { type: "file" };
import cppWasm from "tree-sitter-cpp/tree-sitter-cpp.wasm" with { type: "file" };
import type { LanguageModule } from "../language.ts";
import { C_FAMILY_LIBRARY } from "./builtins.ts";
import { withoutMacros } from "./macros.ts";
import { createIncludeResolver } from "./resolver.ts";
import { C_FAMILY_RULES } from "./rules.ts";
import { CFamilyWalk } from "./walk.ts";

export const c: LanguageModule = {
  id: "c",
  grammars: new Map([
    [".c", cWasm],
    [".h", cppWasm],
  ]),
  rules: C_FAMILY_RULES,
  library: C_FAMILY_LIBRARY,
  configNames: [],
  prepare: withoutMacros,
  extract: (tree, facts) => new CFamilyWalk(tree, facts).file(),
  createResolver: createIncludeResolver,
};
