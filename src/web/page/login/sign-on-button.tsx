/** The button of a sign-on provider, for the log-in page and for the preview in the provider's settings. */
import { Building2, Fingerprint, Globe, KeyRound, Lock, type LucideIcon, ShieldCheck, User, Users } from "lucide-react";
import type { Schemas } from "../../api/client.ts";

type Look = Schemas["Oidc"]["button"];

/** Icons by the word that the settings store. */
export const SIGN_ON_ICONS: Record<string, { title: string; icon: LucideIcon }> = {
  building: { title: "Building", icon: Building2 },
  fingerprint: { title: "Fingerprint", icon: Fingerprint },
  globe: { title: "Globe", icon: Globe },
  key: { title: "Key", icon: KeyRound },
  lock: { title: "Lock", icon: Lock },
  shield: { title: "Shield", icon: ShieldCheck },
  user: { title: "Person", icon: User },
  users: { title: "People", icon: Users },
};

const SHAPE =
  "flex h-9 max-sm:h-11 items-center justify-center gap-2 rounded-md border border-line-strong bg-panel px-2 font-medium hover:bg-hover";

/** Black or white, whichever is easier to read on the color `#rrggbb`, by WCAG's luminance. */
function inkOn(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}

/** @param href without an address the button is only a preview. */
export function SignOnButton({ name, look, href }: { name: string; look: Look; href?: string }) {
  const { label, icon = "", color = "" } = look;
  const Icon = SIGN_ON_ICONS[icon]?.icon;
  const face = (
    <>
      {Icon && <Icon aria-hidden size={16} className="shrink-0" />}
      <span className="truncate">{label || `Continue with ${name}`}</span>
    </>
  );
  const style = /^#[0-9a-f]{6}$/i.test(color)
    ? { backgroundColor: color, borderColor: color, color: inkOn(color) }
    : undefined;
  return href ? (
    <a href={href} style={style} className={SHAPE}>
      {face}
    </a>
  ) : (
    <div style={style} className={SHAPE}>
      {face}
    </div>
  );
}
