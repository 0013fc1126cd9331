/** The main button of a review: merges the work into the project's branch. Obstacles are shown with where they are. */
import { ChevronDown, GitMerge } from "lucide-react";
import { useState } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Button } from "../../ui/button.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { useParam } from "../../ui/tabs.tsx";
import { Conflicts, conflictsOf, MergeDialog } from "./merge-dialog.tsx";
import { mergeWork } from "./merge-work.ts";
import type { Work } from "./review.ts";

type Run = Schemas["Run"];

interface MergingProps {
  /** Work that no agent is changing at the moment. */
  work: Work;
  run: Run | undefined;
  diff: Pick<Schemas["Diff"], "merged_into">;
}

export function Merging({ work, run, diff }: MergingProps) {
  const [asked, setAsked] = useParam("merge");
  const [dialog, setDialog] = useState(asked !== "");
  const action = useChange();
  const project = api.useQuery("get", "/v1/projects/{id}", { params: { path: { id: work.project_id } } });
  const into = project.data?.default_branch;
  const conflicts = conflictsOf(action.error);
  return (
    <>
      <span className="inline-flex">
        <Button
          kind="primary"
          className="rounded-r-none"
          busy={action.busy}
          icon={GitMerge}
          onClick={() => action.run(() => mergeWork(work, { strategy: "merge", push: false }))}
        >
          {diff.merged_into ? "Merge again" : "Merge"}
          {into && ` into ${into}`}
        </Button>
        <Button
          kind="primary"
          aria-label="Merge another way"
          title="Merge another way"
          className="rounded-l-none border-l-panel/30 px-1.5 max-sm:min-w-11"
          onClick={() => setDialog(true)}
        >
          <ChevronDown aria-hidden size={14} />
        </Button>
      </span>
      {action.error !== undefined && (
        <div className="basis-full">
          {conflicts ? <Conflicts work={work} run={run} {...conflicts} /> : <ProblemNote error={action.error} />}
        </div>
      )}
      {dialog && (
        <MergeDialog
          work={work}
          run={run}
          onClose={() => {
            setDialog(false);
            if (asked) setAsked("");
          }}
        />
      )}
    </>
  );
}
