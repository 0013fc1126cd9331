/** Checks fields of a discovery document, which the library checks only when it needs them. */

/** Whether the value is an address that a browser or a request can be sent to. */
export function isWebAddress(value: unknown): boolean {
  return typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

/** The strings of a list in the document; undefined when it is missing or not a list. */
export const toStrings = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : undefined;
