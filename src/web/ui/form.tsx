/** A form: its field values by name, its error, its buttons. Typed text is not lost without a question. */
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
  /** The trimmed text. */
  text(name: string): string;
  /** The text as typed. */
  raw(name: string): string;
  /** Undefined if the field is empty. */
  number(name: string): number | undefined;
  isChecked(name: string): boolean;
  /** Split at spaces or commas. */
  words(name: string): string[];
  /** Split at commas only, because entries may contain spaces. */
  entries(name: string): string[];
  /** The texts of the fields that are not empty, by name. */
  pickFilled<Name extends string>(...names: Name[]): { [Field in Name]?: string };
  /** All fields, including files, for a multipart request. */
  all(): FormData;
  /**
   * The chosen option of a select. The page itself wrote the options, so the value is not checked; the API refuses
   * others.
   */
  choice<Word extends string>(name: string): Word;
}

export function fieldsOf(form: HTMLFormElement): Fields {
  const data = new FormData(form);
  const raw = (name: string) => String(data.get(name) ?? "");
  const text = (name: string) => raw(name).trim();
  const splitParts = (name: string, between: RegExp | ",") =>
    raw(name)
      .split(between)
      .map((part) => part.trim())
      .filter(Boolean);
  function pickFilled<Name extends string>(...names: Name[]): { [Field in Name]?: string };
  function pickFilled(...names: string[]): Record<string, string> {
    return Object.fromEntries(names.filter(text).map((name) => [name, text(name)]));
  }
  return {
    raw,
    all: () => data,
    text,
    number: (name) => (text(name) === "" ? undefined : Number(raw(name))),
    isChecked: (name) => data.get(name) !== null,
    words: (name) => splitParts(name, /[\s,]+/),
    entries: (name) => splitParts(name, ","),
    pickFilled,
    choice: <Word extends string>(name: string) => raw(name) as Word,
  };
}

const FormError = createContext<unknown>(undefined);
/** The server's error about a field of the surrounding form, by the name of the member in the request body. */
export function useFieldError(name: string | undefined): string | undefined {
  const error = useContext(FormError);
  return name === undefined ? undefined : fieldError(error, name);
}

interface FormProps {
  action: Action;
  /** @param version ETag of what was shown when the person began to edit; for `ifMatch`. */
  submit(fields: Fields, version: string | undefined): Promise<unknown>;
  /** The text of the submit button. */
  word: string;
  onCancel?: (() => void) | undefined;
  children: ReactNode;
  className?: string;
  /** Key under which the fields are stored until they are sent, so that they survive reloads. */
  draft?: string | undefined;
  /** ETag of the object that the form changes. */
  version?: string | undefined;
  /** What the form changes, as it appears in a sentence. */
  what?: string;
  /**
   * For a long form in a padded panel: keeps its buttons at the window's lower edge. In a dialog they always stay in
   * sight.
   */
  long?: boolean;
}

/** Covers the padding of the dialog or panel around the form. */
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
    // A surrounding dialog asks instead of the form. While the form is being sent, the page may navigate to the result.
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
    dialog?.setSending(true);
    const done = await action.run(() => submit(fields, kept.version()));
    sending.current = false;
    dialog?.setSending(false);
    if (!done) return;
    discard();
    dialog?.markSent();
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
