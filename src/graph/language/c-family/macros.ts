/**
 * Makes C and C++ readable for a parser that does not expand macros. Macros in the way of a declaration or statement
 * are blanked, so that every offset stays. The parser sees the result; names and signatures are read from the source.
 *
 * A macro is recognized by its name in capitals, and by a place where such a name could not mean anything else: `API
 * int f()`, `class API C {`, `void f() NOEXCEPT {`, `BEGIN_NAMESPACE` on a line of its own.
 */
import { applyBlanks, type Blank } from "./blanks.ts";
import { conditionalBlanks } from "./conditionals.ts";
import {
  AMPERSAND,
  ASTERISK,
  BEFORE,
  CLASS_WORDS,
  COLON,
  DECLARES,
  HANDLES,
  MACRO_TOKENS,
  OPERATOR,
  SHOUTED,
  SIZES,
  TESTS,
  TRAILING,
  TYPE_WORDS,
} from "./macro-words.ts";
import { afterParen, TokenKind, type Tokens, tokensOf } from "./tokens.ts";

export function withoutMacros(text: string): string {
  const tokens = tokensOf(text);
  const blanks = conditionalBlanks(text, tokens);
  new MacroFinder(text, tokens, blanks).run();
  return blanks.length === 0 ? text : applyBlanks(text, blanks);
}

class MacroFinder {
  /** The two tokens before the current one. Blanked tokens do not count. */
  private previous = -1;
  private beforePrevious = -1;
  /** For each open brace the class whose body it begins; "" for other braces. */
  private readonly braces: string[] = [];
  private className = "";
  /** For each open brace whether it contains statements. */
  private readonly code: boolean[] = [];
  /** For each open parenthesis the token before it. */
  private readonly parens: number[] = [];
  /** The token before the parenthesis that was closed last. */
  private closedBy = -1;
  /** The depth of the current token in `template <…>`. */
  private angle = 0;

  constructor(
    private readonly text: string,
    private readonly tokens: Tokens,
    private readonly blanks: Blank[],
  ) {}

  private word(i: number): string {
    return i >= 0 && i < this.tokens.count ? this.text.slice(this.tokens.start[i], this.tokens.end[i]) : "";
  }

  private isWord(i: number): boolean {
    return i >= 0 && i < this.tokens.count && this.tokens.kind[i] === TokenKind.Word;
  }

  private isShouted(i: number): boolean {
    if (!this.isWord(i)) return false;
    const code = this.text.charCodeAt(this.tokens.start[i]!);
    return ((code >= 65 && code <= 90) || code === 95) && SHOUTED.test(this.word(i));
  }

  run(): void {
    for (let i = 0; i < this.tokens.count; ) {
      const next = this.isShouted(i) ? this.macro(i) : this.unreadable(i);
      if (next > i) {
        i = next;
        continue;
      }
      this.step(i);
      this.beforePrevious = this.previous;
      this.previous = i++;
    }
  }

  /** Keeps track of classes, brackets and template headers. */
  private step(i: number): void {
    if (this.isWord(i)) {
      if (this.isWord(this.previous) && CLASS_WORDS.has(this.word(this.previous))) this.className = this.word(i);
      return;
    }
    if (this.tokens.kind[i] !== TokenKind.Mark) return;
    switch (this.text[this.tokens.start[i]!]) {
      case "{":
        this.code.push(this.className === "" && (this.code.at(-1) === true || this.endsHead(this.word(this.previous))));
        this.braces.push(this.className);
        this.className = "";
        this.angle = 0;
        break;
      case "}":
        this.braces.pop();
        this.code.pop();
        break;
      case ";":
        this.className = "";
        this.angle = 0;
        break;
      case "(":
        this.parens.push(this.previous);
        break;
      case ")":
        this.closedBy = this.parens.pop() ?? -1;
        break;
      case "<":
        if (this.angle > 0 || this.word(this.previous) === "template") this.angle++;
        break;
      case ">":
        if (this.angle > 0) this.angle--;
        break;
    }
  }

  /** Whether a function's body may follow this word. */
  private endsHead(before: string): boolean {
    return before === ")" || TRAILING.has(before) || before === "do" || before === "try" || before === "else";
  }

