/** Dialogs over the browser's own `<dialog>`: it keeps the focus inside and closes with Escape. */
import { X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button, IconButton } from "./button.tsx";
import { ProblemNote } from "./note.tsx";

interface DialogProps {
  title: string;
  onClose(): void;
  children: ReactNode;
  /** Wider than a form needs. */
  wide?: boolean;
}

export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    // Focus the first field rather than the close button.
    dialog.current?.querySelector<HTMLElement>("input:not([type=hidden]), textarea, select")?.focus();
    return () => {
      // One that is taken away while open, as after its form is sent, does not give the focus back by itself.
      const lost = document.activeElement === null || document.activeElement === document.body;
      if (lost && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
      onKeyDown={(event) => event.stopPropagation()}
      className={`m-auto w-[calc(100vw-2rem)] ${wide ? "max-w-4xl" : "max-w-lg"} rounded-xl border border-line bg-panel p-0 shadow-2xl`}
    >
      <div className="flex max-h-[85dvh] flex-col">
        <div className="flex items-center justify-between border-b border-line py-2 pr-2 pl-4">
          <h2 className="font-semibold">{title}</h2>
          <IconButton label="Close" onClick={() => dialog.current?.close()}>
            <X aria-hidden size={16} />
          </IconButton>
        </div>
        <div className="overflow-y-auto p-4">{children}</div>
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  /** What will happen, and whether it can be undone. */
  children: ReactNode;
  /** The word on the button: the action itself. */
  word: string;
  danger?: boolean;
  act(): Promise<unknown>;
  onClose(): void;
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, children, word, danger = true, act, onClose }: ConfirmProps) {
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await act();
      onClose();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="text-dim">{children}</div>
      <ProblemNote error={error} />
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>Keep</Button>
        <Button kind={danger ? "danger" : "primary"} busy={busy} onClick={go}>
          {word}
        </Button>
      </div>
    </Dialog>
  );
}
