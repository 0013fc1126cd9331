/** Starts a swarm from its file, in the format of `skep swarm run`. */
import { Suspense, useState } from "react";
import { useLocation } from "wouter";
import { client, must, type Schemas } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { lazy } from "../../ui/lazy.tsx";
import { Loading } from "../../ui/note.tsx";
import { planOf, TEMPLATE } from "./plan.ts";

const Editor = lazy(() => import("../../ui/editor.tsx"));

export function NewSwarm({ text: first = TEMPLATE, onClose }: { text?: string; onClose(): void }) {
  const [text, setText] = useState(first);
  const [, navigate] = useLocation();
  const start = async () => {
    const body = planOf(text) as Schemas["ExecuteSwarmBody"];
    const swarm = await must(client.POST("/v1/swarm/execute", { body }));
    await refresh("/v1/swarm");
    navigate(`/swarms/${swarm.id}`);
  };
  return (
    <FormDialog title="Start a swarm" word="Start" submit={start} onClose={onClose} wide>
      <p className="mb-2 text-dim">
        Tasks that do not depend on each other are done side by side. One that depends on others gets what they gave.
      </p>
      <Suspense fallback={<Loading rows={6} />}>
        <div className="h-80">
          <Editor label="Plan of the swarm" value={text} onChange={setText} first />
        </div>
      </Suspense>
    </FormDialog>
  );
}
