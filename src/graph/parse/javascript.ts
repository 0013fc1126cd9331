/** JavaScript, ES modules and CommonJS, with JSX. */
import javascriptWasm from "tree-sitter-javascript/tree-sitter-javascript.wasm" with { type: "file" };
import { ECMASCRIPT_LIBRARY } from "./ecmascript/builtins.ts";
import { extractEcmascript } from "./ecmascript/extract.ts";
import { createEcmascriptResolver } from "./ecmascript/resolver.ts";
import { ECMASCRIPT_CONFIGS, ECMASCRIPT_RULES } from "./ecmascript/rules.ts";
import type { LanguageModule } from "./language.ts";

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
  extract: extractEcmascript,
  createResolver: createEcmascriptResolver,
};
