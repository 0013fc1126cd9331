/** Words and characters by which macros, and code that the grammar cannot read, are recognized. */
export const SHOUTED = /^_*[A-Z][A-Z0-9_]{2,}$/;
/** Words that can only be part of a declaration. */
export const DECLARES = new Set(
  "static inline constexpr consteval constinit extern virtual explicit friend const volatile typedef unsigned signed void bool char short int long float double auto class struct union enum template typename using namespace operator mutable thread_local register".split(
    " ",
  ),
);
/** Words that begin a declaration and are followed by more of it. */
export const BEFORE = new Set(
  "static inline constexpr consteval extern virtual explicit friend typedef mutable thread_local register".split(" "),
);
export const TYPE_WORDS = new Set("void bool char short int long float double unsigned signed struct const".split(" "));
export const SIZES = new Set(["unsigned", "signed", "long", "short"]);
/** Names of macros that stand for `try` and `catch (…)`. */
export const HANDLES = /(?:^|_)(?:TRY|CATCH|FINALLY)(?:_[A-Z]+)?$/;
export const COLON = 58;
export const OPERATOR = /^[-+*/%^&|~!=<>,[\]]+$/;
/** At most this many tokens of a macro's arguments are looked at. */
export const MACRO_TOKENS = 64;
export const ASTERISK = 42;
export const AMPERSAND = 38;
export const CLASS_WORDS = new Set(["class", "struct", "union"]);
export const TESTS = new Set(
  "if for while switch return sizeof catch alignof decltype static_assert defined".split(" "),
);
export const TRAILING = new Set(["const", "noexcept", "override", "final", "volatile"]);
