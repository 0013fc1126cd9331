/** Dialogs over the browser's own `<dialog>`: it keeps the focus inside. Closing one with typed text in it asks first. */
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
  /** Wider than a form needs. */
  wide?: boolean;
}

interface Around {
  /** Closes the dialog; asks first where text would be lost. */
  close(): void;
  /** While what was typed is sent, the page may go on to what is made of it. */
  sending(is: boolean): void;
  /** What was typed was sent. */
  sent(): void;
}
const DialogAround = createContext<Around | null>(null);
/** The dialog that this is in, if any. */
export const useDialog = (): Around | null => useContext(DialogAround);

export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const typed = useTyped(dialog);
  const [asking, setAsking] = useState(false);
  /** Whether the mouse went down beside the dialog: a selection of text may end there without having begun there. */
  const pressedBeside = useRef(false);
  const isSending = useRef(false);
  const sending = (is: boolean) => {
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
      // One that is taken away while open, as after its form is sent, does not give the focus back by itself.
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
        // A phone's gesture to go back closes it without having asked.
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
        {/* The padding is of what scrolls: the foot of a form stays at the dialog's own edge. */}
        <div className="scroll-pb-20 overflow-y-auto">
          <div className="p-4">
            <DialogAround.Provider value={{ close, sending, sent: typed.clear }}>
              <Guard>{children}</Guard>
            </DialogAround.Provider>
          </div>
        </div>
        {asking && <AskToDiscard stay={() => setAsking(false)} discard={closeNow} />}
      </div>
    </dialog>
  );
}

/** At the foot of the dialog, whose fields stay in sight. */
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
