/** Shows a value only once, so that it can be copied: a key, or the code that links a chat to a channel. */
import type { ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { CopyButton } from "../../ui/page.tsx";
import { Ago } from "../../ui/time.tsx";
import type { LinkCode } from "./channels.ts";

interface ShownOnceProps {
  title: string;
  text: string;
  /** Label of the copy button. */
  copy: string;
  /** Label of the button that closes the dialog. */
  word: string;
  onClose(): void;
  children: ReactNode;
}

export function ShownOnce({ title, text, copy, word, onClose, children }: ShownOnceProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="mb-2">{children}</p>
      <p className="mb-4 flex items-center gap-2 rounded-md bg-sunken px-3 py-2">
        <code className="min-w-0 break-all">{text}</code>
        <CopyButton text={text} label={copy} />
      </p>
      <div className="flex justify-end">
        <Button label={word} kind="primary" onClick={onClose} />
      </div>
    </Dialog>
  );
}

export const CodeOnce = ({ link, onClose }: { link: LinkCode; onClose(): void }) => (
  <ShownOnce
    title="Link a chat"
    text={`/link ${link.code}`}
    copy="Copy the message"
    word="I have sent it"
    onClose={onClose}
  >
    Send this to the bot, in the chat that you want to be asked in. It works once; it expires{" "}
    <Ago at={link.expires_at} />.
  </ShownOnce>
);
