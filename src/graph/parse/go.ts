/** Go: packages are folders, methods stand outside their types, embedded fields lend their members. */
import goWasm from "tree-sitter-go/tree-sitter-go.wasm" with { type: "file" };
import { GO_LIBRARY } from "./go/builtins.ts";
import { createGoResolver } from "./go/resolver.ts";
import { GoWalk } from "./go/walk.ts";
import type { LanguageModule } from "./language.ts";

export const go: LanguageModule = {
  id: "go",
  grammars: new Map([[".go", goWasm]]),
  rules: {
    implicitMembers: false,
    exportLists: false,
    parentSpaces: false,
    callConstructs: true,
    submodules: false,
    ignoreCase: false,
    constructorName: "",
    compatible: ["go"],
    strictCalls: "functions",
  },
  library: GO_LIBRARY,
  configNames: ["go.mod", "go.work"],
  extract: (tree, facts) => new GoWalk(tree, facts).file(),
  createResolver: createGoResolver,
};
