/** Asks before the person leaves a page with unsaved text. */
import { useSyncExternalStore } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { type Leaving, leavingState } from "../ui/unsaved.ts";

export function LeaveQuestion() {
  const leaving = useSyncExternalStore(leavingState.subscribe, leavingState.get);
  return leaving && <Question leaving={leaving} />;
}

function Question({ leaving: { unsaved, go, loses = false } }: { leaving: Leaving }) {
  const close = () => leavingState.set(null);
  const leave = (discard: boolean) => {
    if (discard) for (const one of unsaved) one.discard();
    close();
    go();
  };
  const isKept = unsaved.every(({ kept }) => kept);
  const names = [...new Set(unsaved.map(({ what }) => what))];
  return (
    <Dialog title="Not saved yet" onClose={close}>
      <p>You have not saved {names.join(", ")}.</p>
      <p className="mt-1 text-dim">
        {loses
          ? "Logging out removes it from this browser."
          : isKept
            ? "If you leave, a draft of it stays in this tab until you log out."
            : "If you leave, it is lost."}
      </p>
      <div className="mt-4 flex flex-wrap justify-end gap-2">
        <Button onClick={close}>Stay here</Button>
        <Button label={loses ? "Log out" : isKept ? "Discard it" : "Leave"} kind="danger" onClick={() => leave(true)} />
        {isKept && !loses && <Button label="Leave, keep the draft" kind="primary" onClick={() => leave(false)} />}
      </div>
    </Dialog>
  );
}
