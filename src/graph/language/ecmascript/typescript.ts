/** TypeScript, plain and with JSX. */
import tsxWasm from "tree-sitter-typescript/tree-sitter-tsx.wasm" with { type: "file" };
import typescriptWasm from "tree-sitter-typescript/tree-sitter-typescript.wasm" with { type: "file" };
import type { LanguageModule } from "../language.ts";
import { ECMASCRIPT_LIBRARY } from "./builtins.ts";
import { readTypescriptAgain } from "./read-again.ts";
import { createEcmascriptResolver } from "./resolver.ts";
import { ECMASCRIPT_CONFIGS, ECMASCRIPT_RULES } from "./rules.ts";
import { EcmascriptWalk } from "./walk.ts";

export const typescript: LanguageModule = {
  id: "typescript",
  grammars: new Map([
    [".tsx", tsxWasm],
    [".ts", typescriptWasm],
    [".mts", typescriptWasm],
    [".cts", typescriptWasm],
  ]),
  rules: ECMASCRIPT_RULES,
  library: ECMASCRIPT_LIBRARY,
  configNames: ECMASCRIPT_CONFIGS,
  prepareAgain: readTypescriptAgain,
  extract: (tree, facts) => new EcmascriptWalk(tree, facts).file(),
  createResolver: createEcmascriptResolver,
};
