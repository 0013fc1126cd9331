/** Whether single keys do something, kept on this machine: off for those who speak to it. */
const NAME = "skep-keys";

export const keysOn = (): boolean => localStorage.getItem(NAME) !== "off";

export function setKeysOn(on: boolean): void {
  if (on) localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, "off");
}
