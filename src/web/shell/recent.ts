/**
 * The addresses that a person opened through the palette, newest first. They stay in this browser until the log-out.
 */
const NAME = "skep-recent";
const KEPT = 8;

interface Recent {
  group: string;
  label: string;
  detail?: string | undefined;
  path: string;
}

export function recentOnes(): Recent[] {
  try {
    return JSON.parse(localStorage.getItem(NAME) ?? "[]");
  } catch {
    return [];
  }
}

export function noteRecent({ group, label, detail, path }: Recent): void {
  const others = recentOnes().filter((one) => one.path !== path);
  localStorage.setItem(NAME, JSON.stringify([{ group, label, detail, path }, ...others].slice(0, KEPT)));
}

export const forgetRecent = (): void => localStorage.removeItem(NAME);
