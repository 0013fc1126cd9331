/** Messages that wait for the agent. They can be changed or withdrawn until the agent reads them. */

import { Clock, Pencil, X } from "lucide-react";
import { useState } from "react";
import { api, client, type Schemas } from "../../api/client.ts";
import { useChange } from "../../kit/change.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { TextArea } from "../../ui/field.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import { CHAT_PATHS, type Chat } from "./chat.ts";

type Waiting = Schemas["ChatSessionQueue"];

/** @param props.mayChange whether messages can be changed; otherwise they can only be read and withdrawn. */
export function Queue({ chat, mayChange }: { chat: Chat; mayChange: boolean }) {
  const query = api.useQuery(
    "get",
    "/v1/chat/sessions/{id}/queue",
    { params: { path: { id: chat.id } } },
    { enabled: chat.queued > 0 },
  );
  if (chat.queued === 0 || !query.data || query.data.items.length === 0) return null;
  return (
    <ul aria-label="Waiting messages" className="mb-2 flex flex-col gap-1">
      {query.data.items.map((waiting) => (
        <Item key={waiting.message_id} chat={chat.id} waiting={waiting} mayChange={mayChange} />
      ))}
    </ul>
  );
}

interface ItemProps {
  chat: string;
  waiting: Waiting;
  mayChange: boolean;
}

function Item({ chat, waiting: { message_id, content }, mayChange }: ItemProps) {
  const [editing, setEditing] = useState(false);
  const [text, setText] = useState(content);
  const action = useChange(...CHAT_PATHS);
  const path = { params: { path: { id: chat, message_id } } };
  const save = async () => {
    const done = await action.run(() =>
      client.PUT("/v1/chat/sessions/{id}/queue/{message_id}", { ...path, body: { message: text } }),
    );
    if (done) setEditing(false);
  };
  const withdraw = () => action.run(() => client.DELETE("/v1/chat/sessions/{id}/queue/{message_id}", path));
  return (
    <li className="rounded-lg border border-dashed border-line-strong px-3 py-1.5">
      {editing ? (
        <>
          <TextArea
            aria-label="Waiting message"
            rows={2}
            value={text}
            onChange={(event) => setText(event.target.value)}
            autoFocus
          />
          <div className="mt-1 flex justify-end gap-2">
            <Button onClick={() => setEditing(false)}>Cancel</Button>
            <Button label="Save" kind="primary" busy={action.busy} disabled={text.trim() === ""} onClick={save} />
          </div>
        </>
      ) : (
        <div className="flex items-center gap-2">
          <Clock role="img" aria-label="waits" size={14} className="shrink-0 text-faint" />
          <p className="line-clamp-2 min-w-0 flex-1 text-sm">{content}</p>
          {mayChange && <IconButton label="Edit" onClick={() => setEditing(true)} icon={Pencil} />}
          <IconButton label="Withdraw" disabled={action.busy} onClick={withdraw} icon={X} />
        </div>
      )}
      <ProblemNote error={action.error} />
    </li>
  );
}