  /** Blanks code that the grammar cannot read, though it is no macro. @returns the next token to read */
  private unreadable(i: number): number {
    if (this.tokens.kind[i] === TokenKind.Literal) return i;
    const code = this.text.charCodeAt(this.tokens.start[i]!);
    // `enum : type {`
    if (code === COLON && this.word(this.previous) === "enum") {
      let to = i + 1;
      while (to < this.tokens.count && to < i + 8 && this.word(to) !== "{") to++;
      return this.word(to) === "{" ? this.blank(i, to) : i;
    }
    // `f(args, char *)`, `CHECK_THROWS_AS(run(), error&)`: a type where a value is expected.
    if (code === ASTERISK || code === AMPERSAND) {
      const next = this.word(i + 1);
      const ends = next === ")" || next === ",";
      const before = this.word(this.previous);
      return ends &&
        (this.isWord(this.previous) || before === "*" || before === "&" || before === ">") &&
        this.isArgument()
        ? this.blank(i, i + 1)
        : i;
    }
    if (!this.isWord(i)) return i;
    const word = this.word(i);
    const before = this.word(this.previous);
    // `CHECK_THROWS_AS(run(), typename T::error)`
    if (word === "typename")
      return (before === "(" || before === "," || before === "[") && this.angle === 0 && this.isArgument()
        ? this.blank(i, i + 1)
        : i;
    if (word === "operator") return this.operatorCall(i, before);
    if (word === "decltype") return this.decltype(i);
    // `extern template class Box<int>;`
    if (word === "extern") return this.word(i + 1) === "template" ? this.blank(i, i + 1) : i;
    if (!TYPE_WORDS.has(word)) return i;
    // `unsigned(x)`
    if (SIZES.has(word) && this.word(i + 1) === "(" && this.word(i + 2) !== "*" && !this.isWord(this.previous))
      return this.blank(i, i + 1, "int");
    if ((before !== "(" && before !== ",") || !this.isArgument()) return i;
    let to = i + 1;
    while (this.isWord(to) || this.word(to) === "*") to++;
    return this.word(to) === ")" || this.word(to) === "," ? this.blank(i, to, "T") : i;
  }

  /**
   * An operator that is called by its name, `a.operator==(b)`, `p->operator[](i)`, `operator<<(out, b)` in a body: the
   * grammar knows such names in declarations alone, so the parser sees a name of the same length.
   */
  private operatorCall(i: number, before: string): number {
    const declares = before !== "return" && (this.isWord(this.previous) || ["*", "&", ">"].includes(before));
    if (before !== "." && before !== "->" && (this.code.at(-1) !== true || declares)) return i;
    let to = i + 1;
    if (this.word(to) === "(" && this.word(to + 1) === ")") to += 2;
    else while (to < i + 4 && OPERATOR.test(this.word(to))) to++;
    if (to === i + 1 || this.word(to) !== "(") return i;
    const length = this.tokens.end[to - 1]! - this.tokens.start[i]!;
    this.blank(i, to, "operator".padEnd(length, "_"));
    this.beforePrevious = this.previous;
    this.previous = i;
    return to;
  }

  /** Replaces an operator that is an argument of a macro: `COMPARE(==, a, b)`. */
  private operatorArguments(i: number, after: number): void {
    const most = Math.min(after - 1, i + MACRO_TOKENS);
    for (let at = i + 2; at < most; at++) {
      const before = this.word(at - 1);
      if (before !== "(" && before !== ",") continue;
      let to = at;
      while (to < at + 3 && this.word(to) !== "," && OPERATOR.test(this.word(to))) to++;
      if (to > at && (this.word(to) === "," || to === after - 1)) this.blank(at, to, "0");
    }
  }

  /** In `decltype(f(x), void())`, the grammar allows only one expression, so a comma after a call becomes `+`. */
  private decltype(i: number): number {
    const after = this.end(i);
    if (after <= i + 1) return i;
    let depth = 0;
    for (let at = i + 1; at < after - 1; at++) {
      const mark = this.word(at);
      if (mark === "(" || mark === "{") depth++;
      else if (mark === ")" || mark === "}") depth--;
      else if (mark === "," && depth === 1 && this.word(at - 1) === ")") this.blank(at, at + 1, "+");
    }
    return i;
  }

