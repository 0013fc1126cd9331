/**
 * A form for something that is stored. Changes that others save meanwhile do not replace what the person types. If both
 * changed it, both versions are shown, and the person decides.
 */
import { type ReactNode, useState } from "react";
import type { Tagged } from "../api/tagged.ts";
import { Conflict, isConflict } from "../ui/conflict.tsx";
import { writeDraft } from "../ui/draft.ts";
import { type Fields, Form } from "../ui/form.tsx";
import { type ApiPath, useChange } from "./change.ts";
import { useEdit } from "./edit.ts";

interface EditFormProps<T, Body> {
  tagged: Tagged<T>;
  /** Paths whose answers are different after the change. */
  changes: ApiPath[];
  /**
   * Key under which the typed text is stored until it is sent. Without a key, it is lost when the person leaves the
   * page, which therefore asks first.
   */
  draft?: string;
  /** What is changed, as it appears in a sentence. */
  what: string;
  /** Keeps the form's buttons in sight; see `Form`. */
  long?: boolean;
  said?: string;
  bodyOf(fields: Fields): Body;
  /**
   * @param etag tag of the version that the person began with. The server refuses the change if somebody else changed
   * it.
   */
  send(body: Body, etag: string | undefined): Promise<unknown>;
  /** Each version as text, for the case that somebody else saved first. */
  mine(body: Body): string;
  theirs(value: T): string;
  onCancel?: () => void;
  onDone?: () => void;
  children(value: T): ReactNode;
}

export function EditForm<T, Body>({
  tagged,
  changes,
  draft,
  what,
  long = false,
  said = "Saved.",
  bodyOf,
  send,
  mine,
  theirs,
  onCancel,
  onDone,
  children,
}: EditFormProps<T, Body>) {
  const change = useChange(...changes);
  const edit = useEdit(tagged);
  const [refused, setRefused] = useState<Body>();
  const isRefused = refused !== undefined && isConflict(change.error);
  const end = () => {
    if (draft !== undefined) writeDraft(draft, undefined);
    setRefused(undefined);
    edit.release();
  };
  const run = async (work: () => Promise<unknown>) => {
    const done = await change.run(work, said);
    if (!done) return false;
    end();
    onDone?.();
    return true;
  };
  const take = () => {
    change.clear();
    end();
    onDone?.();
  };
  return (
    <>
      {isRefused && (
        <Conflict
          mine={mine(refused)}
          theirs={theirs(tagged.value)}
          overwrite={() => run(() => send(refused, tagged.etag))}
          take={take}
        />
      )}
      {edit.newer && !isRefused && !change.busy && (
        <p role="status" className="mb-3 rounded-md bg-wait-soft px-3 py-1.5 text-sm">
          What is stored changed meanwhile. Your text stays here; when you save, both versions are shown.
        </p>
      )}
      <div hidden={isRefused} onInput={edit.hold} onChange={edit.hold}>
        <Form
          key={edit.etag}
          action={{ ...change, error: isRefused ? undefined : change.error, run }}
          word="Save"
          draft={draft}
          version={edit.etag}
          what={what}
          long={long}
          onCancel={onCancel}
          submit={async (fields, version) => {
            const body = bodyOf(fields);
            setRefused(body);
            return send(body, version);
          }}
        >
          {children(edit.value)}
        </Form>
      </div>
    </>
  );
}
