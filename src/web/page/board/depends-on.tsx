/** The field for the tasks of the project that must be done before this one. They are found by title. */
import { X } from "lucide-react";
import { useDeferredValue, useEffect, useState } from "react";
import { api } from "../../api/client.ts";
import { Field, Input } from "../../ui/field.tsx";
import { type Task, wordOf } from "./board.ts";

/** How many tasks are offered. More typed words narrow the list. */
const OFFERED = 6;

interface Props {
  project: string;
  /** The task that waits; it is not offered itself. */
  task: Task | undefined;
}

/** The form's field `depends_on` contains the ids, separated by spaces. */
export function DependsOn({ project, task }: Props) {
  const [ids, setIds] = useState(task?.depends_on ?? []);
  const [text, setText] = useState("");
  /**
   * Whether Enter was pressed. The first task found is then added as soon as the answer for the current text has
   * arrived.
   */
  const [entered, setEntered] = useState(false);
  const q = useDeferredValue(text.trim());
  const found = api.useQuery(
    "get",
    "/v1/projects/{id}/tasks",
    { params: { path: { id: project }, query: { q, limit: OFFERED + ids.length + 1 } } },
    { enabled: q !== "", placeholderData: (old) => old },
  );
  const free = (found.data?.items ?? []).filter(({ id }) => id !== task?.id && !ids.includes(id)).slice(0, OFFERED);
  const offered = text.trim() === "" ? [] : free;
  const add = (id: string) => {
    setIds([...ids, id]);
    type("");
  };
  const type = (words: string) => {
    setText(words);
    setEntered(false);
  };
  // Until the answer arrives, the list still belongs to the previous text.
  const answered = found.data !== undefined && !found.isPlaceholderData && q === text.trim();
  useEffect(() => {
    if (!entered || !answered) return;
    if (offered[0]) add(offered[0].id);
    else setEntered(false);
  });
  return (
    <>
      <Field label="Depends on" hint="Tasks that must be done before. Type a part of the title." name="depends_on">
        <Input
          name={undefined}
          type="search"
          placeholder="Find a task"
          autoComplete="off"
          value={text}
          onChange={(event) => type(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.ctrlKey || event.metaKey || text.trim() === "") return;
            event.preventDefault();
            setEntered(true);
          }}
        />
      </Field>
      <input type="hidden" name="depends_on" value={ids.join(" ")} />
      {q !== "" && found.data && offered.length === 0 && text !== "" && (
        <p className="-mt-2 mb-3 text-sm text-dim">No other task of this project has these words.</p>
      )}
      {offered.length > 0 && (
        <ul aria-label="Found tasks" className="-mt-2 mb-3 rounded-md border border-line bg-panel p-1">
          {offered.map(({ id, title, status }) => (
            <li key={id}>
              <button
                type="button"
                onClick={() => add(id)}
                className="flex w-full items-center gap-2 rounded px-2 py-1.5 text-left hover:bg-hover max-sm:min-h-11"
              >
                <span className="line-clamp-1 min-w-0 flex-1">{title}</span>
                <span className="shrink-0 text-sm text-dim">{wordOf(status)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {ids.length > 0 && (
        <ul aria-label="Depends on" className="-mt-1 mb-3 flex flex-wrap gap-1.5">
          {ids.map((id) => (
            <Chosen key={id} project={project} id={id} remove={() => setIds(ids.filter((one) => one !== id))} />
          ))}
        </ul>
      )}
    </>
  );
}

function Chosen({ project, id, remove }: { project: string; id: string; remove(): void }) {
  const { data } = api.useQuery("get", "/v1/projects/{id}/tasks/{tid}", { params: { path: { id: project, tid: id } } });
  const title = data?.title ?? "a task";
  return (
    <li className="inline-flex max-w-full items-center rounded-full bg-accent-soft pl-2.5 text-sm text-accent">
      <span className="truncate">{title}</span>
      <button
        type="button"
        aria-label={`Do not wait for ${title}`}
        onClick={remove}
        className="inline-flex size-7 shrink-0 items-center justify-center rounded-full hover:bg-hover max-sm:size-11"
      >
        <X aria-hidden size={13} />
      </button>
    </li>
  );
}
