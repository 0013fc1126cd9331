/** Asks before something that cannot be undone, and does it. */
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ProblemNote } from "../ui/problem-note.tsx";
import { type ApiPath, settle, useChange } from "./change.ts";

interface ConfirmProps {
  title: string;
  /** What will happen, and whether it can be undone. */
  children: ReactNode;
  /** The word on the button: the action itself. */
  word: string;
  /** Paths whose answers are other ones afterwards. */
  changes: ApiPath[];
  /** A problem in the answer that it returns is shown, and the question stays. */
  act(): Promise<unknown>;
  /** Where the person goes once it is done: before the page asks for what is no longer there. */
  leaveTo?: string | undefined;
  onClose(): void;
}

export function Confirm({ title, children, word, changes, act, leaveTo, onClose }: ConfirmProps) {
  const { busy, error, run } = useChange(...changes);
  const [, navigate] = useLocation();
  const go = async () => {
    const done = await run(async () => {
      await settle(act());
      if (leaveTo !== undefined) navigate(leaveTo);
    });
    if (done) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="text-dim">{children}</div>
      <ProblemNote error={error} />
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>Keep</Button>
        <Button label={word} kind="danger" busy={busy} onClick={go} />
      </div>
    </Dialog>
  );
}
