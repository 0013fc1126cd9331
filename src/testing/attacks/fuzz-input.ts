/**
 * Generates fuzzing input from a JSON Schema: valid, nearly valid, and garbage. Everything follows from the seed, so
 * that a finding can be reproduced.
 */
interface Dice {
  /** A whole number from 0 to n − 1. */
  below(n: number): number;
  chance(part: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** mulberry32: 32 bits of state, good enough for choices, and the same on every machine. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number) => Math.floor(next() * n);
  return { below, chance: (part) => next() < part, pick: (items) => items[below(items.length)]! };
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
  items?: Schema;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minItems?: number;
  default?: unknown;
}

/** Strings that have caused errors in other programs. */
export const STRINGS = [
  "",
  " ",
  "\0",
  "a\0b",
  "\r\nX-Injected: 1",
  "\u2028",
  "\ud800",
  "🐝".repeat(50),
  "../../../../etc/passwd",
  "/etc/passwd",
  "-rf",
  "--upload-pack=touch /tmp/x",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "'; DROP TABLE runs; --",
  "%00%2e%2e%2f",
  "%",
  "$(id)",
  "`id`",
  "{{ task_description }}",
  ["$", "{secret:X}"].join(""),
  "<script>alert(1)</script>",
  "null",
  "undefined",
  "NaN",
  "true",
  "-1",
  "0",
  "1e999",
  "9007199254740993",
  "2026-02-30T25:61:61Z",
  "1970-01-01T00:00:00.000Z",
  "+275760-09-13T00:00:00.001Z",
  "*",
  "a".repeat(300),
  "(a+)+$".repeat(40),
  "é".normalize("NFD"),
];
const NUMBERS = [0, -0, -1, 1, 0.5, 201, 1e6, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 1e-308];

/** A string, number, list or object that follows no schema. */
export function garbage(dice: Dice, depth = 0): unknown {
  const kind = dice.below(depth > 2 ? 5 : 8);
  if (kind === 0) return null;
  if (kind === 1) return dice.chance(0.5);
  if (kind === 2) return dice.pick(NUMBERS);
  if (kind < 5) return dice.pick(STRINGS);
  if (kind === 5) return Array.from({ length: dice.below(4) }, () => garbage(dice, depth + 1));
  return Object.fromEntries(
    Array.from({ length: dice.below(4) }, () => [dice.pick(STRINGS), garbage(dice, depth + 1)]),
  );
}

/** Values that exist on the server, by the name of a field or parameter. With them, requests pass the first checks. */
export type Known = Readonly<Record<string, readonly string[]>>;

export interface Inputs {
  valid(schema: Schema | undefined, name?: string): unknown;
  nearly(schema: Schema | undefined, name?: string): unknown;
}

/** Resolves a `$ref` of the document; empty if it names nothing. */
export const resolver =
  (document: object) =>
  <T = Schema>(ref: string): T =>
    (ref
      .split("/")
      .slice(1)
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document) ?? {}) as T;

/** @param resolve returns the schema that a `$ref` names. */
export function createInputs(dice: Dice, known: Known, resolve: (ref: string) => Schema): Inputs {
  const string = (schema: Schema, name: string): string => {
    const real = known[name];
    if (real && dice.chance(0.8)) return dice.pick(real);
    if (schema.format === "date-time") return "2026-01-02T03:04:05.678Z";
    if (/email/.test(`${schema.format} ${name}`)) return `fuzz${dice.below(1e6)}@example.test`;
    if (/url$|^issuer$|^repository$/.test(name)) return "https://127.0.0.1:9/x";
    if (schema.pattern && dice.chance(0.7)) return `a${dice.below(1e6)}`;
    const [least, most] = [schema.minLength ?? 0, Math.min(schema.maxLength ?? 40, 40)];
    const text = dice.pick(["a", "Name", "some words here", "UPPER_CASE", "x-1"]) + dice.below(1e4);
    return text.slice(0, Math.max(most, 1)).padEnd(least, "x");
  };
  const number = (schema: Schema, whole: boolean): number => {
    const least = schema.minimum ?? schema.exclusiveMinimum ?? 0;
    const most = Math.min(schema.maximum ?? least + 100, least + 1_000);
    const value = dice.pick([least, most, least + (most - least) / 2]);
    return whole ? Math.round(value) : value;
  };
  const object = (schema: Schema): Record<string, unknown> => {
    const made: Record<string, unknown> = {};
    for (const [key, one] of Object.entries(schema.properties ?? {}))
      if (schema.required?.includes(key) || dice.chance(0.4)) made[key] = valid(one, key);
    const more = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties;
    if (typeof more === "object" && dice.chance(0.5)) made[`key${dice.below(100)}`] = valid(more);
    return made;
  };
  const valid = (schema: Schema | undefined, name = ""): unknown => {
    if (!schema) return garbage(dice);
    if (schema.$ref) return valid(resolve(schema.$ref), name);
    if ("const" in schema) return schema.const;
    if (schema.enum) return dice.pick(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return valid(dice.pick(choices), name);
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map((one) => valid(one, name)));
    const type = Array.isArray(schema.type) ? dice.pick(schema.type) : schema.type;
    if (type === "string") return string(schema, name);
    if (type === "integer" || type === "number") return number(schema, type === "integer");
    if (type === "boolean") return dice.chance(0.5);
    if (type === "null") return null;
    if (type === "array")
      return Array.from({ length: (schema.minItems ?? 0) + dice.below(3) }, () => valid(schema.items, name));
    const members = schema.properties ?? schema.patternProperties ?? schema.additionalProperties;
    return typeof members === "object" ? object(schema) : garbage(dice);
  };
  /** Makes one place of a valid value invalid. */
  const spoil = (value: unknown): unknown => {
    if (Array.isArray(value) && value.length > 0 && dice.chance(0.7)) {
      const at = dice.below(value.length);
      return value.with(at, spoil(value[at]));
    }
    if (typeof value !== "object" || value === null || dice.chance(0.05)) return garbage(dice);
    const record = { ...(value as Record<string, unknown>) };
    const keys = Object.keys(record);
    const key = keys.length > 0 ? dice.pick(keys) : "extra";
    const way = dice.below(4);
    if (way === 0) delete record[key];
    else if (way === 1) record[dice.pick(STRINGS)] = garbage(dice);
    else record[key] = spoil(record[key]);
    return record;
  };
  return { valid, nearly: (schema, name) => spoil(valid(schema, name)) };
}
