/**
 * Shows any JSON value to people: objects as lists of names and values, texts with their line breaks, the rest as JSON.
 */
import { formatField, pluralize } from "./format.ts";
import { MarkdownText } from "./markdown-text.tsx";

const LONG = 1_200;

interface Props {
  value: unknown;
  /** Whether an agent wrote the value: its texts are then Markdown, and its keys are shown as words. */
  given?: boolean;
  depth?: number;
}

export function Value({ value, given = false, depth = 0 }: Props) {
  if (value === null || value === undefined || value === "") return <span className="text-faint">nothing</span>;
  if (typeof value === "string") return <Text text={value} given={given} />;
  if (typeof value !== "object") return <span className="font-mono">{String(value)}</span>;
  if (depth > 4) return <Text text={JSON.stringify(value, null, 2)} given={false} />;
  if (Array.isArray(value)) {
    if (value.length === 0) return <span className="text-faint">none</span>;
    return (
      <ul className="list-disc pl-5">
        {value.slice(0, 100).map((one, at) => (
          <li key={`${at.toString()}`}>
            <Value value={one} given={given} depth={depth + 1} />
          </li>
        ))}
        {value.length > 100 && <li className="text-faint">{pluralize(value.length - 100, "more")}</li>}
      </ul>
    );
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return <span className="text-faint">nothing</span>;
  return (
    <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[minmax(6rem,max-content)_minmax(0,1fr)]">
      {entries.map(([name, one]) => (
        <div key={name} className="contents">
          <dt className="text-dim max-sm:mt-1">{given ? formatField(name) : name}</dt>
          <dd className="min-w-0">
            <Value value={one} given={given} depth={depth + 1} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Text({ text, given }: { text: string; given: boolean }) {
  // A single word is a path, a name or a number, and no Markdown: `__init__.py` must not become bold.
  const isProse = given && /\s/.test(text.trim());
  const whole = isProse ? <MarkdownText text={text} /> : <span className="whitespace-pre-wrap">{text}</span>;
  if (text.length <= LONG) return whole;
  return (
    <details>
      <summary className="text-dim">
        <span className="whitespace-pre-wrap text-ink">{text.slice(0, 300)}… </span>
        <span className="underline">{pluralize(text.length, "character")}</span>
      </summary>
      {whole}
    </details>
  );
}
