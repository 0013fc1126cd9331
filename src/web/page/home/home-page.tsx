/** The control room: what needs a person, what is running, what failed, and what two weeks cost. */
import { OctagonX, Play } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { lazy } from "../../ui/lazy.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { Running } from "./at-work.tsx";
import { BackupNotice } from "./backup-notice.tsx";
import { Broken, DoneLately } from "./broken.tsx";
import { EXAMPLE, FirstSteps } from "./first-steps.tsx";
import { Fortnight } from "./fortnight.tsx";
import { NeedsYou } from "./needs-you.tsx";

const StopEverything = lazy(() => import("./stop-everything.tsx"), null);

export default function HomePage() {
  const recent = api.useQuery("get", "/v1/runs", { params: { query: { limit: 5 } } });
  const projects = api.useQuery("get", "/v1/projects", { params: { query: { limit: 1 } } });
  const [stopping, setStopping] = useState(false);
  const nothing = recent.data?.items.length === 0;
  // The first steps are shown until there is a run. If all runs are examples, they stay until there is a project.
  const examples = recent.data?.items.every(({ pipeline_id }) => pipeline_id === EXAMPLE.pipeline_id) ?? false;
  const begins = nothing || (examples && projects.data?.items.length === 0);
  return (
    <>
      <PageHeader
        title="Home"
        actions={
          <>
            {!nothing && (
              <Button label="Stop everything" kind="danger" icon={OctagonX} onClick={() => setStopping(true)} />
            )}
            <ButtonLink label="Start a run" href="/runs/new" kind="primary" icon={Play} />
          </>
        }
      />
      <BackupNotice />
      {begins && <FirstSteps seen={!nothing} />}
      {!nothing && (
        <>
          <Fortnight />
          <div className="grid items-start gap-x-6 lg:grid-cols-2">
            <div className="min-w-0">
              <NeedsYou />
              <Broken />
            </div>
            <div className="min-w-0">
              <Running />
              <DoneLately />
            </div>
          </div>
        </>
      )}
      {stopping && <StopEverything onClose={() => setStopping(false)} />}
    </>
  );
}
