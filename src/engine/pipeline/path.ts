/** Dotted paths of templates and conditions: reading plain data by own properties only. */

/** At most this many parts: `steps.design.outputs.tasks.0.title` has six. */
const PATH_PARTS = 16;

const PART = /^[A-Za-z0-9_-]{1,64}$/;
/** Parts of every object of the language, never of our data. */
const NEVER: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

export const isReservedName = (name: string): boolean => NEVER.has(name);

/** The parts of a path, or null when it is not one. Paths begin with a letter or underscore. */
export function parsePath(text: string): string[] | null {
  if (text.length > 1_000 || !/^[A-Za-z_]/.test(text)) return null;
  const parts = text.split(".");
  return parts.length <= PATH_PARTS && parts.every((part) => PART.test(part) && !NEVER.has(part)) ? parts : null;
}

/** The value at the path; undefined where there is none. Own properties of plain objects and lists, nothing else. */
export function readPath(root: unknown, path: readonly string[]): unknown {
  let value: unknown = root;
  for (const part of path) {
    if (value === null || typeof value !== "object" || NEVER.has(part) || !Object.hasOwn(value, part)) return undefined;
    if (Array.isArray(value) && !/^\d+$/.test(part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}
