/** Says that a text may repeat content from outside, and why. A person who has read it can confirm it. */
import { Check, ShieldQuestionMark } from "lucide-react";
import type { ReactNode } from "react";
import type { Action } from "./action.ts";
import { Button } from "./button.tsx";
import { ProblemNote } from "./problem-note.tsx";

export function Unconfirmed({
  children,
  reason,
  action,
  confirm,
}: {
  /** The consequences. */
  children: ReactNode;
  /** The reason, as the server states it. */
  reason: string | null | undefined;
  /** The state of the confirmation; undefined if there is nothing to confirm. */
  action?: Action;
  confirm?(): unknown;
}) {
  return (
    <section aria-label="Outside text" className="my-3 rounded-lg border border-line bg-sunken px-3 py-2.5">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-2">
        <ShieldQuestionMark aria-hidden size={17} className="shrink-0 text-dim" />
        <p className="min-w-0 flex-1 basis-64 text-dim">
          {children} {reason}
        </p>
        {confirm && <Button label="Confirm" busy={action?.busy ?? false} icon={Check} onClick={confirm} />}
      </div>
      <ProblemNote error={action?.error} />
    </section>
  );
}
