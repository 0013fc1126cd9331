/** One onboarding: its messages, and what is known so far beside them. */
import { useState } from "react";
import { useParams } from "wouter";
import { api, client, must } from "../../api/client.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { useDraft } from "../../ui/draft.ts";
import { costText, count } from "../../ui/format.ts";
import { TextLink } from "../../ui/link.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { More } from "../../ui/table.tsx";
import { Announce } from "../chat/announce.tsx";
import { useLastEnd, useReply } from "../chat/chat.ts";
import { Composer } from "../chat/composer.tsx";
import { Failure } from "../chat/failure.tsx";
import { Messages, RunningReply } from "../chat/messages.tsx";
import { useStayAtEnd } from "../chat/stay-at-end.ts";
import { Known } from "./known.tsx";
import { type Onboarding, refreshOnboarding, statusOf, useOnboarding } from "./onboarding.ts";

export default function OnboardingPage() {
  const { id = "" } = useParams<{ id: string }>();
  return <View key={id} id={id} />;
}

function View({ id }: { id: string }) {
  const query = useOnboarding(id);
  const { onboarding, messages } = query;
  const reply = useReply(onboarding?.session_id ?? "", onboarding?.reply, refreshOnboarding);
  const { session_id: sessionId, busy = false, last_activity_at } = onboarding ?? {};
  const end = useLastEnd({ sessionId, busy, last_activity_at });
  const agents = api.useQuery("get", "/v1/agents", { params: { query: { limit: 200 } } });
  const { log, toEnd } = useStayAtEnd(onboarding !== undefined);
  return (
    <Await query={{ ...query, data: onboarding }} rows={6} page="Onboarding" list={["/onboarding", "Onboarding"]}>
      {(onboarding) => {
        const agent = agents.data?.items.find((one) => one.id === onboarding.agent_id)?.name ?? "Interviewer";
        return (
          <>
            <Header onboarding={onboarding} />
            <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
              <Known onboarding={onboarding} className="lg:order-last" />
              <div className="min-w-0">
                <More query={query} quiet className="mb-3 text-center">
                  Earlier messages
                </More>
                <div ref={log} role="log" aria-live="off" aria-label="Onboarding" className="flex flex-col gap-4">
                  <Messages messages={messages} agent={agent} busy={onboarding.busy} actions={null} />
                  {onboarding.busy && <RunningReply agent={agent} reply={reply} />}
                  {messages.length === 0 && !onboarding.busy && (
                    <Empty>Nothing was said yet. Answer the first question below.</Empty>
                  )}
                </div>
                <Failure end={end} messages={messages} />
                <Announce agent={agent} busy={busy} status={end?.["status"]} />
                <Foot onboarding={onboarding} toEnd={toEnd} />
              </div>
            </div>
          </>
        );
      }}
    </Await>
  );
}

function Header({ onboarding }: { onboarding: Onboarding }) {
  const [dialog, setDialog] = useState<"abandon" | "purge" | null>(null);
  const { id, status, title, context, project_id } = onboarding;
  const active = status === "active";
  const purge = dialog === "purge";
  return (
    <>
      <PageHeader
        title={context.intake?.name ?? title ?? "A new project"}
        crumbs={[["/onboarding", "Onboardings"]]}
        beside={<Status status={statusOf(onboarding)} />}
        cli={active ? `skep onboard ${id}` : undefined}
        actions={
          <>
            {project_id && <ButtonLink label="Open the project" kind="primary" href={`/projects/${project_id}`} />}
            {active ? (
              <Button label="Give up" kind="danger" onClick={() => setDialog("abandon")} />
            ) : (
              <Button label="Delete" kind="danger" onClick={() => setDialog("purge")} />
            )}
          </>
        }
      />
      {dialog && (
        <Confirm
          title={purge ? "Delete the onboarding?" : "Give up the onboarding?"}
          word={purge ? "Delete it" : "Give it up"}
          onClose={() => setDialog(null)}
          changes={["/v1/onboarding", "/v1/projects"]}
          act={() =>
            client.DELETE("/v1/onboarding/sessions/{id}", { params: { path: { id }, query: purge ? { purge } : {} } })
          }
          leaveTo={purge ? "/onboarding" : undefined}
        >
          {purge
            ? "What was said is removed. A project made from it stays."
            : "No project is made. What was said stays readable."}
        </Confirm>
      )}
    </>
  );
}

function Foot({ onboarding, toEnd }: { onboarding: Onboarding; toEnd(): void }) {
  const { id, status, busy, project_id, tokens } = onboarding;
  const { text: draft, set: setDraft } = useDraft(`onboarding/${id}`, { what: "a message" });
  const path = { params: { path: { id } } };
  if (status !== "active")
    return (
      <p role="status" className="mt-4 rounded-lg border border-line bg-sunken px-3 py-2">
        {project_id ? (
          <>
            The project is made, with its vision and first tasks.{" "}
            <TextLink href={`/board?project=${project_id}`}>See its board</TextLink>.
          </>
        ) : (
          "This onboarding was given up. No project was made."
        )}
      </p>
    );
  return (
    <div className="sticky bottom-0 z-10 mt-4 -mb-16 bg-bg pt-2 pb-3">
      <Composer
        busy={busy}
        draft={draft}
        setDraft={setDraft}
        send={(body) =>
          must(client.POST("/v1/onboarding/sessions/{id}/message", { ...path, body })).finally(refreshOnboarding)
        }
        stop={() => must(client.POST("/v1/onboarding/sessions/{id}/stop", path)).finally(refreshOnboarding)}
        onSent={toEnd}
      />
      <p className="mt-1.5 flex gap-4 px-1 text-xs text-faint tabular-nums">
        <span>{costText(onboarding)}</span>
        <span>{count(tokens)} tokens</span>
        <span className="max-sm:hidden">You can leave at any time and continue later.</span>
      </p>
    </div>
  );
}
