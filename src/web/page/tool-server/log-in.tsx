/**
 * Logs in to a tool server that requires it. The log-in happens on the page of its authorization server, which
 * redirects back.
 */

import { ExternalLink, LogOut } from "lucide-react";
import { useState } from "react";
import { client, must } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import type { Server } from "../tool-servers/server-form.tsx";

export function LogIn({ server: { id, name, needs_authorization, authorized } }: { server: Server }) {
  const action = useChange("/v1/mcp");
  const [address, setAddress] = useState<string>();
  const params = { path: { id } };
  const begin = () =>
    action.run(async () => {
      const { authorization_url } = await must(client.POST("/v1/mcp/{id}/authorize", { params }));
      setAddress(authorization_url);
    });
  const [forgetting, setForgetting] = useState(false);
  return (
    <Panel className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2 p-4">
      <p className="min-w-0 flex-1 basis-64">
        {needs_authorization
          ? "It runs once somebody has logged in to it. All agents that may use it then act by that log-in."
          : "Skep is logged in to it. All agents that may use it act by that log-in."}
      </p>
      {needs_authorization && !address && (
        <Button label="Log in to it" kind="primary" busy={action.busy} onClick={begin} />
      )}
      {needs_authorization && address && (
        <a
          href={address}
          target="_blank"
          rel="noreferrer"
          className="inline-flex items-center gap-1.5 font-medium break-all underline"
        >
          Continue at {new URL(address).host}
          <ExternalLink aria-hidden size={13} className="shrink-0" />
        </a>
      )}
      {authorized && <Button label="Forget the log-in" icon={LogOut} onClick={() => setForgetting(true)} />}
      <div className="w-full empty:hidden">
        <ProblemNote error={action.error} />
      </div>
      {forgetting && (
        <Confirm
          title={`Forget the log-in to ${name || id}?`}
          word="Forget the log-in"
          onClose={() => setForgetting(false)}
          changes={["/v1/mcp"]}
          act={async () => {
            await must(client.DELETE("/v1/mcp/{id}/authorization", { params }));
            setAddress(undefined);
          }}
        >
          Agents cannot use its tools until somebody logs in to it again.
        </Confirm>
      )}
    </Panel>
  );
}
