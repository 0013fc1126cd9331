/** Whether single-key shortcuts are on, stored in this browser. */
const NAME = "skep-keys";

export const keysOn = (): boolean => localStorage.getItem(NAME) !== "off";

export function setKeysOn(on: boolean): void {
  if (on) localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, "off");
}
