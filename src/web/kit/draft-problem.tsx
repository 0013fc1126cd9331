/** Shows why a draft could not be saved: an error, or a version that somebody else saved first, beside one's own. */
import { Conflict, isConflict } from "../ui/conflict.tsx";
import type { DraftState } from "../ui/draft.ts";
import { ProblemNote } from "../ui/problem-note.tsx";
import type { Change } from "./change.ts";

interface DraftProblemProps {
  change: Change;
  draft: DraftState;
  /** Both versions as text. `theirs` is the stored one, which was fetched again after the change was refused. */
  mine: string;
  theirs: string | undefined;
  /** Saves one's own version over the other one. */
  overwrite(): void;
}

export function DraftProblem({ change, draft, mine, theirs, overwrite }: DraftProblemProps) {
  if (!isConflict(change.error)) return <ProblemNote error={change.error} />;
  const take = () => {
    draft.clear();
    change.clear();
  };
  return <Conflict mine={mine} theirs={theirs} overwrite={overwrite} take={take} />;
}
