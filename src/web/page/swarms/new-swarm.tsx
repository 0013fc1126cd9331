/** A swarm is written as its file: the same that `skep swarm run` takes. */
import { Suspense, useState } from "react";
import { useLocation } from "wouter";
import { client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { lazy } from "../../ui/lazy.ts";
import { Loading, ProblemNote } from "../../ui/note.tsx";
import { planOf, TEMPLATE } from "./plan.ts";

const Editor = lazy(() => import("../../ui/editor.tsx"));

export function NewSwarm({ text: first = TEMPLATE, onClose }: { text?: string; onClose(): void }) {
  const [text, setText] = useState(first);
  const action = useAction();
  const [, navigate] = useLocation();
  const start = () =>
    action.run(async () => {
      const body = planOf(text) as Schemas["ExecuteSwarmBody"];
      const swarm = await must(client.POST("/v1/swarm/execute", { body }));
      await refresh("/v1/swarm");
      navigate(`/swarms/${swarm.id}`);
    });
  return (
    <Dialog title="Start a swarm" onClose={onClose} wide>
      <p className="mb-2 text-dim">
        Tasks that do not depend on each other are done side by side. One that depends on others gets what they gave.
      </p>
      <Suspense fallback={<Loading rows={6} />}>
        <div className="h-80">
          <Editor label="Plan of the swarm" value={text} onChange={setText} />
        </div>
      </Suspense>
      <ProblemNote error={action.error} />
      <div className="mt-3 flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" busy={action.busy} onClick={start}>
          Start
        </Button>
      </div>
    </Dialog>
  );
}
