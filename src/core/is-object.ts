/** Whether it is a JSON object: neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Its members, each unknown; none of what is not an object. */
export const membersOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** Its member of that name where it is text. */
export function textIn(value: unknown, name: string): string | undefined {
  const found = membersOf(value)[name];
  return typeof found === "string" ? found : undefined;
}

/** Its member of that name where it is a number. */
export function numberIn(value: unknown, name: string): number | undefined {
  const found = membersOf(value)[name];
  return typeof found === "number" ? found : undefined;
}

/** The items of its member of that name; none where that is no list. */
export function listIn(value: unknown, name: string): unknown[] {
  const found = membersOf(value)[name];
  return Array.isArray(found) ? found : [];
}

/** Its members by name, in order; none of what is not an object. */
export const entriesOfObject = (value: unknown): [string, unknown][] => Object.entries(membersOf(value));
