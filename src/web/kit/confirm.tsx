/** Asks for confirmation before an action that cannot be undone, and then does it. */
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
  /** The text of the button: the action itself. */
  word: string;
  /** Paths whose answers are different after the action. */
  changes: ApiPath[];
  /** The action. If the answer that it returns contains a problem, it is shown, and the dialog stays open. */
  act(): Promise<unknown>;
  /** Page to open after success, before the current page asks for data that no longer exists. */
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
