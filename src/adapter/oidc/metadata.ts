/** What a discovery document says, which a library checks only where it needs it. */

/** Whether it is an address that a browser or a request could be sent to. */
export function isWebAddress(value: unknown): boolean {
  return typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

/** What a provider lists of something; undefined when it does not say, or not as a list. */
export const listed = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : undefined;