  /** Whether the parenthesis around is that of a call's arguments. */
  private isArgument(): boolean {
    const owner = this.parens.at(-1) ?? -1;
    if (!this.isWord(owner) || TESTS.has(this.word(owner)) || DECLARES.has(this.word(owner))) return false;
    const before = this.word(owner - 1);
    const declared = this.isWord(owner - 1) ? before !== "return" : before === "*" || before === ">" || before === "&";
    if (this.code.at(-1) === true) return !this.isWord(owner - 1) || !declared;
    return this.isShouted(owner) && !declared;
  }

  private blank(from: number, to: number, put?: string): number {
    const piece: Blank = { start: this.tokens.start[from]!, end: this.tokens.end[to - 1]! };
    if (put !== undefined) piece.with = put;
    this.blanks.push(piece);
    return to;
  }

  /** The token after a macro at `i` and its arguments. */
  private end(i: number): number {
    return this.word(i + 1) === "(" ? afterParen(this.tokens, this.text, i + 1) : i + 1;
  }

  /** Blanks the macro at `i` if it is in the way. @returns the next token to read; `i` if nothing was blanked */
  private macro(i: number): number {
    const before = this.word(this.previous);
    const after = this.end(i);
    if (after < 0) return i;
    if (after > i + 1) this.operatorArguments(i, after);
    if (before === "if") return this.word(i + 1) === "(" ? this.blank(i, i + 1) : i;
    if (this.angle > 0 && after > i + 1 && (before === "," || before === "<")) return this.blank(i, after, "class");
    if (this.isWord(this.previous) && CLASS_WORDS.has(before)) return this.ofClass(i, after);
    if (this.follows(before, i, after)) return this.blank(i, after);
    // `const REF_WRAP(T) name`: the macro's name is kept as the type's name.
    if (before === "const" && after > i + 1 && (this.isWord(after) || this.word(after) === ")")) {
      this.beforePrevious = this.previous;
      this.previous = i;
      return this.blank(i + 1, after);
    }
    // `PRIVATE_UNLESS_TESTED:` is a macro between members of a class.
    if (after === i + 1 && this.word(after) === ":" && this.isMember() && this.begins(before))
      return this.blank(i, after + 1);
    // `JSON_TRY { … } JSON_CATCH (error&) { … }`
    if (this.code.at(-1) === true && HANDLES.test(this.word(i)) && this.word(after) === "{" && this.begins(before))
      return this.blank(i, after);
    return this.begins(before) ? this.atBeginning(i, after) : i;
  }

  /** Whether to blank the macro in `class API Name {`. */
  private ofClass(i: number, after: number): number {
    if (!this.isWord(after)) return i;
    const next = this.word(after + 1);
    const defines = next === "{" || next === ":" || next === "final" || next === "<" || next === "::";
    return defines || after > i + 1 ? this.blank(i, after) : i;
  }

  /** Whether a macro follows parameters or a name: `void f() NOEXCEPT {`, `int n GUARDED_BY(m);`, `bool x UNUSED)`. */
  private follows(before: string, i: number, after: number): boolean {
    const next = this.word(after);
    if (before === ")") {
      const owner = this.word(this.closedBy);
      if (!this.isWord(this.closedBy) || TESTS.has(owner) || this.isShouted(this.closedBy)) return false;
      return (
        next === "{" || next === ";" || next === ":" || next === "->" || TRAILING.has(next) || this.isShouted(after)
      );
    }
    if (TRAILING.has(before) && this.isWord(this.previous))
      return this.word(this.beforePrevious) === ")" && (next === "{" || next === ";" || next === "->");
    if (!this.isWord(this.previous) || DECLARES.has(before)) return false;
    if (next !== ";" && next !== "," && next !== ")" && next !== "=") return false;
    // The two words before are the type and the name already.
    const type = this.word(this.beforePrevious);
    if (type === "*" || type === "&" || type === ">") return next !== "," || after > i + 1;
    return (
      this.isWord(this.beforePrevious) &&
      !BEFORE.has(type) &&
      !/^(return|const|else|case|goto|new|delete|throw|struct|class|enum|union|unsigned|signed|typename|volatile|using|namespace|not|and|or)$/.test(
        type,
      )
    );
  }

