/** What a session says and does, newest last. While it is active, its text is appended as it arrives. */
import { Search } from "lucide-react";
import { useDeferredValue, useEffect, useState } from "react";
import type { Schemas } from "../../api/client.ts";
import { refresh, usePages } from "../../api/queries.ts";
import { Empty, Loading } from "../../ui/note.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { More } from "../../ui/table.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Tail } from "./tail.tsx";
import { Thinking, ToolCall } from "./tool-call.tsx";

type Message = Schemas["TranscriptMessage"];

export function Transcript({ session, live }: { session: string; live: boolean }) {
  const [text, setText] = useState("");
  const q = useDeferredValue(text.trim());
  const query = usePages("/v1/sessions/{id}/transcript", {
    path: { id: session },
    query: { limit: 50, ...(q ? { q } : {}) },
  });
  // When the session has ended, load the transcript again: its last words became messages, and the tail that would ask
  // for them is gone.
  useEffect(() => (live ? () => void refresh("/v1/sessions/{id}/transcript") : undefined), [live]);
  const messages = query.rows.toReversed();
  // The first message is what the agent was asked, and it is left out. A search keeps it, since it may contain the
  // match.
  const asked = !q && messages[0]?.seq === 0 && messages[0].role === "user";
  const [hiding, setHiding] = useParam("hide");
  const hidden = new Set(hiding.split(",").filter(Boolean));
  const shown = (asked ? messages.slice(1) : messages).filter((message) => !isHidden(message, hidden));
  const toggle = (kind: string) => {
    const next = hidden.has(kind) ? [...hidden].filter((one) => one !== kind) : [...hidden, kind];
    setHiding(next.join(","));
  };
  return (
    <div>
      <div className="mt-4 mb-2 flex flex-wrap items-center gap-2">
        <h3 className="mr-auto text-sm font-semibold">Log</h3>
        <fieldset className="flex gap-1" aria-label="What the log shows">
          {KINDS.map(({ id, name }) => (
            <button
              key={id}
              type="button"
              aria-pressed={!hidden.has(id)}
              onClick={() => toggle(id)}
              className="h-8 max-sm:h-11 rounded-md border border-line px-2 text-sm text-dim hover:bg-hover aria-pressed:border-line-strong aria-pressed:bg-panel aria-pressed:text-ink"
            >
              {name}
            </button>
          ))}
        </fieldset>
        <div className="relative">
          <Search
            aria-hidden
            size={13}
            className="pointer-events-none absolute top-1/2 left-2 -translate-y-1/2 text-faint"
          />
          <input
            type="search"
            data-filter
            aria-label="Search the log"
            placeholder="Search the log"
            value={text}
            onChange={(event) => setText(event.target.value)}
            className="h-8 max-sm:h-11 w-44 rounded-md border border-line-strong bg-panel pr-2 pl-7 text-sm placeholder:text-faint"
          />
        </div>
      </div>
      <ProblemNote error={query.error} retry={query.refetch} />
      <More query={query} quiet className="mb-2">
        Earlier messages
      </More>
      {query.isPending && <Loading rows={3} />}
      {query.data && shown.length === 0 && !live && (
        <Empty>
          {hidden.size > 0
            ? "What there is of the log is hidden."
            : q
              ? "Nothing in the log matches. Of an output over 32 kB its beginning and end are in the log; it says where the whole is."
              : "It said nothing."}
        </Empty>
      )}
      <div role="log" aria-live="off" aria-label="Log of the step" className="flex flex-col gap-2">
        {shown.map((message) => (
          <MessageRow key={message.seq} session={session} message={message} hidden={hidden} searched={q} />
        ))}
        {live && !q && !hidden.has("words") && <Tail session={session} last={shown.at(-1)?.text ?? ""} />}
      </div>
    </div>
  );
}

/** The kinds of entries that can be hidden from the log. */
const KINDS = [
  { id: "words", name: "Words" },
  { id: "thinking", name: "Thinking" },
  { id: "tools", name: "Tools" },
  { id: "inputs", name: "Inputs" },
];

/** Whether everything in the message is hidden. */
function isHidden({ role, text, thinking, calls }: Message, hidden: ReadonlySet<string>): boolean {
  if (role !== "assistant") return hidden.has("inputs");
  const left = [
    text && !hidden.has("words"),
    thinking && !hidden.has("thinking"),
    calls.length && !hidden.has("tools"),
  ];
  return hidden.size > 0 && !left.some(Boolean);
}

interface RowProps {
  session: string;
  message: Message;
  hidden: ReadonlySet<string>;
  /** The text that the log was searched for: calls that contain it are open. */
  searched: string;
}

function MessageRow({ session, message, hidden, searched }: RowProps) {
  return (
    <div className="row-block">
      {message.role !== "assistant" && (
        <p className="rounded-lg bg-sunken px-3 py-2 text-sm whitespace-pre-wrap text-dim">
          <b className="font-medium text-ink">{message.role === "summary" ? "Summary so far: " : "Input: "}</b>
          {message.text}
        </p>
      )}
      {message.role === "assistant" && (
        <>
          {message.thinking && !hidden.has("thinking") && <Thinking text={message.thinking} />}
          {message.text && !hidden.has("words") && <p className="my-1 whitespace-pre-wrap">{message.text}</p>}
          {!hidden.has("tools") &&
            message.calls.map((call) => (
              <ToolCall key={`${call.call_id} ${searched}`} call={call} session={session} searched={searched} />
            ))}
        </>
      )}
    </div>
  );
}
