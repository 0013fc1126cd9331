/** The instructions of an agent, edited as text. */
import { useState } from "react";
import { client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { ifMatch, type Tagged } from "../../api/tagged.ts";
import { useAdmin } from "../../shell/session.tsx";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Conflict, isConflict } from "../../ui/conflict.tsx";
import { TextArea } from "../../ui/field.tsx";
import { ProblemNote } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";

type Agent = Schemas["Agent"];

/** The agent as it is now, for showing beside what somebody wanted to save. */
export const presentAgent = (id: string) => must(client.GET("/v1/agents/{id}", { params: { path: { id } } }));

export function AgentPrompt({ tagged }: { tagged: Tagged<Agent> }) {
  const { value: agent, etag } = tagged;
  const admin = useAdmin();
  const action = useAction();
  const [text, setText] = useState(agent.prompt);
  const [theirs, setTheirs] = useState<string>();
  const save = async (overwrite = false) => {
    const params = { path: { id: agent.id } };
    const done = await action.run(() =>
      must(
        client.PUT("/v1/agents/{id}/config", {
          params,
          body: { prompt: text },
          ...ifMatch(overwrite ? undefined : etag),
        }),
      ),
    );
    if (done) {
      notify("Saved. It takes effect with the agent's next session.");
      return refresh("/v1/agents");
    }
    // Shown beside a conflict. If it cannot be read either, the error of the change is enough.
    const now = await presentAgent(agent.id).catch(() => undefined);
    setTheirs(now?.prompt);
  };
  return (
    <>
      {isConflict(action.error) ? (
        <Conflict
          mine={text}
          theirs={theirs}
          overwrite={() => save(true)}
          take={() => {
            setText(theirs ?? agent.prompt);
            action.clear();
            void refresh("/v1/agents");
          }}
        />
      ) : (
        <ProblemNote error={action.error} />
      )}
      <TextArea
        aria-label="Instructions"
        rows={22}
        value={text}
        readOnly={!admin}
        onChange={(event) => setText(event.target.value)}
        className="font-mono text-sm!"
      />
      {admin && (
        <div className="mt-2 flex justify-end gap-2">
          <Button disabled={text === agent.prompt} onClick={() => setText(agent.prompt)}>
            Undo
          </Button>
          <Button kind="primary" busy={action.busy} disabled={text === agent.prompt} onClick={() => save()}>
            Save
          </Button>
        </div>
      )}
    </>
  );
}
