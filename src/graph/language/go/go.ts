/** Go: packages are folders, methods are declared outside of their types, embedded fields provide their members. */
import goWasm from "tree-sitter-go/tree-sitter-go.wasm" with { type: "file" };
import type { LanguageModule } from "../language.ts";
import { GO_LIBRARY, GO_LIBRARY_METHODS } from "./builtins.ts";
import { createGoResolver } from "./resolver.ts";
import { GoWalk } from "./walk.ts";

export const go: LanguageModule = {
  id: "go",
  grammars: new Map([[".go", goWasm]]),
  rules: {
    implicitMembers: false,
    exportLists: false,
    parentSpaces: false,
    callConstructs: true,
    ignoreCase: false,
    constructorName: "",
    compatible: ["go"],
    strictCalls: "functions",
    calledByName: /^(main|init)$/,
    libraryMethods: GO_LIBRARY_METHODS,
  },
  library: GO_LIBRARY,
  configNames: ["go.mod", "go.work"],
  extract: (tree, facts) => new GoWalk(tree, facts).file(),
  createResolver: createGoResolver,
};
