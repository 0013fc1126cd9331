/** How names behave in C and C++: one set of rules, because a header may belong to both. */
import type { LanguageRules } from "../language.ts";

export const C_FAMILY_RULES: LanguageRules = {
  implicitMembers: true,
  exportLists: false,
  parentSpaces: false,
  callConstructs: true,
  submodules: false,
  ignoreCase: false,
  constructorName: "",
  compatible: ["c", "cpp"],
  strictCalls: "constructors",
  overloads: true,
  includes: true,
  guessNames: true,
};
