/** Whether the value is a JSON object: not null and not a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The object's members, each unknown; empty when the value is not an object. */
export const membersOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** The member of this name if it is text. */
export function textIn(value: unknown, name: string): string | undefined {
  const found = membersOf(value)[name];
  return typeof found === "string" ? found : undefined;
}

/** The member of this name if it is a number. */
export function numberIn(value: unknown, name: string): number | undefined {
  const found = membersOf(value)[name];
  return typeof found === "number" ? found : undefined;
}

/** The items of the member of this name; empty when it is not a list. */
export function listIn(value: unknown, name: string): unknown[] {
  const found = membersOf(value)[name];
  return Array.isArray(found) ? found : [];
}

/** The object's members by name, in order; empty when the value is not an object. */
export const entriesOfObject = (value: unknown): [string, unknown][] => Object.entries(membersOf(value));
