import { PencilLine } from "lucide-react";
import { Button } from "./button.tsx";
import type { DraftState } from "./draft.ts";

/** Tells a returning person that an unsaved draft is shown instead of the stored version. */
export function DraftNote({ draft: { isFound, isChanged, clear } }: { draft: DraftState }) {
  if (!isFound || !isChanged) return null;
  return (
    <div role="status" className="mb-2 flex items-center gap-2 rounded-md bg-wait-soft px-3 py-1.5 text-sm">
      <PencilLine aria-hidden size={14} className="text-wait" />
      <p className="mr-auto">This is your draft. It is not saved yet.</p>
      <Button label="Discard the draft" kind="quiet" onClick={clear} />
    </div>
  );
}
