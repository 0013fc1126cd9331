/** Links within a text. */
import type { ReactNode } from "react";
import { Link } from "wouter";

/** The address of a page and its name. */
export type LinkTo = [href: string, name: string];

interface Props {
  href: string;
  children: ReactNode;
}

export const TextLink = ({ href, children }: Props) => (
  <Link href={href} className="underline">
    {children}
  </Link>
);

/** The name of something that has a page. */
export const NameLink = ({ href, children }: Props) => (
  <Link href={href} className="hover:underline">
    {children}
  </Link>
);

/** Beside a heading: leads to the complete list of which a part is shown. */
export const MoreLink = ({ href, children }: Props) => (
  <Link href={href} className="text-sm text-dim hover:text-ink hover:underline">
    {children}
  </Link>
);
