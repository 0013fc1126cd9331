/** How names behave in TypeScript and JavaScript. */
import type { LanguageRules } from "../language.ts";

export const ECMASCRIPT_RULES: LanguageRules = {
  implicitMembers: false,
  exportLists: true,
  parentSpaces: false,
  callConstructs: false,
  submodules: false,
  ignoreCase: false,
  constructorName: "constructor",
  compatible: ["typescript", "javascript"],
  builtinFamily: "ecmascript",
};

export const ECMASCRIPT_CONFIGS = ["package.json", "tsconfig.json", "tsconfig.base.json", "jsconfig.json"];
