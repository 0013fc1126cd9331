/** The rules for names in C and C++. Both share one set, because a header may belong to either. */
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
