/**
 * The language of `when`: texts, numbers, true, false, null, lists, paths, ==, !=, in, not, and, or, parentheses. It is
 * closed: it calls nothing and reads only own properties of plain data. Evaluation is linear in the length of the text.
 * Length and nesting are limited.
 */
import { isOneOf } from "../../core/typed-keys.ts";
import { ConditionError, type Sign, type Token, tokenize } from "./condition-tokens.ts";
import { parsePath, readPath } from "./path.ts";

export type Condition =
  | { kind: "literal"; value: string | number | boolean | null }
  | { kind: "path"; path: string[]; offset: number }
  | { kind: "list"; items: Condition[] }
  | { kind: "not"; of: Condition }
  | { kind: "and" | "or"; of: Condition[] }
  | { kind: "==" | "!=" | "in"; left: Condition; right: Condition };

export const CONDITION_LIMITS = { characters: 2_000, depth: 32 } as const;

/** Binding power of the infix signs; any other sign ends an expression. */
const POWER: Readonly<Partial<Record<Sign, number>>> = { or: 1, and: 2, "==": 4, "!=": 4, in: 4, not: 4 };
const NOT_POWER = 3;
type Comparison = "==" | "!=" | "in" | "not";
const isComparison = (sign: Sign): sign is Comparison => isOneOf(["==", "!=", "in", "not"], sign);

/** Parses a condition. Throws ConditionError that says what is wrong and where. */
export function parseCondition(source: string): Condition {
  if (source.length > CONDITION_LIMITS.characters)
    throw new ConditionError(`A condition has at most ${CONDITION_LIMITS.characters} characters.`, 0);
  const tokens = tokenize(source);
  const parser = new Parser(tokens);
  const condition = parser.expression(0, 0);
  const rest = parser.next();
  if (rest.kind !== "end") throw new ConditionError("Something is left over here.", rest.offset);
  return condition;
}

/** A Pratt parser over the tokens of one condition. */
class Parser {
  #at = 0;
  constructor(readonly tokens: readonly Token[]) {}

  peek(): Token {
    return this.tokens[Math.min(this.#at, this.tokens.length - 1)]!;
  }

  next(): Token {
    const token = this.peek();
    this.#at++;
    return token;
  }

  /** Consumes the next sign if it is one of these. @returns the sign, or null. */
  take(...signs: Sign[]): Sign | null {
    const token = this.peek();
    if (token.kind !== "sign" || !signs.includes(token.sign)) return null;
    this.#at++;
    return token.sign;
  }

  expression(minPower: number, depth: number): Condition {
    if (depth > CONDITION_LIMITS.depth)
      throw new ConditionError(`A condition is nested at most ${CONDITION_LIMITS.depth} deep.`, this.peek().offset);
    let left = this.prefix(depth);
    let compared = false;
    for (;;) {
      const token = this.peek();
      const power = token.kind === "sign" ? POWER[token.sign] : undefined;
      if (token.kind !== "sign" || power === undefined || power <= minPower) return left;
      this.next();
      if (token.sign === "and" || token.sign === "or") {
        const right = this.expression(power, depth + 1);
        left =
          left.kind === token.sign ? { ...left, of: [...left.of, right] } : { kind: token.sign, of: [left, right] };
        compared = false;
        continue;
      }
      if (!isComparison(token.sign)) return left;
      if (compared) throw new ConditionError("Comparisons do not chain; use `and`.", token.offset);
      compared = true;
      left = this.comparison(left, token.sign, token.offset, depth);
    }
  }

  comparison(left: Condition, sign: Comparison, offset: number, depth: number): Condition {
    const negated = sign === "not";
    if (negated && !this.take("in")) throw new ConditionError("`in` is missing after `not`.", offset);
    const kind = negated ? "in" : sign;
    const node: Condition = { kind, left, right: this.expression(POWER["=="] ?? 0, depth + 1) };
    return negated ? { kind: "not", of: node } : node;
  }

  prefix(depth: number): Condition {
    const token = this.next();
    if (token.kind === "literal") return { kind: "literal", value: token.value };
    if (token.kind === "path") {
      const path = parsePath(token.text);
      if (!path) throw new ConditionError(`"${token.text.slice(0, 60)}" is not a variable.`, token.offset);
      return { kind: "path", path, offset: token.offset };
    }
    if (token.kind === "sign" && token.sign === "not")
      return { kind: "not", of: this.expression(NOT_POWER, depth + 1) };
    if (token.kind === "sign" && token.sign === "(") {
      const inner = this.expression(0, depth + 1);
      if (!this.take(")")) throw new ConditionError("A closing parenthesis is missing.", this.peek().offset);
      return inner;
    }
    if (token.kind === "sign" && token.sign === "[") return { kind: "list", items: this.list(depth) };
    throw new ConditionError("A value is missing here.", token.offset);
  }

  list(depth: number): Condition[] {
    const items: Condition[] = [];
    if (this.take("]")) return items;
    do items.push(this.expression(0, depth + 1));
    while (this.take(","));
    if (!this.take("]")) throw new ConditionError("A closing bracket is missing.", this.peek().offset);
    return items;
  }
}

/** Whether the condition holds in the scope. Never throws: a missing value is null. */
export const holds = (condition: Condition, scope: unknown): boolean => isTrue(evaluate(condition, scope));

/** Everything is true except false, null, 0, "" and the empty list. */
function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function evaluate(condition: Condition, scope: unknown): unknown {
  switch (condition.kind) {
    case "literal":
      return condition.value;
    case "path":
      return readPath(scope, condition.path) ?? null;
    case "list":
      return condition.items.map((item) => evaluate(item, scope));
    case "not":
      return !isTrue(evaluate(condition.of, scope));
    case "and":
      return condition.of.every((part) => isTrue(evaluate(part, scope)));
    case "or":
      return condition.of.some((part) => isTrue(evaluate(part, scope)));
    case "==":
      return equal(evaluate(condition.left, scope), evaluate(condition.right, scope));
    case "!=":
      return !equal(evaluate(condition.left, scope), evaluate(condition.right, scope));
    case "in":
      return contains(evaluate(condition.right, scope), evaluate(condition.left, scope));
  }
}

/** No conversions: "3" is not 3. Lists and objects are equal when their JSON is. */
function equal(left: unknown, right: unknown): boolean {
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return left === right;
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Whether the list holds the element, or the text contains the part. */
function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(whole)) return whole.some((item) => equal(item, part));
  return typeof whole === "string" && typeof part === "string" && whole.includes(part);
}

/** Every path the condition reads, with its offset in the text. */
export function pathsOf(condition: Condition): { path: string[]; offset: number }[] {
  switch (condition.kind) {
    case "literal":
      return [];
    case "path":
      return [{ path: condition.path, offset: condition.offset }];
    case "not":
      return pathsOf(condition.of);
    case "list":
      return condition.items.flatMap(pathsOf);
    case "and":
    case "or":
      return condition.of.flatMap(pathsOf);
    default:
      return [...pathsOf(condition.left), ...pathsOf(condition.right)];
  }
}
