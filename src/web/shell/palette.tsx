/** The command palette (Ctrl K): opens pages and objects, and runs actions of the current page. */
import { Command } from "cmdk";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Status } from "../ui/status.tsx";
import { type Entry, type EntryGroup, useEntries } from "./palette-entries.ts";
import { noteRecent } from "./recent.ts";

interface PaletteProps {
  onClose(): void;
  go(path: string): void;
  /** Opens the question whether to stop everything. */
  stop(): void;
}

export default function Palette({ onClose, go, stop }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const groups = useEntries(text, stop);
  const [picked, setPicked] = useState("");
  const ids = groups.flatMap(({ entries }) => entries.map(({ id }) => id));
  // If the selected row is gone after the server's results arrive, select the first row.
  const current = ids.includes(picked) ? picked : (ids[0] ?? "");
  useEffect(() => {
    dialog.current?.showModal();
    // A dialog focuses its first focusable element, which is the one around the field, so focus the field itself.
    input.current?.focus();
  }, []);
  const choose = (entry: Entry) => {
    dialog.current?.close();
    const { path } = entry;
    if (path === undefined) return entry.act?.();
    noteRecent({ ...entry, path, group: entry.group });
    go(path);
  };
  const press = (event: KeyboardEvent) => {
    // Keys must not reach the page behind.
    event.stopPropagation();
    if (event.key === "Escape") {
      event.preventDefault();
      dialog.current?.close();
    }
  };
  return (
    <dialog
      ref={dialog}
      aria-label="Search and commands"
      onClose={onClose}
      onKeyDown={press}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
      className="mx-auto mt-[12dvh] mb-0 w-[calc(100vw-2rem)] max-w-xl overflow-hidden rounded-xl border border-line bg-panel p-0 shadow-2xl"
    >
      <Command
        label="Search and commands"
        loop
        shouldFilter={false}
        value={current}
        onValueChange={setPicked}
        // Pressing on a heading or beside a row must not take the focus from the field.
        onMouseDown={(event) => event.target !== input.current && event.preventDefault()}
      >
        <Command.Input
          ref={input}
          value={text}
          onValueChange={(next) => {
            setText(next);
            setPicked("");
          }}
          placeholder="Where to, or what to do?"
          className="h-12 w-full border-b border-line bg-transparent px-4 text-lg outline-none placeholder:text-faint"
        />
        <Command.List className="max-h-[55dvh] overflow-y-auto p-2">
          <Command.Empty className="p-6 text-center text-dim">Nothing by that name.</Command.Empty>
          {groups.map((group) => (
            <Group key={group.name} group={group} choose={choose} />
          ))}
        </Command.List>
      </Command>
    </dialog>
  );
}

const Group = ({ group: { name, entries }, choose }: { group: EntryGroup; choose(entry: Entry): void }) => (
  <Command.Group
    heading={name}
    className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-faint"
  >
    {entries.map((entry) => (
      <Command.Item
        key={entry.id}
        value={entry.id}
        onSelect={() => choose(entry)}
        className="flex cursor-pointer items-center gap-3 rounded-md px-2 py-1.5 max-sm:min-h-11 data-[selected=true]:bg-hover"
      >
        <span className="line-clamp-1 min-w-0 flex-1">{entry.label}</span>
        {entry.status && <Status status={entry.status} />}
        {entry.detail && <span className="line-clamp-1 max-w-[45%] text-sm text-dim">{entry.detail}</span>}
      </Command.Item>
    ))}
  </Command.Group>
);
