/** Any JSON value for people: objects as lists of names and values, texts with their lines, the rest as JSON. */
import { plural } from "./format.ts";

const LONG = 1_200;

export function Value({ value, depth = 0 }: { value: unknown; depth?: number }) {
  if (value === null || value === undefined || value === "") return <span className="text-faint">nothing</span>;
  if (typeof value === "string") return <Text text={value} />;
  if (typeof value !== "object") return <span className="font-mono">{String(value)}</span>;
  if (depth > 4) return <Text text={JSON.stringify(value, null, 2)} />;
  if (Array.isArray(value)) {
    if (value.length === 0) return <span className="text-faint">none</span>;
    return (
      <ul className="list-disc pl-5">
        {value.slice(0, 100).map((one, at) => (
          <li key={`${at.toString()}`}>
            <Value value={one} depth={depth + 1} />
          </li>
        ))}
        {value.length > 100 && <li className="text-faint">{plural(value.length - 100, "more")}</li>}
      </ul>
    );
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return <span className="text-faint">nothing</span>;
  return (
    <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[minmax(6rem,max-content)_minmax(0,1fr)]">
      {entries.map(([name, one]) => (
        <div key={name} className="contents">
          <dt className="text-dim max-sm:mt-1">{name}</dt>
          <dd className="min-w-0">
            <Value value={one} depth={depth + 1} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Text({ text }: { text: string }) {
  if (text.length <= LONG) return <span className="whitespace-pre-wrap">{text}</span>;
  return (
    <details>
      <summary className="text-dim">
        <span className="whitespace-pre-wrap text-ink">{text.slice(0, 300)}… </span>
        <span className="underline">{plural(text.length, "character")}</span>
      </summary>
      <span className="whitespace-pre-wrap">{text}</span>
    </details>
  );
}
