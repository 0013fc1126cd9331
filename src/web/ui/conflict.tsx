/** Shown when somebody else changed the same thing meanwhile: displays both versions and asks which to keep. */
import { problemOf } from "../api/client.ts";
import { Button } from "./button.tsx";
import { LineDiff } from "./line-diff.tsx";

export const isConflict = (error: unknown): boolean => Boolean(error) && problemOf(error).status === 412;

interface ConflictProps {
  mine: string;
  theirs: string | undefined;
  /** Replaces the other version with one's own. */
  overwrite(): void;
  /** Discards one's own version. */
  take(): void;
}

export function Conflict({ mine, theirs, overwrite, take }: ConflictProps) {
  return (
    <div role="alert" className="my-3 rounded-lg border border-wait/40 bg-wait-soft p-3">
      <p className="mb-2 font-medium">Somebody else changed this since you opened it. Nothing was saved.</p>
      <p className="mb-1 text-xs text-dim">− theirs, in force now; + yours</p>
      {theirs === undefined ? <p className="text-dim">…</p> : <LineDiff before={theirs} after={mine} />}
      <div className="mt-3 flex flex-wrap gap-2">
        <Button onClick={take}>Take theirs</Button>
        <Button label="Overwrite with mine" kind="danger" onClick={overwrite} />
      </div>
    </div>
  );
}
