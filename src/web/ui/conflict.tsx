/** Somebody else changed it meanwhile: shows both versions and asks which to keep. */
import { problemOf } from "../api/client.ts";
import { Button } from "./button.tsx";
import { differingLines } from "./differing-lines.ts";

export const isConflict = (error: unknown): boolean => Boolean(error) && problemOf(error).status === 412;

interface ConflictProps {
  mine: string;
  theirs: string | undefined;
  /** Replaces theirs with mine. */
  overwrite(): void;
  /** Drops mine. */
  take(): void;
}

export function Conflict({ mine, theirs, overwrite, take }: ConflictProps) {
  const [yours, inForce] = theirs === undefined ? [mine, "…"] : differingLines(mine, theirs);
  return (
    <div role="alert" className="my-3 rounded-lg border border-wait/40 bg-wait-soft p-3">
      <p className="mb-2 font-medium">Somebody else changed this since you opened it. Nothing was saved.</p>
      <div className="grid gap-3 md:grid-cols-2">
        <Version title="Yours" text={yours} />
        <Version title="Theirs, in force now" text={inForce} />
      </div>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button onClick={take}>Take theirs</Button>
        <Button label="Overwrite with mine" kind="danger" onClick={overwrite} />
      </div>
    </div>
  );
}

const Version = ({ title, text }: { title: string; text: string }) => (
  <div>
    <h3 className="text-xs text-dim">{title}</h3>
    <pre
      tabIndex={0}
      className="max-h-72 overflow-auto rounded-md border border-line bg-panel p-2 font-mono text-xs whitespace-pre-wrap"
    >
      {text}
    </pre>
  </div>
);
