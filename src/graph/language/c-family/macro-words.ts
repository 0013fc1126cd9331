/** Words, marks and names by which macros, and what the grammar does not know, are told from what stands around. */
export const SHOUTED = /^_*[A-Z][A-Z0-9_]{2,}$/;
/** Words that only a declaration goes on with. */
export const DECLARES = new Set(
  "static inline constexpr consteval constinit extern virtual explicit friend const volatile typedef unsigned signed void bool char short int long float double auto class struct union enum template typename using namespace operator mutable thread_local register".split(
    " ",
  ),
);
/** Words that a declaration begins with, and after which it goes on. */
export const BEFORE = new Set(
  "static inline constexpr consteval extern virtual explicit friend typedef mutable thread_local register".split(" "),
);
export const TYPE_WORDS = new Set("void bool char short int long float double unsigned signed struct const".split(" "));
export const SIZES = new Set(["unsigned", "signed", "long", "short"]);
/** Names of macros that stand for `try` and `catch (…)`. */
export const HANDLES = /(?:^|_)(?:TRY|CATCH|FINALLY)(?:_[A-Z]+)?$/;
export const COLON = 58;
export const OPERATOR = /^[-+*/%^&|~!=<>,[\]]+$/;
/** Of a macro's arguments that are looked at. */
export const MACRO_TOKENS = 64;
export const ASTERISK = 42;
export const AMPERSAND = 38;
export const CLASS_WORDS = new Set(["class", "struct", "union"]);
export const TESTS = new Set(
  "if for while switch return sizeof catch alignof decltype static_assert defined".split(" "),
);
export const TRAILING = new Set(["const", "noexcept", "override", "final", "volatile"]);
