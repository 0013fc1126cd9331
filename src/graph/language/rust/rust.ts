/** Rust: modules as files, members in impls, traits as bases, transparent wrappers. */
import rustWasm from "tree-sitter-rust/tree-sitter-rust.wasm" with { type: "file" };
import type { LanguageModule } from "../language.ts";
import { RUST_LIBRARY } from "./builtins.ts";
import { openItemMacros } from "./item-macros.ts";
import { createRustResolver } from "./resolver.ts";
import { RustWalk } from "./walk.ts";

export const rust: LanguageModule = {
  id: "rust",
  grammars: new Map([[".rs", rustWasm]]),
  rules: {
    implicitMembers: false,
    exportLists: false,
    parentSpaces: false,
    callConstructs: true,
    ignoreCase: false,
    constructorName: "",
    compatible: ["rust"],
    strictCalls: "functions",
    calledByName: /^main$/,
    heritage: / for /,
    foreignNames: true,
  },
  library: RUST_LIBRARY,
  configNames: ["Cargo.toml"],
  prepare: openItemMacros,
  extract: (tree, facts) => new RustWalk(tree, facts).file(),
  createResolver: createRustResolver,
};
