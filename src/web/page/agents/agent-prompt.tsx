/** The instructions of an agent, edited as text. */
import { useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { ifMatch, type Tagged } from "../../api/tagged.ts";
import { useAdmin } from "../../session/session.tsx";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Conflict, isConflict } from "../../ui/conflict.tsx";
import { useDraft } from "../../ui/draft.ts";
import { DraftNote } from "../../ui/draft-note.tsx";
import { TextArea } from "../../ui/field.tsx";
import { notify } from "../../ui/notice.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";

type Agent = Schemas["Agent"];

/** The agent as it is now, for showing beside what somebody wanted to save. */
export const presentAgent = (id: string) => must(client.GET("/v1/agents/{id}", { params: { path: { id } } }));

export function AgentPrompt({ tagged }: { tagged: Tagged<Agent> }) {
  const { value: agent, etag } = tagged;
  const admin = useAdmin();
  const action = useAction();
  const draft = useDraft(`agent/${agent.id}/prompt`, {
    ...{ saved: agent.prompt, version: etag },
    ...{ what: `the instructions of ${agent.name}`, asks: true },
  });
  const [theirs, setTheirs] = useState<string>();
  const save = async (overwrite = false) => {
    const params = { path: { id: agent.id } };
    const done = await action.run(() =>
      must(
        client.PUT("/v1/agents/{id}/config", {
          params,
          body: { prompt: draft.text },
          ...ifMatch(overwrite ? undefined : draft.version),
        }),
      ),
    );
    if (done) {
      notify("Saved. It takes effect with the agent's next session.");
      await refresh("/v1/agents");
      return draft.clear();
    }
    // Shown beside a conflict. If it cannot be read either, the error of the change is enough.
    const now = await presentAgent(agent.id).catch(() => undefined);
    setTheirs(now?.prompt);
  };
  return (
    <>
      {isConflict(action.error) ? (
        <Conflict
          mine={draft.text}
          theirs={theirs}
          overwrite={() => save(true)}
          take={() => {
            draft.clear();
            action.clear();
            void refresh("/v1/agents");
          }}
        />
      ) : (
        <ProblemNote error={action.error} />
      )}
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
          <Button disabled={!draft.isChanged} onClick={draft.clear}>
            Undo
          </Button>
          <Button kind="primary" busy={action.busy} disabled={!draft.isChanged} onClick={() => save()}>
            Save
          </Button>
        </div>
      )}
    </>
  );
}
