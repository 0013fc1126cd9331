import { CircleAlert, RotateCw } from "lucide-react";
import { problemOf } from "../api/client.ts";
import { Button, ButtonLink } from "./button.tsx";
import type { LinkTo } from "./link.tsx";

interface Props {
  error: unknown;
  retry?: () => unknown;
  /** Offered in place of `retry` if the object of the page does not exist: the list of such objects. */
  list?: LinkTo | undefined;
}

/** Shows an error where it happened: what to do, its code, and the request id to look up in the log. */
export function ProblemNote({ error, retry, list }: Props) {
  if (!error) return null;
  const { status, detail, code, request_id, errors } = problemOf(error);
  const isMissing = list !== undefined && status === 404;
  // A log-in form covers the page meanwhile, so this is read after the person has logged in again.
  const text = code === "unauthorized" ? "Your log-in had ended, so this was not done. Do it again." : detail;
  return (
    <div role="alert" className="my-2 flex gap-2.5 rounded-lg border border-bad/40 bg-bad-soft px-3 py-2.5">
      <CircleAlert aria-hidden size={17} className="mt-0.5 shrink-0 text-bad" />
      <div className="min-w-0 flex-1">
        <p>
          {text}
          {isMissing && " It was deleted, or you may not see it."}
        </p>
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
      {isMissing && <ButtonLink label={list[1]} href={list[0]} />}
      {retry && !isMissing && <Button label="Try again" kind="quiet" icon={RotateCw} onClick={() => retry()} />}
    </div>
  );
}
