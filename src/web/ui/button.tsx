import type { LucideIcon } from "lucide-react";
import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Link } from "wouter";

type Kind = "primary" | "plain" | "quiet" | "danger";

const LOOK: Record<Kind, string> = {
  primary: "bg-solid text-solid-ink border-solid hover:opacity-90",
  plain: "bg-panel text-ink border-line-strong hover:bg-hover",
  quiet: "border-transparent text-dim hover:bg-hover hover:text-ink",
  danger: "bg-panel text-bad border-line-strong hover:bg-bad-soft hover:border-bad",
};
const SHAPE =
  "inline-flex items-center justify-center gap-1.5 rounded-md border px-2.5 h-8 max-sm:min-h-11 text-sm font-medium whitespace-nowrap select-none disabled:opacity-50";

interface IconProps {
  icon?: LucideIcon | undefined;
  /** Size in px. */
  iconSize?: number;
}

const IconOf = ({ icon: Icon, iconSize = 14 }: IconProps) => Icon && <Icon aria-hidden size={iconSize} />;

interface Props extends ButtonHTMLAttributes<HTMLButtonElement>, IconProps {
  kind?: Kind;
  /** Whether the action is under way; the button is then disabled. */
  busy?: boolean;
  /** The button's text, if it has no children. */
  label?: string | undefined;
}

export function Button(props: Props) {
  const { kind = "plain", icon, iconSize, busy = false, label, children, className = "", disabled, ...rest } = props;
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={`${SHAPE} ${LOOK[kind]} ${className}`}
    >
      <IconOf icon={icon} iconSize={iconSize} />
      {label}
      {children}
    </button>
  );
}

/** A link that looks like a button. */
export function ButtonLink({
  href,
  kind = "plain",
  label,
  children,
  ...icon
}: IconProps & { href: string; kind?: Kind; label?: string; children?: ReactNode }) {
  return (
    <Link href={href} className={`${SHAPE} ${LOOK[kind]}`}>
      <IconOf {...icon} />
      {label}
      {children}
    </Link>
  );
}

/** A button that is only an icon. `label` is its accessible name. */
export function IconButton({
  label,
  icon,
  iconSize,
  className = "",
  ...rest
}: IconProps & Omit<ButtonHTMLAttributes<HTMLButtonElement>, "children"> & { label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={`inline-flex size-8 max-sm:size-11 items-center justify-center rounded-md text-dim hover:bg-hover hover:text-ink disabled:opacity-50 ${className}`}
    >
      <IconOf icon={icon} iconSize={iconSize} />
    </button>
  );
}
