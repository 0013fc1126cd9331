/** How names behave in C and C++: one set of rules, because a header may belong to both. */
import type { LanguageRules } from "../language.ts";
import { C_FAMILY_CONVERSIONS } from "./builtins.ts";

export const C_FAMILY_RULES: LanguageRules = {
  implicitMembers: true,
  exportLists: false,
  parentSpaces: false,
  callConstructs: true,
  ignoreCase: false,
  constructorName: "",
  compatible: ["c", "cpp"],
  strictCalls: "constructors",
  overloads: C_FAMILY_CONVERSIONS,
  includes: true,
  calledByName: /^(main|operator\W.*)$/,
  heritage: / : /,
  indexMember: "operator[]",
  guessNames: true,
};
