/** The instructions of an agent, edited as text. */

import { client, type Schemas } from "../../api/client.ts";
import { ifMatch, type Tagged } from "../../api/tagged.ts";
import { useChange } from "../../kit/change.ts";
import { DraftProblem } from "../../kit/draft-problem.tsx";
import { useAdmin } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { useDraft } from "../../ui/draft.ts";
import { DraftNote } from "../../ui/draft-note.tsx";
import { TextArea } from "../../ui/field.tsx";

type Agent = Schemas["Agent"];

export function AgentPrompt({ tagged }: { tagged: Tagged<Agent> }) {
  const { value: agent, etag } = tagged;
  const admin = useAdmin();
  const change = useChange("/v1/agents");
  const draft = useDraft(`agent/${agent.id}/prompt`, {
    saved: agent.prompt,
    version: etag,
    what: `the instructions of ${agent.name}`,
    asks: true,
  });
  const save = async (version: string | undefined) => {
    const params = { path: { id: agent.id } };
    const done = await change.run(
      () => client.PUT("/v1/agents/{id}/config", { params, body: { prompt: draft.text }, ...ifMatch(version) }),
      "Saved. It takes effect with the agent's next session.",
    );
    if (done) draft.clear();
  };
  return (
    <>
      <DraftProblem
        change={change}
        draft={draft}
        mine={draft.text}
        theirs={agent.prompt}
        overwrite={() => save(etag)}
      />
      <DraftNote draft={draft} />
      <TextArea
        aria-label="Instructions"
        rows={22}
        value={draft.text}
        readOnly={!admin}
        onChange={(event) => draft.set(event.target.value)}
        className="font-mono text-sm!"
      />
      {admin && (
        <div className="mt-2 flex justify-end gap-2">
          <Button label="Undo" disabled={!draft.isChanged} onClick={draft.clear} />
          <Button kind="primary" busy={change.busy} disabled={!draft.isChanged} onClick={() => save(draft.version)}>
            Save
          </Button>
        </div>
      )}
    </>
  );
}
