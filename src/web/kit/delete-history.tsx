/**
 * The dialog before a run, a chat, or everything of a project or user is deleted: it says what is deleted and what
 * stays.
 */
import { api, client, must, type Schemas } from "../api/client.ts";
import { formatBytes, pluralize } from "../ui/format.ts";
import { Await } from "../ui/note.tsx";
import { notify } from "../ui/notice.tsx";
import { Confirm } from "./confirm.tsx";

type Kind = Schemas["HistoryPreview"]["kind"];

interface Props {
  kind: Kind;
  id: string;
  /** The object as it appears in the question: `the run`, `Ada`. */
  what: string;
  onClose(): void;
  /** Leaves the page of the object that is being deleted. */
  leave(): void;
}

export function DeleteHistory({ kind, id, what, onClose, leave }: Props) {
  const params = { path: { id } };
  const preview = api.useQuery("get", `/v1/history/${kind}/{id}`, { params });
  return (
    <Confirm
      title={`Delete ${what} with everything?`}
      word="Delete everything"
      onClose={onClose}
      changes={["/v1/jobs"]}
      act={async () => {
        await must(client.DELETE(`/v1/history/${kind}/{id}`, { params }));
        leave();
        notify("It is being deleted. Jobs shows how far that is.");
      }}
    >
      <Await query={preview}>{(found) => <What preview={found} />}</Await>
    </Confirm>
  );
}

function What({ preview }: { preview: Schemas["HistoryPreview"] }) {
  const goes = [
    [preview.runs, "run"],
    [preview.sessions, "transcript"],
    [preview.messages, "message"],
    [preview.attachments, "file"],
    [preview.tasks, "task"],
    [preview.documents, "document"],
    [preview.routines, "routine"],
    [preview.memories, "memory", "memories"],
  ] as const;
  return (
    <>
      {preview.active > 0 && (
        <p role="alert" className="mb-2 rounded-md bg-bad-soft px-3 py-2 text-ink">
          {pluralize(preview.active, "run or chat", "runs or chats")} at work. Cancel them first.
        </p>
      )}
      <p>
        {goes
          .filter(([count]) => count > 0)
          .map(([count, one, many]) => pluralize(count, one, many))
          .join(", ")}
        {preview.folders > 0 && `, ${formatBytes(preview.bytes)} of files`}: all of it goes, also from search, from its
        branches, and from the bytes of the database. It cannot be brought back.
      </p>
      <p className="mt-2">What stays:</p>
      <ul className="list-disc pl-5">
        {preview.stays.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </>
  );
}
