/**
 * Java: packages are name spaces, members of enclosing and inherited classes are plain names, overloads are chosen by
 * arguments.
 */
import javaWasm from "tree-sitter-java/tree-sitter-java.wasm" with { type: "file" };
import type { LanguageModule } from "../language.ts";
import { JAVA_LIBRARY } from "./builtins.ts";
import { JAVA_CONVERSIONS } from "./library.ts";
import { createJavaResolver } from "./resolver.ts";
import { JavaWalk } from "./walk.ts";

export const java: LanguageModule = {
  id: "java",
  grammars: new Map([[".java", javaWasm]]),
  rules: {
    implicitMembers: true,
    exportLists: false,
    parentSpaces: false,
    callConstructs: false,
    ignoreCase: false,
    constructorName: "",
    compatible: ["java"],
    strictCalls: "functions",
    overloads: JAVA_CONVERSIONS,
    calledByName: /^(main|toString|equals|hashCode|clone|finalize|setUp|tearDown)$|^[Tt]est/,
    heritage: / (?:extends|implements) /,
  },
  library: JAVA_LIBRARY,
  configNames: [],
  extract: (tree, facts) => new JavaWalk(tree, facts).file(),
  createResolver: createJavaResolver,
};
