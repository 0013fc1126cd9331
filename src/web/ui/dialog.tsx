/**
 * Dialogs based on the browser's `<dialog>`, which keeps the focus inside. Closing a dialog with typed text asks first.
 */
import { X } from "lucide-react";
import {
  createContext,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useContext,
  useEffect,
  useRef,
  useState,
} from "react";
import { Button, IconButton } from "./button.tsx";
import { Guard } from "./guard.tsx";
import { useTyped } from "./typed.ts";
import { useUnsaved } from "./unsaved.ts";

interface DialogProps {
  title: string;
  onClose(): void;
  children: ReactNode;
  /** Makes the dialog wider than a form needs. */
  wide?: boolean;
}

interface Around {
  /** Closes the dialog, after asking if typed text would be lost. */
  close(): void;
  /** Sets whether the form is being sent. Meanwhile the page may navigate to the result without asking. */
  setSending(is: boolean): void;
  /** Says that the typed text was sent, so that it is no longer unsaved. */
  markSent(): void;
}
const DialogAround = createContext<Around | null>(null);
/** The dialog around the calling component, if any. */
export const useDialog = (): Around | null => useContext(DialogAround);

export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const typed = useTyped(dialog);
  const [asking, setAsking] = useState(false);
  /**
   * Whether the mouse was pressed outside of the dialog's content. Selecting text may end there without having begun
   * there.
   */
  const pressedBeside = useRef(false);
  const isSending = useRef(false);
  const setSending = (is: boolean) => {
    isSending.current = is;
  };
  useUnsaved(() =>
    typed.has() && !isSending.current
      ? { what: `what you typed in “${title}”`, asks: true, discard: typed.clear }
      : null,
  );
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    // Focus the first field rather than the close button.
    dialog.current?.querySelector<HTMLElement>("input:not([type=hidden]), textarea, select")?.focus();
    return () => {
      // A dialog that is removed while it is open, for example after its form was sent, does not return the focus by
      // itself.
      const lost = document.activeElement === null || document.activeElement === document.body;
      if (lost && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  const closeNow = () => {
    typed.clear();
    dialog.current?.close();
  };
  const close = () => (typed.has() ? setAsking(true) : closeNow());
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    if (asking) setAsking(false);
    else close();
  };
  const onClick = ({ target }: MouseEvent) => {
    if (target === dialog.current && pressedBeside.current) close();
  };
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={() => {
        if (!typed.has()) return onClose();
        // A phone's back gesture has closed the dialog without asking, so open it again and ask.
        dialog.current?.showModal();
        setAsking(true);
      }}
      onCancel={(event) => {
        if (event.target !== dialog.current) return;
        event.preventDefault();
        close();
      }}
      onMouseDown={({ target }) => {
        pressedBeside.current = target === dialog.current;
      }}
      onClick={onClick}
      onKeyDown={onKeyDown}
      className={`m-auto w-[calc(100vw-2rem)] ${wide ? "max-w-4xl" : "max-w-lg"} rounded-xl border border-line bg-panel p-0 shadow-2xl`}
    >
      <div className="flex max-h-[85dvh] flex-col">
        <div className="flex items-center justify-between border-b border-line py-2 pr-2 pl-4">
          <h2 className="font-semibold">{title}</h2>
          <IconButton label="Close" onClick={close} icon={X} iconSize={16} />
        </div>
        {/* The padding belongs to the scrolling part, so that the form's footer stays at the dialog's edge. */}
        <div className="scroll-pb-20 overflow-y-auto">
          <div className="p-4">
            <DialogAround.Provider value={{ close, setSending, markSent: typed.clear }}>
              <Guard>{children}</Guard>
            </DialogAround.Provider>
          </div>
        </div>
        {asking && <AskToDiscard stay={() => setAsking(false)} discard={closeNow} />}
      </div>
    </dialog>
  );
}

/** A question at the dialog's foot, so that its fields stay in sight. */
function AskToDiscard({ stay, discard }: { stay(): void; discard(): void }) {
  return (
    <div
      role="alertdialog"
      aria-label="Discard what you typed?"
      className="flex flex-wrap items-center justify-end gap-2 border-t border-wait/40 bg-wait-soft px-4 py-2.5"
    >
      <p className="mr-auto font-medium">Discard what you typed?</p>
      <Button label="Keep writing" autoFocus onClick={stay} />
      <Button label="Discard" kind="danger" onClick={discard} />
    </div>
  );
}
