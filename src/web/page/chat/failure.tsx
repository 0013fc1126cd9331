/** Says why the agent's last reply failed. */
import type { Schemas } from "../../api/client.ts";
import type { Message } from "./chat.ts";

type Data = Schemas["LoggedEvent"]["data"];

interface FailureProps {
  /** How the newest reply ended. */
  end: Data | undefined;
  messages: readonly Message[];
}

/** Renders nothing for a reply that did not fail, or whose message was taken back. */
export function Failure({ end, messages }: FailureProps) {
  if (end?.["status"] !== "failed") return null;
  if (messages.some(({ id, withdrawn }) => withdrawn && id === end["message_id"])) return null;
  const { code, message } = readError(end["error"]);
  return (
    <div role="alert" className="mt-4 rounded-lg border border-bad/40 bg-bad-soft px-3 py-2">
      <p className="whitespace-pre-wrap break-words">{message}</p>
      {code && <p className="mt-1 font-mono text-xs text-dim">{code}</p>}
    </div>
  );
}

const readError = (error: unknown): { code: string; message: string } =>
  typeof error === "object" && error !== null && "code" in error && "message" in error
    ? { code: String(error.code), message: String(error.message) }
    : { code: "", message: "The reply failed." };
