/** How names behave in TypeScript and JavaScript. */
import type { LanguageRules } from "../language.ts";
import { TSCONFIG_NAMES } from "./tsconfig.ts";

export const ECMASCRIPT_RULES: LanguageRules = {
  implicitMembers: false,
  exportLists: true,
  parentSpaces: false,
  callConstructs: false,
  ignoreCase: false,
  constructorName: "constructor",
  compatible: ["typescript", "javascript"],
  calledByName: /^(main|init|constructor|default|render|toString|toJSON|setUp|tearDown|\[.*)$|^[Tt]est/,
  heritage: / (?:extends|implements) /,
  foreignNames: true,
  emptyName: "undefined",
  openValues: { prototype: "prototype" },
  iteratorMember: "[Symbol.iterator]",
  mergedTypes: true,
  moduleNames: new Set(["module", "exports"]),
  globals: { space: "globalThis", typed: new Map([["window", "Window"]]) },
};

export const ECMASCRIPT_CONFIGS = ["package.json", ...TSCONFIG_NAMES];
