/**
 * The messages of a chat: people's on a tinted background, the agent's as Markdown, tool calls as cards, withdrawn ones
 * folded.
 */
import { ChevronRight, FileText, GitFork, MoreHorizontal, RotateCcw } from "lucide-react";
import { memo, type ReactNode } from "react";
import { siteUrl } from "../../api/client.ts";
import { IconButton } from "../../ui/button.tsx";
import { costText, formatBytes, pluralize } from "../../ui/format.ts";
import { MarkdownText } from "../../ui/markdown-text.tsx";
import { Menu } from "../../ui/menu.tsx";
import { CopyButton } from "../../ui/page.tsx";
import { Ago } from "../../ui/time.tsx";
import { Thinking, ToolCall } from "../run/tool-call.tsx";
import type { Message, Reply } from "./chat.ts";

export interface MessageActions {
  rewind(message: Message): void;
  fork(message: Message): void;
}

interface ListProps {
  messages: Message[];
  agent: string;
  busy: boolean;
  actions: MessageActions | null;
}

/** Shows messages in order; consecutive withdrawn ones are folded together. */
export function Messages({ messages, agent, busy, actions }: ListProps) {
  const groups: Message[][] = [];
  for (const message of messages) {
    const group = groups.at(-1);
    if (message.withdrawn && group?.[0]?.withdrawn) group.push(message);
    else groups.push([message]);
  }
  const renderRow = (message: Message) => (
    <Row key={message.id} message={message} agent={agent} busy={busy} actions={message.withdrawn ? null : actions} />
  );
  return groups.map((group) =>
    group[0]!.withdrawn ? (
      <Withdrawn key={group[0]!.id} count={group.length}>
        {group.map(renderRow)}
      </Withdrawn>
    ) : (
      renderRow(group[0]!)
    ),
  );
}

function Withdrawn({ count, children }: { count: number; children: ReactNode }) {
  return (
    <details className="group rounded-lg border border-dashed border-line-strong">
      <summary className="flex min-h-8 items-center gap-1.5 px-3 text-sm text-dim max-sm:min-h-11">
        <ChevronRight aria-hidden size={13} className="transition-transform group-open:rotate-90" />
        {pluralize(count, "message")} taken back
      </summary>
      <div className="flex flex-col gap-4 px-3 pb-3">{children}</div>
    </details>
  );
}

/** A note from the server to the agent begins with one sentence for people in brackets. The rest is for the agent. */
const inShort = (note: string): string => /^\[From the server[^:\]]{0,60}: ([^\]]{1,300})\]/.exec(note)?.[1] ?? note;

const Row = memo(function Row({ message, agent, busy, actions }: Omit<ListProps, "messages"> & { message: Message }) {
  const {
    role,
    content,
    thinking,
    tool_calls,
    attachments,
    created_at,
    reply_cost_usd,
    reply_calls_without_price = 0,
  } = message;
  if (role === "system")
    return (
      <details className="group rounded-lg border border-line bg-panel text-sm">
        <summary className="flex min-h-8 items-center gap-1.5 px-3 text-dim max-sm:min-h-11">
          <ChevronRight aria-hidden size={13} className="transition-transform group-open:rotate-90" />
          {message.summary_to === undefined ? (
            <span className="line-clamp-2 min-w-0">Note: {inShort(content)}</span>
          ) : (
            "Summary of what was said before"
          )}
        </summary>
        <div className="px-3 pb-3">
          <MarkdownText text={content} />
        </div>
      </details>
    );
  const mine = role === "user";
  return (
    <article
      aria-label={mine ? "You" : agent}
      className={`row-message group/message ${mine ? "ml-auto max-w-[85%] rounded-lg bg-sunken px-3.5 py-2" : ""}`}
    >
      {thinking && <Thinking text={thinking} />}
      {mine ? <p className="whitespace-pre-wrap">{content}</p> : content && <MarkdownText text={content} />}
      {attachments.length > 0 && (
        <ul className="mt-2 flex flex-wrap gap-2">
          {attachments.map((file) => (
            <li key={file.id}>
              <Attachment file={file} />
            </li>
          ))}
        </ul>
      )}
      {tool_calls.map(({ call_id, tool, input, ok, output }) => (
        <ToolCall
          key={call_id}
          call={{
            call_id,
            tool,
            input,
            ok,
            output,
            output_characters: output?.length ?? 0,
            status: ok === null ? (busy ? "running" : "interrupted") : "done",
            started_at: null,
            duration_ms: null,
          }}
        />
      ))}
      <div className="mt-0.5 flex h-6 items-center gap-0.5 text-xs text-faint max-sm:h-auto">
        <Ago at={created_at} />
        {reply_cost_usd !== undefined && (
          <span className="ml-1 tabular-nums" title="What this reply cost">
            {costText({ cost_usd: reply_cost_usd, calls_without_price: reply_calls_without_price })}
          </span>
        )}
        {content && <CopyButton text={content} label="Copy the message" />}
        {actions && (
          <Menu
            trigger={<IconButton label="More about this message" className="size-6" icon={MoreHorizontal} />}
            items={[
              mine && {
                label: "Take back to here and edit",
                icon: RotateCcw,
                disabled: busy,
                act: () => actions.rewind(message),
              },
              { label: "Fork the chat from here", icon: GitFork, act: () => actions.fork(message) },
            ]}
          />
        )}
      </div>
    </article>
  );
});

function Attachment({ file }: { file: Message["attachments"][number] }) {
  const { id, name, media_type, size_bytes } = file;
  const address = siteUrl(`/v1/attachments/${id}/content`);
  return (
    <a
      href={address}
      download={name}
      className="flex max-w-64 items-center gap-2 rounded-md border border-line bg-panel px-2 py-1.5 text-sm hover:bg-hover"
    >
      {/^image\/(png|jpeg|gif|webp)$/.test(media_type) ? (
        <img src={address} alt="" className="size-10 rounded object-cover" />
      ) : (
        <FileText aria-hidden size={16} className="shrink-0 text-dim" />
      )}
      <span className="min-w-0">
        <span className="line-clamp-1">{name}</span>
        <span className="text-xs text-faint">{formatBytes(size_bytes)}</span>
      </span>
    </a>
  );
}

/** The running reply. Screen readers read it when it is complete, not word by word. */
export function RunningReply({ agent, reply }: { agent: string; reply: Reply }) {
  return (
    <article aria-label={`${agent}, answering`} aria-busy>
      {reply.thinking && <Thinking text={reply.thinking} />}
      {reply.text && <MarkdownText text={reply.text} />}
      <p className="mt-1 flex items-center gap-2 text-sm text-dim">
        <span aria-hidden className="size-2 animate-pulse rounded-full bg-run" />
        {reply.text ? "Answering" : reply.thinking ? "Thinking" : "At work"}
      </p>
    </article>
  );
}
