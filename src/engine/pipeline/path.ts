/** Dotted paths in templates and conditions. They read only own properties of plain data. */

/** At most this many parts: `steps.design.outputs.tasks.0.title` has six. */
const PATH_PARTS = 16;

const PART = /^[A-Za-z0-9_-]{1,64}$/;
/** Properties that every JavaScript object inherits and that are never part of our data. */
const NEVER: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

export const isReservedName = (name: string): boolean => NEVER.has(name);

/** Splits a path into its parts; null when it is not a valid path. Paths begin with a letter or an underscore. */
export function parsePath(text: string): string[] | null {
  if (text.length > 1_000 || !/^[A-Za-z_]/.test(text)) return null;
  const parts = text.split(".");
  return parts.length <= PATH_PARTS && parts.every((part) => PART.test(part) && !NEVER.has(part)) ? parts : null;
}

/** The value at the path; undefined where there is none. Reads only own properties of plain objects and lists. */
export function readPath(root: unknown, path: readonly string[]): unknown {
  let value: unknown = root;
  for (const part of path) {
    if (value === null || typeof value !== "object" || NEVER.has(part) || !Object.hasOwn(value, part)) return undefined;
    if (Array.isArray(value) && !/^\d+$/.test(part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}
