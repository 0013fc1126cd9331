/** Whether it is a JSON object: neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Its members, each unknown; none of what is not an object. */
export const membersOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
