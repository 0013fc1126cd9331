/** Short messages at the edge of the page about what was done, undone or failed. Screen readers read them aloud. */
import { X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { IconButton } from "./button.tsx";

interface Notice {
  id: number;
  text: string;
  undo?: () => void;
}

let notices: Notice[] = [];
let next = 1;
const readers = new Set<() => void>();
const change = (list: Notice[]) => {
  notices = list;
  for (const reader of readers) reader();
};
const drop = (id: number) => change(notices.filter((one) => one.id !== id));

/** Shows a message for six seconds. `undo` adds a button that undoes the action. */
export function notify(text: string, undo?: () => void): void {
  const id = next++;
  change([...notices.slice(-2), { id, text, ...(undo ? { undo } : {}) }]);
  setTimeout(() => drop(id), 6_000);
}

const subscribe = (act: () => void) => {
  readers.add(act);
  return () => readers.delete(act);
};

export function Notices() {
  const shown = useSyncExternalStore(subscribe, () => notices);
  return (
    <div role="status" aria-live="polite" className="notices fixed right-4 z-40 flex flex-col gap-2">
      {shown.map(({ id, text, undo }) => (
        <div
          key={id}
          className="flex items-center gap-3 rounded-lg border border-line bg-solid py-1 pr-1 pl-3 text-sm text-solid-ink shadow-xl"
        >
          {text}
          {undo && (
            <button
              type="button"
              className="rounded px-2 py-1 font-semibold underline"
              onClick={() => {
                undo();
                drop(id);
              }}
            >
              Undo
            </button>
          )}
          <IconButton
            label="Dismiss"
            className="text-solid-ink! hover:bg-transparent!"
            onClick={() => drop(id)}
            icon={X}
          />
        </div>
      ))}
    </div>
  );
}
