/** PHP: name spaces and `use`, traits, promoted properties, types in doc comments. */
import phpWasm from "tree-sitter-php/tree-sitter-php.wasm" with { type: "file" };
import type { LanguageModule } from "../language.ts";
import { PHP_LIBRARY } from "./builtins.ts";
import { createPhpResolver } from "./resolver.ts";
import { PhpWalk } from "./walk.ts";

export const php: LanguageModule = {
  id: "php",
  grammars: new Map([[".php", phpWasm]]),
  rules: {
    implicitMembers: false,
    exportLists: false,
    parentSpaces: false,
    callConstructs: false,
    ignoreCase: true,
    constructorName: "__construct",
    compatible: ["php"],
    strictCalls: "functions",
    callMember: "__invoke",
    specialMembers: /^__invoke$/,
    calledByName:
      /^(__(construct|destruct|get|set|isset|unset|call|callStatic|invoke|clone|toString|debugInfo|(un)?serialize|sleep|wakeup|set_state)|setUp|tearDown)$|^[Tt]est/,
    heritage: / (?:extends|implements) /,
  },
  library: PHP_LIBRARY,
  configNames: [],
  extract: (tree, facts) => new PhpWalk(tree, facts).file(),
  createResolver: createPhpResolver,
};
