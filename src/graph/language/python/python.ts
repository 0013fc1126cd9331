/**
 * Python: modules and packages, classes that are called to construct, attributes inferred from assignments to `self`.
 */
import pythonWasm from "tree-sitter-python/tree-sitter-python.wasm" with { type: "file" };
import type { LanguageModule } from "../language.ts";
import { PYTHON_LIBRARY } from "./builtins.ts";
import { createPythonResolver } from "./resolver.ts";
import { PythonWalk } from "./walk.ts";

export const python: LanguageModule = {
  id: "python",
  grammars: new Map([[".py", pythonWasm]]),
  rules: {
    implicitMembers: false,
    exportLists: false,
    parentSpaces: false,
    callConstructs: true,
    packages: { index: "__init__.py", ending: ".py" },
    ignoreCase: false,
    constructorName: "__init__",
    compatible: ["python"],
    strictCalls: "constructors",
    callMember: "__call__",
    iteratorMember: "__iter__",
    nextMember: "__next__",
    indexMember: "__getitem__",
    specialMembers: /^__\w+__$/,
    calledByName: /^(main|__\w+__|setUp|tearDown)$|^[Tt]est/,
    heritage: /\bclass \w+\(/,
    foreignNames: true,
  },
  library: PYTHON_LIBRARY,
  configNames: [],
  extract: (tree, facts) => new PythonWalk(tree, facts).file(),
  createResolver: createPythonResolver,
};
