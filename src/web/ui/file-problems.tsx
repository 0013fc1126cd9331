/** All problems of a file, line by line. */
import type { Schemas } from "../api/client.ts";

export function FileProblems({ file, problems }: { file?: string; problems: Schemas["Agent"]["problems"] }) {
  if (problems.length === 0) return null;
  return (
    <div role="status" aria-label="Problems" className="my-3 rounded-lg border border-bad/40 bg-bad-soft px-3 py-2">
      {file && (
        <p className="mb-1">
          <code>{file}</code> {problems.length === 1 ? "has a problem" : `has ${problems.length} problems`}:
        </p>
      )}
      <ul className="max-h-80 overflow-y-auto text-sm">
        {problems.map(({ line, column, message }, at) => (
          <li key={`${line} ${column} ${at.toString()}`}>
            <span className="font-mono text-xs text-dim">line {line}</span> {message}
          </li>
        ))}
      </ul>
    </div>
  );
}
