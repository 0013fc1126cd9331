/** What came in the way of saving a draft: an error, or somebody else who was first, whose version stands beside it. */
import { Conflict, isConflict } from "../ui/conflict.tsx";
import type { DraftState } from "../ui/draft.ts";
import { ProblemNote } from "../ui/problem-note.tsx";
import type { Change } from "./change.ts";

interface DraftProblemProps {
  change: Change;
  draft: DraftState;
  /** Both versions as text. Theirs is what is stored now: a change that came too late has asked for it. */
  mine: string;
  theirs: string | undefined;
  /** Sends mine over theirs. */
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
