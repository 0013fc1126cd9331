/**
 * Splits a shell command line into its single commands, as far as its text tells. The line is read as a shell would
 * read it, but nothing is expanded: from a variable or a substitution on, the words of a command are uncertain. This is
 * no security boundary, since a command can do what its line does not say. Containers are the boundary.
 */

export interface CommandPart {
  /** Its words without quotes, one space between them. */
  text: string;
  /** The prefix of `text` that is certain; undefined when all of it is. */
  certain?: string | undefined;
}

const DEPTH_MOST = 20;
const PARTS_MOST = 1_000;
const RUNS_MOST = 3;
/** Characters read in all, including those of nested command lines. A longer line is not judged by its text. */
const SIGNS_MOST = 20_000;
/** Runs of characters without a special meaning: inside double quotes, and outside quotes. */
const INSIDE = /[^"$`\\]+/y;
const PLAIN = /[^\s;|&<>()#'"\\$`{]+/y;

/** A command of which nothing is known. */
const UNKNOWN: CommandPart = { text: "", certain: "" };

class Unreadable extends Error {}

/** Returns every command in the line, including those in substitutions, subshells and `sh -c`. Never throws. */
export function splitCommand(line: string): CommandPart[] {
  const parts: CommandPart[] = [];
  try {
    new Reader(line, parts, 0, { left: SIGNS_MOST }).readList(undefined);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    parts.push(UNKNOWN);
  }
  return parts;
}

/** Shell keywords that may stand before a command. */
const KEYWORDS = new Set(["if", "then", "elif", "else", "fi", "do", "done", "while", "until", "!", "{", "}", "time"]);
const SHELLS = /^(?:.*\/)?(?:ba|da|z|k|a)?sh$/;
/** Programs that run the command after them. */
const WRAPPERS = new Set([
  "sudo",
  "doas",
  "env",
  "nohup",
  "nice",
  "ionice",
  "time",
  "command",
  "builtin",
  "exec",
  "stdbuf",
  "setsid",
  "timeout",
  "xargs",
  "busybox",
  "watch",
  "strace",
]);
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

interface Word {
  text: string;
  /** Characters of `text` before the first that is uncertain; undefined: all are certain. */
  certain: number | undefined;
  isQuoted: boolean;
}

class Reader {
  #at = 0;
  #words: Word[] = [];
  #word: Word | undefined;
  /** Delimiters of the here-documents whose text begins after this line. */
  #heredocs: { end: string; isLiteral: boolean }[] = [];
  #isPiped = false;

  constructor(
    readonly line: string,
    readonly parts: CommandPart[],
    readonly depth: number,
    readonly signs: { left: number },
  ) {
    if (depth > DEPTH_MOST) throw new Unreadable();
  }

  /** Reads commands up to the closing sign, which is consumed; for undefined, up to the end of the text. */
  readList(close: ")" | undefined): void {
    const { line } = this;
    while (this.#at < line.length) {
      const sign = line[this.#at]!;
      if (--this.signs.left < 0) throw new Unreadable();
      if (sign === ")") {
        this.#endCommand();
        this.#at++;
        if (close === ")") return;
      } else if (sign === "(") {
        this.#endCommand();
        this.#nest();
      } else this.#readSign(sign);
    }
    this.#endCommand();
    if (close !== undefined || this.#heredocs.length > 0) throw new Unreadable();
  }

  #readSign(sign: string): void {
    const { line } = this;
    if (sign === " " || sign === "\t") {
      this.#endWord();
      this.#at++;
    } else if (sign === "\n") {
      this.#endCommand();
      this.#at++;
      this.#skipHeredocs();
    } else if (sign === ";" || sign === "|" || sign === "&") {
      if (sign === "&" && line[this.#at + 1] === ">") return this.#redirect();
      const isPipe = sign === "|" && line[this.#at + 1] !== "|";
      this.#endCommand();
      this.#isPiped = isPipe;
      while (line[this.#at] === sign) this.#at++;
      if (isPipe && line[this.#at] === "&") this.#at++;
    } else if (sign === ">" || sign === "<") this.#redirect();
    else if (sign === "#" && this.#word === undefined) {
      const end = line.indexOf("\n", this.#at);
      this.#at = end < 0 ? line.length : end;
    } else if (sign === "'") this.#readSingle();
    else if (sign === '"') this.#readDouble();
    else if (sign === "\\") this.#readEscape();
    else if (sign === "$" || sign === "`") this.#readExpansion();
    else {
      if (sign === "{" && this.#word !== undefined) this.#unsure();
      PLAIN.lastIndex = this.#at;
      const text = PLAIN.exec(line)?.[0] ?? sign;
      this.#add(text);
      this.#at += text.length;
    }
  }

  #openWord(): Word {
    this.#word ??= { text: "", certain: undefined, isQuoted: false };
    return this.#word;
  }
  #add(text: string): void {
    this.#openWord().text += text;
  }
  #unsure(): void {
    const word = this.#openWord();
    word.certain ??= word.text.length;
  }

  #readSingle(): void {
    const end = this.line.indexOf("'", this.#at + 1);
    if (end < 0) throw new Unreadable();
    this.#openWord().isQuoted = true;
    this.#add(this.line.slice(this.#at + 1, end));
    this.#at = end + 1;
  }

  #readDouble(): void {
    const { line } = this;
    this.#openWord().isQuoted = true;
    for (this.#at++; line[this.#at] !== '"'; ) {
      const sign = line[this.#at];
      if (sign === undefined || --this.signs.left < 0) throw new Unreadable();
      if (sign === "$" || sign === "`") this.#readExpansion();
      else if (sign === "\\" && /["\\$`\n]/.test(line[this.#at + 1] ?? "")) this.#readEscape();
      else {
        INSIDE.lastIndex = this.#at;
        const text = INSIDE.exec(line)?.[0] ?? sign;
        this.#add(text);
        this.#at += text.length;
      }
    }
    this.#at++;
  }

  #readEscape(): void {
    const next = this.line[this.#at + 1];
    if (next === undefined) throw new Unreadable();
    if (next !== "\n") this.#add(next);
    this.#at += 2;
  }

  /**
   * Reads `$x`, `${x}`, `$(…)` or `` `…` ``. Its value is unknown, so the word is uncertain from here on. Commands in
   * it are read.
   */
  #readExpansion(): void {
    const { line } = this;
    this.#unsure();
    if (line[this.#at] === "`") {
      const end = closingBacktick(line, this.#at + 1);
      if (end < 0) throw new Unreadable();
      const inner = line.slice(this.#at + 1, end).replace(/\\([\\`$])/g, "$1");
      new Reader(inner, this.parts, this.depth + 1, this.signs).readList(undefined);
      this.#add(line.slice(this.#at, end + 1));
      this.#at = end + 1;
      return;
    }
    const next = line[this.#at + 1];
    const from = this.#at;
    this.#at++;
    if (next === "(") this.#nest();
    else if (next === "{") {
      const end = line.indexOf("}", this.#at);
      if (end < 0 || /[`$]/.test(line.slice(this.#at + 1, end))) throw new Unreadable();
      this.#at = end + 1;
    } else if (next === "'") throw new Unreadable();
    this.#add(line.slice(from, this.#at));
  }

  /** Reads from a `(` to the `)` that closes it. */
  #nest(): void {
    const inner = new Reader(this.line, this.parts, this.depth + 1, this.signs);
    inner.#at = this.#at + 1;
    inner.readList(")");
    this.#at = inner.#at;
  }

  #redirect(): void {
    const { line } = this;
    // A number directly before the sign is the file descriptor.
    if (this.#word && !/^\d+$/.test(this.#word.text)) this.#endWord();
    const [sign = ""] = /^(?:&>>?|<<<|<<-?|<>|>>|[<>]&|>\||[<>])/.exec(line.slice(this.#at, this.#at + 3)) ?? [];
    this.#at += sign.length;
    if ((sign === "<" || sign === ">") && line[this.#at] === "(") {
      this.#unsure();
      this.#nest();
      return;
    }
    this.#add(sign);
    if (sign.endsWith("&") && /[\d-]/.test(line[this.#at] ?? "")) return;
    this.#endWord();
    if (sign === "<<" || sign === "<<-") this.#beginHeredoc();
  }

  #beginHeredoc(): void {
    const match = /^[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([\w.-]+))/.exec(this.line.slice(this.#at, this.#at + 200));
    const end = match?.[1] ?? match?.[2] ?? match?.[3];
    if (match === null || end === undefined) throw new Unreadable();
    const isLiteral = match[3] === undefined || match[0].includes("\\");
    this.#heredocs.push({ end, isLiteral });
    this.#at += match[0].length;
    this.#add(end);
    this.#endWord();
  }

  #skipHeredocs(): void {
    for (const { end, isLiteral } of this.#heredocs.splice(0)) {
      for (;;) {
        if (this.#at >= this.line.length) throw new Unreadable();
        const next = this.line.indexOf("\n", this.#at);
        const text = this.line.slice(this.#at, next < 0 ? undefined : next);
        this.#at = next < 0 ? this.line.length : next + 1;
        if (text.replace(/^\t+/, "") === end) break;
        if (!isLiteral && /[`]|\$\(/.test(text)) throw new Unreadable();
      }
    }
  }

  #endWord(): void {
    const word = this.#word;
    this.#word = undefined;
    if (!word) return;
    if (this.#words.length === 0 && !word.isQuoted && KEYWORDS.has(word.text)) return;
    // A pattern in the command's own name makes the name uncertain as well.
    if (this.#words.length === 0 && !word.isQuoted && /[*?[{~]/.test(word.text)) word.certain ??= 0;
    this.#words.push(word);
  }

  #endCommand(): void {
    this.#endWord();
    const words = this.#words;
    const isPiped = this.#isPiped;
    this.#words = [];
    this.#isPiped = false;
    if (words.length > 0) this.#keep(words, isPiped);
  }

  /** @param runs how deeply the command is nested in `find -exec`. */
  #keep(words: readonly Word[], isPiped: boolean, runs = 0): void {
    if (this.parts.length >= PARTS_MOST || runs > RUNS_MOST) throw new Unreadable();
    const [whole, inner] = [partOf(words), unwrap(words)];
    this.parts.push(whole);
    const [command, ...args] = inner;
    if (!command) return;
    const bare = partOf(inner);
    if (bare.text !== whole.text) this.parts.push(bare);
    if (SHELLS.test(command.text)) {
      const script = args.findIndex(({ text }) => /^-\w*c$/.test(text));
      const readsInput = isPiped || args.length === 0 || args.some(({ text }) => /^(?:<|-s$)/.test(text));
      if (script >= 0) this.#readAgain(args[script + 1]);
      else if (readsInput) this.parts.push(UNKNOWN);
    } else if (command.text === "eval") this.#readAgain(...args);
    else if (command.text === "find") this.#keepExecuted(args, runs + 1);
  }

  /** Reads what `find` runs: the words from `-exec` to `;` or `+`. */
  #keepExecuted(args: readonly Word[], runs: number): void {
    for (let at = 0; at < args.length; at++) {
      if (!/^-(?:exec|ok)(?:dir)?$/.test(args[at]!.text)) continue;
      const from = at + 1;
      while (at < args.length && args[at]!.text !== ";" && args[at]!.text !== "+") at++;
      if (at > from) this.#keep(args.slice(from, at), false, runs);
    }
  }

  /** Reads a text that a shell takes as a command line, for `sh -c` and `eval`. */
  #readAgain(...words: (Word | undefined)[]): void {
    if (words.some((word) => word === undefined || word.certain !== undefined)) return void this.parts.push(UNKNOWN);
    const text = words.map((word) => word!.text).join(" ");
    new Reader(text, this.parts, this.depth + 1, this.signs).readList(undefined);
  }
}

function closingBacktick(line: string, from: number): number {
  for (let at = from; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === "`") return at;
  }
  return -1;
}

/** Removes assignments and wrapper programs before a command, and the folder from the command's name. */
function unwrap(words: readonly Word[]): Word[] {
  let at = 0;
  for (;;) {
    while (words[at] && ASSIGNMENT.test(words[at]!.text)) at++;
    const word = words[at];
    if (!word || !WRAPPERS.has(nameOf(word.text))) break;
    at++;
    while (words[at] && /^(?:-|\d)/.test(words[at]!.text)) at++;
  }
  const rest = words.slice(at);
  const [command] = rest;
  if (command?.text.includes("/") && command.certain === undefined)
    return [{ ...command, text: nameOf(command.text) }, ...rest.slice(1)];
  return rest;
}

const nameOf = (command: string): string => command.slice(command.lastIndexOf("/") + 1);

function partOf(words: readonly Word[]): CommandPart {
  const text = words.map((word) => word.text).join(" ");
  const at = words.findIndex(({ certain }) => certain !== undefined);
  if (at < 0) return { text };
  const before = words.slice(0, at).map((word) => `${word.text} `);
  return { text, certain: before.join("") + words[at]!.text.slice(0, words[at]!.certain) };
}
