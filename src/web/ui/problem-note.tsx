import { CircleAlert, RotateCw } from "lucide-react";
import { problemOf } from "../api/client.ts";
import { Button } from "./button.tsx";

/** Shows an error where it happened: what to do, its code, and the request id to look up in the log. */
export function ProblemNote({ error, retry }: { error: unknown; retry?: () => unknown }) {
  if (!error) return null;
  const { detail, code, request_id, errors } = problemOf(error);
  return (
    <div role="alert" className="my-2 flex gap-2.5 rounded-lg border border-bad/40 bg-bad-soft px-3 py-2.5">
      <CircleAlert aria-hidden size={17} className="mt-0.5 shrink-0 text-bad" />
      <div className="min-w-0 flex-1">
        <p>{detail}</p>
        {errors && errors.length > 1 && (
          <ul className="mt-1 list-disc pl-4 text-sm">
            {errors.map(({ pointer, message }) => (
              <li key={pointer}>
                <code className="font-mono">{pointer}</code> {message}
              </li>
            ))}
          </ul>
        )}
        <p className="mt-1 font-mono text-xs text-dim">
          {code}
          {request_id && ` · ${request_id}`}
        </p>
      </div>
      {retry && <Button label="Try again" kind="quiet" icon={RotateCw} onClick={() => retry()} />}
    </div>
  );
}
