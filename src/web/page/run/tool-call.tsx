/** A tool call on one line: which tool, on what, how long, and whether it succeeded. Opened, it shows everything. */
import { Brain, ChevronRight, CircleAlert, LoaderCircle } from "lucide-react";
import { type Schemas, siteUrl } from "../../api/client.ts";
import { formatDuration, pluralize } from "../../ui/format.ts";
import { OutputText } from "../../ui/output-text.tsx";
import { CopyButton } from "../../ui/page.tsx";

type Call = Schemas["TranscriptCall"];

/** Summarizes the input on one line. */
function summarize(input: unknown): string {
  if (typeof input !== "object" || input === null) return String(input ?? "");
  const record = input as Record<string, unknown>;
  for (const name of ["command", "path", "file_path", "pattern", "query", "url", "name", "summary", "reason", "task"])
    if (typeof record[name] === "string") return record[name].split("\n")[0] ?? "";
  const text = JSON.stringify(record);
  return text === "{}" ? "" : text;
}

interface Props {
  call: Call;
  /** Id of the call's session. With it, the call links to its complete output. */
  session?: string;
  /** The text that the log was searched for. */
  searched?: string;
}

const holds = (text: string | null, searched: string): boolean =>
  text?.toLowerCase().includes(searched.toLowerCase()) ?? false;

export function ToolCall({ call, session, searched = "" }: Props) {
  const { tool, input, ok, output, output_characters, status, duration_ms } = call;
  const isFound = searched !== "" && (holds(output, searched) || holds(JSON.stringify(input) ?? "", searched));
  const isCut = output !== null && output_characters > output.length;
  const failed = ok === false || status === "interrupted";
  return (
    <details open={isFound} className="group my-1 rounded-md border border-line bg-panel">
      <summary className="flex min-h-8 items-center gap-2 px-2 text-sm max-sm:min-h-11">
        <ChevronRight aria-hidden size={13} className="shrink-0 text-faint transition-transform group-open:rotate-90" />
        <span className="shrink-0 font-mono text-xs font-semibold">{tool}</span>
        <span className="line-clamp-1 min-w-0 flex-1 font-mono text-xs text-dim">{summarize(input)}</span>
        {failed && (
          <span className="inline-flex shrink-0 items-center gap-1 text-bad">
            <CircleAlert aria-hidden size={14} />
            {status === "interrupted" ? "interrupted" : "failed"}
          </span>
        )}
        {status === "running" && (
          <LoaderCircle role="img" aria-label="running" size={14} className="spin shrink-0 text-run" />
        )}
        {duration_ms !== null && (
          <span className="shrink-0 text-xs text-faint tabular-nums">{formatDuration(duration_ms)}</span>
        )}
      </summary>
      <div className="border-t border-line px-3 py-2">
        <Block title="Input" text={typeof input === "string" ? input : JSON.stringify(input, null, 2)} />
        {output !== null && (
          <Block
            title={`Output${isCut ? ` (cut; ${pluralize(output_characters, "character")} in all)` : ""}`}
            text={output}
          />
        )}
        {isCut && session && (
          <a
            href={siteUrl(`/v1/sessions/${session}/calls/${encodeURIComponent(call.call_id)}/output`)}
            target="_blank"
            rel="noopener"
            className="inline-flex items-center text-sm underline max-sm:min-h-11"
          >
            Open the whole output
          </a>
        )}
      </div>
    </details>
  );
}

function Block({ title, text }: { title: string; text: string }) {
  if (!text) return null;
  return (
    <div className="mb-2 last:mb-0">
      <div className="flex items-center justify-between text-xs text-faint">
        {title}
        <CopyButton text={text} />
      </div>
      <pre tabIndex={0} className="max-h-96 overflow-auto font-mono text-xs whitespace-pre-wrap">
        <OutputText text={text} />
      </pre>
    </div>
  );
}

export function Thinking({ text }: { text: string }) {
  return (
    <details className="group my-1 text-sm text-dim">
      <summary className="inline-flex min-h-7 items-center gap-1.5 max-sm:min-h-11">
        <Brain aria-hidden size={14} />
        Thinking
        <ChevronRight aria-hidden size={13} className="transition-transform group-open:rotate-90" />
      </summary>
      <p className="mt-1 border-l-2 border-line pl-3 whitespace-pre-wrap">{text}</p>
    </details>
  );
}
