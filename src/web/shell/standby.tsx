/** Says that the server is a copy that does no work yet, and lets an administrator activate it. */
import { Copy } from "lucide-react";
import { api, client, must, problemOf } from "../api/client.ts";
import { refresh } from "../api/queries.ts";
import { useAdmin } from "../session/session.tsx";
import { useAction } from "../ui/action.ts";
import { Button } from "../ui/button.tsx";
import { notify } from "../ui/notice.tsx";

export function Standby() {
  const admin = useAdmin();
  const { data } = api.useQuery("get", "/v1/status");
  if (!data?.standby) return null;
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-2 border-b border-wait/40 bg-wait-soft px-4 py-1.5 text-sm"
    >
      <Copy aria-hidden size={15} className="text-wait" />
      <span className="min-w-0 flex-1">
        This server works on a copy of another's data. Agents, routines, tool servers, webhooks and notifications wait
        until {admin ? "you activate it: stop the original first" : "an administrator activates it"}.
      </span>
      {admin && <Activate />}
    </div>
  );
}

function Activate() {
  const action = useAction();
  const activate = async () => {
    await must(client.POST("/v1/admin/activate"));
    await refresh("/v1");
  };
  return (
    <>
      {action.error !== undefined && <span className="text-bad">{problemOf(action.error).detail}</span>}
      <Button
        label="Activate"
        busy={action.busy}
        onClick={async () => {
          if (await action.run(activate)) notify("The server works from now on.");
        }}
      />
    </>
  );
}
