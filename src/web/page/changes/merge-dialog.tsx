/** The dialog that merges work into a branch. Obstacles are shown with where they are. */
import { useState } from "react";
import { useLocation } from "wouter";
import { api, problemOf, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Check, Field, Input, SelectField, TextAreaField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Warning } from "../../ui/note.tsx";
import type { StartState } from "../runs/start-page.tsx";
import { mergeWork } from "./merge-work.ts";
import type { Work } from "./review.ts";

type Strategy = Schemas["Merge"]["strategy"];
const STRATEGIES: [Strategy, string, string][] = [
  ["merge", "Merge commit", "Keeps the commits and joins them with one more."],
  ["squash", "One commit", "All of the work as a single commit."],
  ["rebase", "Rebase", "The commits, one after another, on top of the branch."],
];

interface MergeProps {
  work: Work;
  run: Schemas["Run"] | undefined;
}

export function MergeDialog({ work, run, onClose }: MergeProps & { onClose(): void }) {
  const isAdmin = useAdmin();
  const action = useChange();
  const [strategy, setStrategy] = useState<Strategy>("merge");
  const project = api.useQuery("get", "/v1/projects/{id}", { params: { path: { id: work.project_id } } });
  const conflicts = conflictsOf(action.error);
  return (
    <Dialog title={run ? "Merge the run's work" : "Merge the changes"} onClose={onClose} wide={conflicts !== null}>
      <Form
        action={conflicts ? { ...action, error: undefined } : action}
        word="Merge"
        onCancel={onClose}
        submit={async ({ isChecked, pickFilled }) => {
          await mergeWork(work, { strategy, push: isChecked("push"), ...pickFilled("into", "message") });
          onClose();
        }}
      >
        <SelectField
          label="How"
          hint={STRATEGIES.find(([id]) => id === strategy)?.[2]}
          value={strategy}
          onPick={setStrategy}
          options={STRATEGIES}
        />
        <Field label="Into" name="into">
          <Input spellCheck={false} placeholder={project.data?.default_branch ?? "the repository's default branch"} />
        </Field>
        <TextAreaField label="Message" hint="Leave it empty for one made from the task." name="message" rows={2} />
        {isAdmin && project.data?.repository && (
          <Check name="push" label="Push the branch afterwards" hint={project.data.repository} />
        )}
        {conflicts && <Conflicts work={work} run={run} {...conflicts} />}
      </Form>
    </Dialog>
  );
}

interface ConflictReport {
  into: string;
  files: { path: string; kind: string; hunks: string[] }[];
  more: number;
}

export function conflictsOf(error: unknown): ConflictReport | null {
  if (!error || problemOf(error).code !== "merge_conflict") return null;
  const { into, files, more } = error as ConflictReport;
  return { into, files, more };
}

/**
 * Reports that nothing was merged: the files that both sides changed, and an offer to start a run that solves the
 * conflicts.
 */
export function Conflicts({ work, run, into, files, more }: ConflictReport & MergeProps) {
  const task = `Take the work of branch ${work.branch} into ${into} and solve the conflicts in ${files
    .slice(0, 20)
    .map(({ path }) => path)
    .join(", ")}.\n\nWhat was asked:\n${work.title}`;
  const [, navigate] = useLocation();
  // A button rather than a link: the task is in the navigation's state, which would be lost in another tab.
  const solve = () =>
    navigate(run ? `/runs/new?again=${run.id}` : `/runs/new?project=${work.project_id}`, {
      state: { task } satisfies StartState,
    });
  return (
    <div role="alert">
      <Warning>
        <p className="font-medium">
          Nothing was merged: the {work.kind} and {into} changed the same places in{" "}
          {files.length === 1 && more === 0 ? "one file" : `${files.length + more} files`}.
        </p>
        <ul className="mt-2 flex flex-col gap-2">
          {files.map(({ path, kind, hunks }) => (
            <li key={path}>
              <details>
                <summary className="font-mono text-xs">
                  {path} <span className="text-dim">({kind})</span>
                </summary>
                {hunks.map((hunk, at) => (
                  <pre
                    key={at.toString()}
                    tabIndex={0}
                    className="mt-1 max-h-60 overflow-auto rounded border border-line bg-panel p-2 text-xs whitespace-pre-wrap"
                  >
                    {hunk}
                  </pre>
                ))}
              </details>
            </li>
          ))}
          {more > 0 && <li className="text-dim">and {more} more</li>}
        </ul>
        <Button label="Start a run that solves it" className="mt-2" onClick={solve} />
      </Warning>
    </div>
  );
}
