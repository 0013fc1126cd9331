/** A form: its fields as text by name, its error, its buttons. */
import type { FormEvent, ReactNode } from "react";
import type { Action } from "./action.ts";
import { Button } from "./button.tsx";
import { ProblemNote } from "./note.tsx";

/** The values of a submitted form. */
export interface Fields {
  /** Trimmed. */
  text(name: string): string;
  /** As typed. */
  raw(name: string): string;
  /** Undefined when it is left empty. */
  number(name: string): number | undefined;
  checked(name: string): boolean;
  /** The chosen option of a select, whose options the page wrote itself; the API refuses any other. */
  choice<Word extends string>(name: string): Word;
}

export function fieldsOf(form: HTMLFormElement): Fields {
  const data = new FormData(form);
  const raw = (name: string) => String(data.get(name) ?? "");
  return {
    raw,
    text: (name) => raw(name).trim(),
    number: (name) => (raw(name).trim() === "" ? undefined : Number(raw(name))),
    checked: (name) => data.get(name) !== null,
    choice: <Word extends string>(name: string) => raw(name) as Word,
  };
}

interface FormProps {
  action: Action;
  submit(fields: Fields): Promise<unknown>;
  /** The word on the button. */
  word: string;
  onCancel?: (() => void) | undefined;
  children: ReactNode;
  className?: string;
}

export function Form({ action, submit, word, onCancel, children, className = "" }: FormProps) {
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = fieldsOf(event.currentTarget);
    void action.run(() => submit(fields));
  };
  return (
    <form onSubmit={send} className={className}>
      {children}
      <ProblemNote error={action.error} />
      <div className="mt-1 flex justify-end gap-2">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" kind="primary" busy={action.busy}>
          {word}
        </Button>
      </div>
    </form>
  );
}
