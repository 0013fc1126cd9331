/**
 * Shown for work that waits for a provider whose quota is used up, with a button that asks the provider again at once.
 */
import { RotateCw } from "lucide-react";
import type { Schemas } from "../api/client.ts";
import { useAction } from "./action.ts";
import { Button } from "./button.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { LocalTimes } from "./time.tsx";

interface Props {
  wait: Schemas["RunDetail"]["provider_wait"];
  /** Whether the user may ask the provider again. */
  mayAsk: boolean;
  tryNow(): Promise<unknown>;
}

export function ProviderWaitNote({ wait, mayAsk, tryNow }: Props) {
  const action = useAction();
  if (wait === null) return null;
  return (
    <div role="status" className="mb-4 rounded-lg border border-wait/40 bg-wait-soft px-4 py-3">
      <p className="wrap-anywhere">
        <LocalTimes text={wait.reason} />
      </p>
      <ProblemNote error={action.error} />
      {mayAsk && (
        <Button className="mt-2" busy={action.busy} icon={RotateCw} onClick={() => void action.run(tryNow)}>
          Try now
        </Button>
      )}
    </div>
  );
}
