/** The header of a chat: its name, its model, and the actions on the whole chat. */
import { Download, FoldVertical, MessageSquareX, MoreHorizontal, Pencil, Pin, Trash2 } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, client, must, siteUrl } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Confirm } from "../../kit/confirm.tsx";
import { DeleteHistory } from "../../kit/delete-history.tsx";
import { FormDialog } from "../../kit/form-dialog.tsx";
import { useOwnId } from "../../session/session.tsx";
import { Button } from "../../ui/button.tsx";
import { InputField } from "../../ui/field.tsx";
import { JobProgress } from "../../ui/job-progress.tsx";
import { KeepButton, keepWord, useKeeping } from "../../ui/keep.tsx";
import { NameLink } from "../../ui/link.tsx";
import { Menu } from "../../ui/menu.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { useMayDo } from "../projects/roles.ts";
import { CHAT_PATHS, type Chat, refreshChat } from "./chat.ts";

export function ChatHeader({ chat, agent }: { chat: Chat; agent: string }) {
  const [dialog, setDialog] = useState<"rename" | "end" | "delete" | null>(null);
  const [summary, setSummary] = useState("");
  const [, navigate] = useLocation();
  const action = useChange();
  // Only the owner of a chat can read it.
  const keeping = useKeeping(chat.id, useOwnId());
  const project = api.useQuery(
    "get",
    "/v1/projects/{id}",
    { params: { path: { id: chat.project_id ?? "" } } },
    { enabled: chat.project_id !== null },
  );
  const path = { params: { path: { id: chat.id } } };
  const close = () => setDialog(null);
  const change = async (body: { title?: string; model?: string | null }) => {
    await must(client.PUT("/v1/chat/sessions/{id}", { ...path, body }));
    await refreshChat();
  };
  const save = (format: "markdown" | "json") => {
    const link = document.createElement("a");
    link.href = siteUrl(`/v1/chat/sessions/${chat.id}/export?format=${format}`);
    link.download = "";
    link.click();
  };
  const compact = () =>
    void action.run(async () => setSummary((await must(client.POST("/v1/chat/sessions/{id}/compact", path))).id));
  const ended = chat.status === "ended" || chat.status === "failed";
  const may = useMayDo(chat.project_id);
  const mayChange = may("contributor");
  return (
    <>
      <PageHeader
        title={chat.title ?? `Chat with ${agent}`}
        cli={`skep chat ${chat.agent_id}`}
        beside={keeping.kept && <KeepButton keeping={keeping} what="the chat" />}
        above={
          <>
            <NameLink href="/chat">Chat</NameLink>
            {" / "}
            <NameLink href={`/agents/${chat.agent_id}`}>{agent}</NameLink>
            {chat.project_id && (
              <>
                {" / "}
                <NameLink href={`/projects/${chat.project_id}`}>{project.data?.name ?? "Project"}</NameLink>
              </>
            )}
          </>
        }
        actions={
          <>
            <ModelChoice
              model={chat.model}
              disabled={ended || !mayChange}
              choose={(model) => void action.run(() => change({ model }))}
            />
            <Menu
              trigger={<Button label="More" icon={MoreHorizontal} iconSize={15} />}
              items={[
                mayChange && { label: "Rename", icon: Pencil, act: () => setDialog("rename") },
                {
                  label: keepWord(keeping, "the chat"),
                  icon: Pin,
                  disabled: keeping.kept === undefined,
                  act: keeping.toggle,
                },
                { label: "Export as Markdown", icon: Download, act: () => save("markdown") },
                { label: "Export as JSON", icon: Download, act: () => save("json") },
                null,
                !ended && {
                  label: "Summarize what was said",
                  icon: FoldVertical,
                  disabled: chat.status === "busy" || !may("maintainer"),
                  act: compact,
                },
                !ended && { label: "End the chat", icon: MessageSquareX, act: () => setDialog("end") },
                { label: "Delete it", icon: Trash2, danger: true, act: () => setDialog("delete") },
              ]}
            />
          </>
        }
      />
      <ProblemNote error={action.error ?? keeping.error} />
      {summary && <SummaryProgress key={summary} id={summary} />}
      {dialog === "rename" && (
        <FormDialog
          title="Rename the chat"
          word="Save"
          submit={async ({ text }) => {
            await change({ title: text("title") });
          }}
          onClose={close}
        >
          <InputField label="Title" name="title" required maxLength={200} defaultValue={chat.title ?? ""} />
        </FormDialog>
      )}
      {dialog === "end" && (
        <Confirm
          title="End the chat?"
          word="End the chat"
          onClose={close}
          changes={CHAT_PATHS}
          act={() => client.DELETE("/v1/chat/sessions/{id}", path)}
        >
          A running reply stops. What was said stays readable, but nothing more can be said here.
        </Confirm>
      )}
      {dialog === "delete" && (
        <DeleteHistory kind="sessions" id={chat.id} what="the chat" onClose={close} leave={() => navigate("/chat")} />
      )}
    </>
  );
}

function ModelChoice(props: { model: string | null; disabled: boolean; choose(model: string): void }) {
  const { model, disabled, choose } = props;
  const models = api.useQuery("get", "/v1/models", { params: { query: { limit: 200 } } });
  const names = (models.data?.items ?? []).map(({ id }) => id);
  return (
    <select
      aria-label="Model"
      value={model ?? ""}
      disabled={disabled}
      onChange={(event) => choose(event.target.value)}
      className="h-8 max-w-56 rounded-md border border-line-strong bg-panel px-2 text-sm max-sm:h-11"
    >
      {!names.includes(model ?? "") && <option value={model ?? ""}>{model ?? "no model"}</option>}
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

/** @param props.id id of the job. */
function SummaryProgress({ id }: { id: string }) {
  return (
    <JobProgress
      id={id}
      about="Summarizing what was said, which the model reads instead."
      onEnd={refreshChat}
      renderEnd={({ error }) =>
        error && (
          <p role="alert" className="mb-3 rounded-md bg-bad-soft px-3 py-2">
            There is no summary: {error.message}
          </p>
        )
      }
    />
  );
}
