/** A form in a dialog that closes after the form was sent. */
import { type ReactNode, useRef } from "react";
import { Dialog } from "../ui/dialog.tsx";
import { type Fields, Form } from "../ui/form.tsx";
import { type ApiPath, settle, useChange } from "./change.ts";

/** Returned by `submit` to keep the dialog open, because it shows the result. */
export const stay = () => {};

interface FormDialogProps {
  title: string;
  /** The text of the button. */
  word: string;
  /** Paths whose answers are different afterwards. */
  changes?: ApiPath[];
  /** Shown to the person after success. */
  said?: string | undefined;
  /**
   * Sends the form. A problem is shown at the `Field` that it names. If this returns a function, the function is called
   * afterwards instead of closing the dialog: it opens what was created, or is `stay`.
   */
  submit(fields: Fields): Promise<unknown>;
  onClose(): void;
  children: ReactNode;
  /** Content above (`before`) and below (`after`) the form. */
  before?: ReactNode;
  after?: ReactNode;
  wide?: boolean;
}

export function FormDialog({
  title,
  word,
  changes = [],
  said,
  submit,
  onClose,
  children,
  before,
  after: below,
  wide = false,
}: FormDialogProps) {
  const change = useChange(...changes);
  const after = useRef(onClose);
  const send = async (fields: Fields) => {
    const next = await settle(submit(fields));
    after.current = typeof next === "function" ? () => next() : onClose;
  };
  const run = async (work: () => Promise<unknown>) => {
    const done = await change.run(work, said);
    if (done) after.current();
    return done;
  };
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      {before}
      <Form action={{ ...change, run }} word={word} onCancel={onClose} submit={send}>
        {children}
      </Form>
      {below}
    </Dialog>
  );
}
