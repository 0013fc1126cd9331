/** A form: its fields as text by name, its error, its buttons. What is typed into it is not lost without a question. */
import { createContext, type FormEvent, type ReactNode, useContext, useRef } from "react";
import { fieldError } from "../api/client.ts";
import type { Action } from "./action.ts";
import { Button } from "./button.tsx";
import { useDialog } from "./dialog.tsx";
import { useFormDraft } from "./form-draft.ts";
import { ProblemNote } from "./problem-note.tsx";
import { useTyped } from "./typed.ts";
import { useUnsaved } from "./unsaved.ts";

/** The values of a submitted form. */
export interface Fields {
  /** Trimmed. */
  text(name: string): string;
  /** As typed. */
  raw(name: string): string;
  /** Undefined when it is left empty. */
  number(name: string): number | undefined;
  checked(name: string): boolean;
  /** Parted by blanks or commas. */
  words(name: string): string[];
  /** Parted by commas: each may hold blanks. */
  entries(name: string): string[];
  /** The texts of those that are not empty, by name. */
  filled<Name extends string>(...names: Name[]): { [Field in Name]?: string };
  /** All of them, files too, for a request of several parts. */
  all(): FormData;
  /** The chosen option of a select, whose options the page wrote itself; the API refuses any other. */
  choice<Word extends string>(name: string): Word;
}

export function fieldsOf(form: HTMLFormElement): Fields {
  const data = new FormData(form);
  const raw = (name: string) => String(data.get(name) ?? "");
  const text = (name: string) => raw(name).trim();
  const parts = (name: string, between: RegExp | ",") =>
    raw(name)
      .split(between)
      .map((part) => part.trim())
      .filter(Boolean);
  function filled<Name extends string>(...names: Name[]): { [Field in Name]?: string };
  function filled(...names: string[]): Record<string, string> {
    return Object.fromEntries(names.filter(text).map((name) => [name, text(name)]));
  }
  return {
    raw,
    all: () => data,
    text,
    number: (name) => (text(name) === "" ? undefined : Number(raw(name))),
    checked: (name) => data.get(name) !== null,
    words: (name) => parts(name, /[\s,]+/),
    entries: (name) => parts(name, ","),
    filled,
    choice: <Word extends string>(name: string) => raw(name) as Word,
  };
}

const FormError = createContext<unknown>(undefined);
/** What the server said about a field of the form around, by the name of the body's member. */
export function useFieldError(name: string | undefined): string | undefined {
  const error = useContext(FormError);
  return name === undefined ? undefined : fieldError(error, name);
}

interface FormProps {
  action: Action;
  /** @param version ETag of what was shown when the person began to write; for `ifMatch`. */
  submit(fields: Fields, version: string | undefined): Promise<unknown>;
  /** The word on the button. */
  word: string;
  onCancel?: (() => void) | undefined;
  children: ReactNode;
  className?: string;
  /** Keeps the fields under this name until they are sent, over reloads. */
  draft?: string | undefined;
  /** ETag of what it changes. */
  version?: string | undefined;
  /** What it changes, as it stands in a sentence. */
  what?: string;
  /** A long form in a padded panel: its buttons stay in sight at the window's lower edge. In a dialog they always do. */
  long?: boolean;
}

/** Over the padding of the dialog or panel around. */
const FOOT = "sticky bottom-0 z-10 -mx-4 -mb-4 rounded-b-lg border-t border-line bg-panel px-4 py-3";

export function Form({
  action,
  submit,
  word,
  onCancel,
  children,
  className = "",
  draft,
  version,
  what = "what you typed",
  long = false,
}: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const dialog = useDialog();
  const typed = useTyped(form);
  const kept = useFormDraft(form, draft, version);
  const sending = useRef(false);
  const discard = () => {
    typed.clear();
    kept.clear();
  };
  useUnsaved(() => {
    // A dialog asks for its form; while it is sent, the page may go on to what was made.
    if (dialog || sending.current) return null;
    const isUnsaved = typed.has() || (draft !== undefined && kept.isChanged());
    return isUnsaved
      ? { what, asks: draft === undefined || version !== undefined, kept: draft !== undefined, discard }
      : null;
  });
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = fieldsOf(event.currentTarget);
    sending.current = true;
    dialog?.sending(true);
    const done = await action.run(() => submit(fields, kept.version()));
    sending.current = false;
    dialog?.sending(false);
    if (!done) return;
    discard();
    dialog?.sent();
  };
  return (
    <form ref={form} onSubmit={send} className={`${dialog ? "not-last:mb-8" : ""} ${className}`}>
      <FormError.Provider value={action.error}>{children}</FormError.Provider>
      <ProblemNote error={action.error} />
      <div className={`flex justify-end gap-2 ${dialog || long ? FOOT : "mt-1"} ${long ? "page-bar" : ""}`}>
        {onCancel && <Button onClick={dialog?.close ?? onCancel}>Cancel</Button>}
        <Button label={word} type="submit" kind="primary" busy={action.busy} />
      </div>
    </form>
  );
}
