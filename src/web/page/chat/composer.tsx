/**
 * The message field: Enter sends, Shift+Enter adds a line, Escape stops the reply. Files are added by button, paste or
 * drop.
 */
import { ArrowUp, Paperclip, Square } from "lucide-react";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { useChange } from "../../kit/change.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { UploadList, useUploads } from "./uploads.tsx";

type Mode = "queue" | "steer" | "interrupt";
const MODES: [Mode, string, string][] = [
  ["queue", "After this reply", "It waits for its turn."],
  ["steer", "Into this reply", "The agent reads it before its next step; a running tool is not disturbed."],
  ["interrupt", "Instead of it", "The reply ends; what it said so far is kept."],
];

interface Outgoing {
  message: string;
  mode?: Mode;
  attachment_ids?: string[];
}

interface Props {
  /** Whether a reply is running. */
  busy: boolean;
  draft: string;
  setDraft(text: string): void;
  send(outgoing: Outgoing): Promise<unknown>;
  stop(): Promise<unknown>;
  onSent(): void;
}

export function Composer({ busy, draft, setDraft, onSent, ...actions }: Props) {
  const [mode, setMode] = useState<Mode>("queue");
  const [over, setOver] = useState(false);
  const action = useChange();
  const uploads = useUploads();
  const box = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: its height follows its text.
  useEffect(() => {
    const area = box.current;
    if (!area) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, innerHeight * 0.4)}px`;
  }, [draft]);
  const uploading = uploads.list.some(({ id, error }) => !id && !error);
  const ready = draft.trim() !== "" && !uploading;
  const sent = useRef<Promise<unknown>>(Promise.resolve());
  const now = useRef(draft);
  now.current = draft;
  const send = () => {
    if (!ready) return;
    const attachment_ids = uploads.list.flatMap(({ id }) => (id ? [id] : []));
    const outgoing = {
      message: draft,
      ...(busy ? { mode } : {}),
      ...(attachment_ids.length > 0 ? { attachment_ids } : {}),
    };
    setDraft("");
    uploads.clear();
    setMode("queue");
    // Send messages one after another, in the order in which they were written.
    sent.current = sent.current.then(async () => {
      const done = await action.run(() => actions.send(outgoing));
      // Put a refused message back, so that it can be changed and sent again, unless the person is typing another
      // already.
      if (!done && now.current === "") setDraft(draft);
      if (done) onSent();
    });
    box.current?.focus();
  };
  const stop = () => action.run(actions.stop);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    uploads.add(event.dataTransfer.files);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files may be dropped; the button beside does the same.
    <div
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <ProblemNote error={action.error} />
      <div
        className={`rounded-xl border bg-panel shadow-sm outline-offset-1 outline-focus has-[textarea:focus-visible]:outline-2 ${over ? "border-accent" : "border-line-strong"}`}
      >
        <UploadList uploads={uploads} />
        <textarea
          ref={box}
          rows={1}
          aria-label="Message"
          placeholder={busy ? "Say something while it answers" : "Say something"}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
          onPaste={(event) => {
            if (event.clipboardData.files.length === 0) return;
            event.preventDefault();
            uploads.add(event.clipboardData.files);
          }}
          onKeyDown={(event) => {
            if (event.key === "Escape" && busy) {
              event.stopPropagation();
              void stop();
            }
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void send();
          }}
          className="block w-full resize-none bg-transparent px-3 pt-2.5 pb-1 text-base outline-none placeholder:text-faint max-sm:text-lg"
        />
        <div className="flex items-center gap-1 px-1.5 pb-1.5">
          <IconButton label="Add files" onClick={() => picker.current?.click()} icon={Paperclip} iconSize={16} />
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label="Files"
            onChange={(event) => {
              uploads.add(event.target.files ?? []);
              event.target.value = "";
            }}
          />
          {busy && (
            <Select
              bare
              aria-label="When it is read"
              title={MODES.find(([id]) => id === mode)?.[2]}
              value={mode}
              onPick={setMode}
              className="h-8 rounded-md border border-line bg-panel px-1.5 text-sm text-dim max-sm:h-11"
              options={MODES}
            />
          )}
          <span className="ml-auto" />
          {busy && <Button label="Stop" icon={Square} iconSize={12} onClick={stop} title="Stop the reply (Esc)" />}
          <Button label="Send" kind="primary" disabled={!ready} icon={ArrowUp} iconSize={15} onClick={send} />
        </div>
      </div>
    </div>
  );
}
