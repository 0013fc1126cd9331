/** C#: name spaces and usings, partial types, extension methods, overloads by arguments. */
import csharpWasm from "tree-sitter-c-sharp/tree-sitter-c_sharp.wasm" with { type: "file" };
import type { LanguageModule } from "../language.ts";
import { C_SHARP_CONVERSIONS, C_SHARP_LIBRARY } from "./builtins.ts";
import { oneBranch } from "./conditionals.ts";
import { createCSharpResolver } from "./resolver.ts";
import { CSharpWalk } from "./walk.ts";

export const csharp: LanguageModule = {
  id: "csharp",
  grammars: new Map([[".cs", csharpWasm]]),
  rules: {
    implicitMembers: true,
    exportLists: false,
    parentSpaces: true,
    callConstructs: false,
    ignoreCase: false,
    constructorName: "",
    compatible: ["csharp"],
    strictCalls: "functions",
    overloads: C_SHARP_CONVERSIONS,
    partialTypes: true,
    globalImports: { folders: /(^|\/)(Properties|Usings|Globals?)$/i },
    calledByName: /^(Main|ToString|Equals|GetHashCode|operator\W.*)$|^[Tt]est/,
    heritage: / : /,
  },
  library: C_SHARP_LIBRARY,
  configNames: [],
  prepareAgain: oneBranch,
  extract: (tree, facts) => new CSharpWalk(tree, facts).file(),
  createResolver: createCSharpResolver,
};
