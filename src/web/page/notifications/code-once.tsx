/** The code that links a chat to a channel. It is shown once. */
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { CopyButton } from "../../ui/page.tsx";
import { Ago } from "../../ui/time.tsx";
import type { LinkCode } from "./channels.ts";

export function CodeOnce({ link, onClose }: { link: LinkCode; onClose(): void }) {
  const text = `/link ${link.code}`;
  return (
    <Dialog title="Link a chat" onClose={onClose}>
      <p className="mb-2">
        Send this to the bot, in the chat that you want to be asked in. It works once; it expires{" "}
        <Ago at={link.expires_at} />.
      </p>
      <p className="mb-4 flex items-center gap-2 rounded-md bg-sunken px-3 py-2">
        <code className="min-w-0 break-all">{text}</code>
        <CopyButton text={text} label="Copy the message" />
      </p>
      <div className="flex justify-end">
        <Button kind="primary" onClick={onClose}>
          I have sent it
        </Button>
      </div>
    </Dialog>
  );
}
