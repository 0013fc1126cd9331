/** JavaScript, ES modules and CommonJS, with JSX. */
import javascriptWasm from "tree-sitter-javascript/tree-sitter-javascript.wasm" with { type: "file" };
import type { LanguageModule } from "../language.ts";
import { ECMASCRIPT_LIBRARY } from "./builtins.ts";
import { readJavascriptAgain } from "./read-again.ts";
import { createEcmascriptResolver } from "./resolver.ts";
import { ECMASCRIPT_CONFIGS, ECMASCRIPT_RULES } from "./rules.ts";
import { EcmascriptWalk } from "./walk.ts";

export const javascript: LanguageModule = {
  id: "javascript",
  grammars: new Map([
    [".js", javascriptWasm],
    [".jsx", javascriptWasm],
    [".mjs", javascriptWasm],
    [".cjs", javascriptWasm],
  ]),
  rules: { ...ECMASCRIPT_RULES, openInstances: true },
  library: ECMASCRIPT_LIBRARY,
  configNames: ECMASCRIPT_CONFIGS,
  prepareAgain: readJavascriptAgain,
  extract: (tree, facts) => new EcmascriptWalk(tree, facts).file(),
  createResolver: createEcmascriptResolver,
};
