/**
 * The page behind an invitation link: what it invites to, and one button. People who are not logged in log in first and
 * then return here.
 */
import { useLocation, useParams } from "wouter";
import { api, client, must } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { DetailPage } from "../../kit/detail-page.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { dateTime } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";

/** What a member with each role may do. */
const MAY = {
  viewer: "You will see its board, documents and code graph.",
  contributor: "You will see it, start runs and chats, change tasks, comment and approve.",
  maintainer: "You will work in it, merge, and change its settings.",
  owner: "You will own it: decide on members, on whom it is open to, and delete it.",
};

export default function JoinPage() {
  const { token = "" } = useParams<{ token: string }>();
  // Ask only once: each request with a wrong token counts as a failed try.
  const once = { staleTime: Number.POSITIVE_INFINITY, retry: false, refetchOnWindowFocus: false };
  const offer = api.useQuery("post", "/v1/invitations/read", { body: { token } }, once);
  const join = useChange("/v1/projects");
  const [, go] = useLocation();
  return (
    <DetailPage
      query={offer}
      kind="Invitation"
      list={["/projects", "Projects"]}
      head={({ project_name }) => ({ title: `Join ${project_name}` })}
    >
      {({ project_id, project_name, role, invited_by, expires_at, is_member }) => (
        <Panel className="max-w-xl">
          {is_member ? (
            <>
              <p className="mb-4">You are a member of {project_name} already.</p>
              <ButtonLink href={`/projects/${project_id}`}>Open the project</ButtonLink>
            </>
          ) : (
            <>
              <p>
                {invited_by} invites you to {project_name} as {role === "owner" ? "an" : "a"} {role}. {MAY[role]}
              </p>
              <p className="mt-1 mb-4 text-dim">The invitation ends {dateTime(expires_at)}.</p>
              <ProblemNote error={join.error} />
              <Button
                label="Join the project"
                kind="primary"
                busy={join.busy}
                onClick={async () => {
                  const done = await join.run(
                    () => must(client.POST("/v1/invitations/accept", { body: { token } })),
                    `You are in ${project_name} now`,
                  );
                  if (done) go(`/projects/${project_id}`);
                }}
              />
            </>
          )}
        </Panel>
      )}
    </DetailPage>
  );
}