  /** Whether a declaration or statement may begin after this token. */
  private begins(before: string): boolean {
    if (this.previous < 0 || before === ";" || before === "{" || before === "}") return true;
    if (before === ":") return /^(public|private|protected)$/.test(this.word(this.beforePrevious));
    if (before === ">") return this.angle === 0 && this.closesTemplate();
    return this.isWord(this.previous) && BEFORE.has(before);
  }

  /** Whether the `>` before closes a `template <…>`. */
  private closesTemplate(): boolean {
    let depth = 0;
    for (let i = this.previous; i >= 0 && i > this.previous - 400; i--) {
      const text = this.text[this.tokens.start[i]!];
      if (text === ">") depth++;
      else if (text === "<" && --depth === 0) return this.word(i - 1) === "template";
      else if (text === ";" || text === "{") return false;
    }
    return false;
  }

  /** One or more macros at the beginning of a declaration. */
  private atBeginning(i: number, after: number): number {
    if (this.declares(after)) return this.blank(i, after);
    if (this.alone(i, after)) return this.ownLine(i, after);
    if (!this.isShouted(after)) return i;
    const inner = this.end(after);
    if (inner < 0) return i;
    // `DWORD CALLBACK f(…)`: the first macro is the return type.
    if (after === i + 1 && this.isWord(inner) && this.word(inner + 1) === "(" && !this.isClass(inner)) {
      this.previous = i;
      return this.blank(after, inner);
    }
    return this.declares(inner) || this.isShouted(inner) ? this.blank(i, after) : i;
  }

  /** Blanks a macro on a line of its own. With arguments and outside of a class, it may be a call: it gets a `;`. */
  private ownLine(i: number, after: number): number {
    const next = this.word(after);
    if (!this.isWord(after) && next !== "}" && next !== "" && next !== "~") return i;
    if (after === i + 1 || (this.braces.at(-1) ?? "") !== "") return this.blank(i, after);
    const close = this.tokens.end[after - 1]!;
    if (/\s/.test(this.text[close] ?? "")) this.blanks.push({ start: close, end: close + 1, with: ";" });
    return after;
  }

  /** Whether the current place is among the members of a class. */
  private isMember(): boolean {
    return (this.braces.at(-1) ?? "") !== "" && this.code.at(-1) !== true;
  }

  private isClass(i: number): boolean {
    const around = this.braces.at(-1) ?? "";
    return around !== "" && this.word(i) === around;
  }

  /** Whether a macro and its arguments have a line, or lines, to themselves. */
  private alone(i: number, after: number): boolean {
    const { start, end, count } = this.tokens;
    const line = this.text.lastIndexOf("\n", start[i]!);
    if (!/^\s*$/.test(this.text.slice(line + 1, start[i]))) return false;
    const to = after < count ? start[after]! : this.text.length;
    return this.text.slice(end[after - 1], to).includes("\n");
  }

  /** Whether a complete declaration begins at `i`: `int f`, `ns::Type<x> f`, `~C`, `C(` in C. */
  private declares(i: number): boolean {
    if (!this.isWord(i)) return this.word(i) === "~" || (this.word(i) === "[" && this.word(i + 1) === "[");
    if (DECLARES.has(this.word(i))) return true;
    let at = i;
    for (let steps = 0; steps < 20; steps++) {
      at = this.pastArguments(at + 1);
      if (this.word(at) !== "::" || !this.isWord(at + 1)) break;
      at++;
    }
    const next = this.word(at);
    if (this.isWord(at)) return !TESTS.has(next);
    if ((next === "*" || next === "&") && at === this.pastStars(at) - 1) return this.isWord(this.pastStars(at));
    if (next === "*" || next === "&") return this.isWord(this.pastStars(at));
    return next === "(" && at === i + 1 && this.isClass(i);
  }

  private pastStars(at: number): number {
    let next = at;
    while (this.word(next) === "*" || this.word(next) === "&") next++;
    return next;
  }

  /** The token after `<…>` that begins at `i`, or `i`. */
  private pastArguments(i: number): number {
    if (this.word(i) !== "<") return i;
    let depth = 0;
    for (let at = i; at < this.tokens.count && at < i + 200; at++) {
      const text = this.text[this.tokens.start[at]!];
      if (text === "<") depth++;
      else if (text === ">" && --depth === 0) return at + 1;
      else if (text === ";" || text === "{") return i;
    }
    return i;
  }
}
