/** One chat with an agent. */

import { useState } from "react";
import { useLocation, useParams } from "wouter";
import { useHistoryState } from "wouter/use-browser-location";
import { api, client, must, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { useDraft } from "../../ui/draft.ts";
import { costText, count, pluralize } from "../../ui/format.ts";
import { JobProgress } from "../../ui/job-progress.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Await, Empty } from "../../ui/note.tsx";
import { notify } from "../../ui/notice.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { ProviderWaitNote } from "../../ui/provider-wait.tsx";
import { More } from "../../ui/table.tsx";
import { Tabs, useParam } from "../../ui/tabs.tsx";
import { WorkChanges } from "../changes/work-changes.tsx";
import { useMayDo } from "../projects/roles.ts";
import { PermissionCard } from "../runs/permission-card.tsx";
import { Announce } from "./announce.tsx";
import { type Chat, refreshChat, useChat, useLastEnd, useReply } from "./chat.ts";
import { ChatHeader } from "./chat-header.tsx";
import { Composer } from "./composer.tsx";
import { Failure } from "./failure.tsx";
import { type MessageActions, Messages, RunningReply } from "./messages.tsx";
import { Queue } from "./queue.tsx";
import { useStayAtEnd } from "./stay-at-end.ts";

export default function ChatPage() {
  const { id = "" } = useParams<{ id: string }>();
  return <ChatView key={id} id={id} />;
}

/** Says which files the job that copies a fork's files has left out. They were too many, too large, or not readable. */
function notCopied({ error, state, result }: Schemas["Job"]): string {
  if (error) return `This chat has no files of the other one: ${error.message}`;
  if (state === "cancelled") return "This chat has no files of the other one: you stopped the copy.";
  const leftOut = Number(result?.["left_out"] ?? 0);
  return leftOut === 0 ? "" : `${pluralize(leftOut, "file")} could not be copied: they stay with the other chat alone.`;
}

/** State that goes with the navigation to a fork. A small copy job may end before the fork's page asks for it. */
interface ForkState {
  filesJob: string | null;
}

/** @param props.jobId null once the job has ended. The note stays until the person leaves the chat. */
function FileCopy({ jobId }: { jobId: string | null }) {
  const [id, setId] = useState(jobId);
  if (jobId !== null && jobId !== id) setId(jobId);
  if (id === null) return null;
  return (
    <JobProgress
      id={id}
      about="The files of the other chat are being copied. A reply waits for them."
      onEnd={refreshChat}
      renderEnd={(job) =>
        notCopied(job) && (
          <p role="status" className="mb-3 rounded-md bg-sunken px-3 py-2">
            {notCopied(job)}
          </p>
        )
      }
    />
  );
}

/** The questions of this chat's agent. */
function Permissions({ sessionId, busy }: { sessionId: string; busy: boolean }) {
  const query = { kind: "permission", limit: 200 } as const;
  const { data } = api.useQuery("get", "/v1/approvals", { params: { query } }, { enabled: busy });
  return (data?.items ?? []).map((one) =>
    busy && one.kind === "permission" && one.session_id === sessionId ? (
      <div key={one.id} className="mt-4">
        <PermissionCard request={one} bare />
      </div>
    ) : null,
  );
}

function ChatView({ id }: { id: string }) {
  const query = useChat(id);
  const begun = useHistoryState<ForkState | null>()?.filesJob ?? null;
  const { chat, messages } = query;
  const reply = useReply(id, chat?.reply, refreshChat);
  const { text: draft, set: setDraft } = useDraft(`chat/${id}`, { what: "a message" });
  const action = useChange();
  const [, navigate] = useLocation();
  const agents = api.useQuery("get", "/v1/agents", { params: { query: { limit: 200 } } });
  const { log, toEnd } = useStayAtEnd(chat !== undefined);
  const path = { params: { path: { id } } };
  const toBody = (message_id: string) => ({ ...path, body: { message_id } });
  const actions: MessageActions = {
    rewind: (message) =>
      void action.run(async () => {
        await must(client.POST("/v1/chat/sessions/{id}/rewind", toBody(message.id)));
        setDraft(message.content);
        await refreshChat();
        document.querySelector<HTMLElement>("main textarea")?.focus();
      }),
    fork: (message) =>
      void action.run(async () => {
        const fork = await must(client.POST("/v1/chat/sessions/{id}/fork", toBody(message.id)));
        await refreshChat();
        navigate(`/chat/${fork.id}`, { state: { filesJob: fork.files_job_id } satisfies ForkState });
        notify(`Forked. What you say here does not reach the other chat.`);
      }),
  };
  const agent = agents.data?.items.find((one) => one.id === chat?.agent_id)?.name ?? chat?.agent_id ?? "";
  const busy = chat?.status === "busy";
  const end = useLastEnd({ sessionId: chat?.id, busy, last_activity_at: chat?.last_activity_at });
  const open = chat?.status === "ready" || busy;
  const maySpeak = useMayDo(chat?.project_id)("contributor");
  const [tab] = useParam("tab");
  if (chat && chat.branch !== null && tab === "changes")
    return (
      <div data-wide>
        <ChatHeader chat={chat} agent={agent} />
        <Views />
        <WorkChanges id={id} />
      </div>
    );
  return (
    <Await query={{ ...query, data: chat }} rows={6} page="Chat" list={["/chat", "Chat"]}>
      {(chat) => (
        <div className="mx-auto max-w-3xl">
          <ChatHeader chat={chat} agent={agent} />
          {chat.branch !== null && <Views />}
          <More query={query} quiet className="mb-3 text-center">
            Earlier messages
          </More>
          <div ref={log} role="log" aria-live="off" aria-label="Chat" className="flex flex-col gap-4">
            <Messages messages={messages} agent={agent} busy={busy} actions={open && maySpeak ? actions : null} />
            {busy && <RunningReply agent={agent} reply={reply} />}
            {messages.length === 0 && !busy && <Empty>Nothing was said yet. Write the first message below.</Empty>}
          </div>
          <Permissions sessionId={id} busy={busy} />
          <FileCopy jobId={chat.files_job_id ?? begun} />
          <ProviderWaitNote
            wait={chat.provider_wait}
            mayAsk={maySpeak}
            tryNow={() => must(client.POST("/v1/chat/sessions/{id}/try-now", path)).finally(refreshChat)}
          />
          <Failure end={end} messages={messages} />
          <Announce agent={agent} busy={busy} status={end?.["status"]} />
          <ProblemNote error={action.error} />
          <div className="sticky bottom-0 z-10 mt-4 -mb-16 bg-bg pt-2 pb-3">
            <Queue chat={chat} mayChange={maySpeak} />
            {open && !maySpeak ? (
              <p className="rounded-lg border border-line bg-sunken px-3 py-2 text-dim">
                You are a viewer of the project, so you read this chat. Contributors write in theirs.
              </p>
            ) : open ? (
              <Composer
                busy={busy}
                draft={draft}
                setDraft={setDraft}
                send={(body) =>
                  must(client.POST("/v1/chat/sessions/{id}/message", { ...path, body })).finally(refreshChat)
                }
                stop={() => must(client.POST("/v1/chat/sessions/{id}/stop", path)).finally(refreshChat)}
                onSent={toEnd}
              />
            ) : (
              <p className="rounded-lg border border-line bg-sunken px-3 py-2 text-dim">
                This chat has ended. Fork it from a message to continue, or{" "}
                <TextLink href={`/chat?new=${chat.agent_id}`}>begin another</TextLink>.
              </p>
            )}
            <Meter chat={chat} />
          </div>
        </div>
      )}
    </Await>
  );
}

/** The tabs of a chat that works on a branch of its project. */
const Views = () => (
  <Tabs
    label="Views of the chat"
    tabs={[
      { id: "chat", title: "Chat" },
      { id: "changes", title: "Changes" },
    ]}
  />
);

/** Shows how full the model's window is, and what the chat has cost. */
function Meter({ chat }: { chat: Chat }) {
  const { context, tokens } = chat;
  const { used, window } = context;
  const part = used !== null && window ? Math.min(1, used / window) : null;
  return (
    <p className="mt-1.5 flex flex-wrap items-center gap-x-4 gap-y-1 px-1 text-xs text-faint tabular-nums">
      {used !== null && (
        <span className="inline-flex items-center gap-2" title="When it is full, earlier messages become a summary.">
          {part !== null && (
            <meter
              aria-label="Context used"
              value={part}
              max={1}
              className={`meter h-1.5 w-20 ${part > 0.8 ? "text-wait" : "text-run"}`}
            />
          )}
          Context {count(used)}
          {window && ` of ${count(window)}`}
        </span>
      )}
      <span>{costText(chat)}</span>
      <span>{count(tokens)} tokens</span>
      <span className="ml-auto max-sm:hidden">Enter sends, Shift+Enter begins a line</span>
    </p>
  );
}
