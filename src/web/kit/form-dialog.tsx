/** A form in a dialog, which closes once it was sent. */
import { type ReactNode, useRef } from "react";
import { Dialog } from "../ui/dialog.tsx";
import { type Fields, Form } from "../ui/form.tsx";
import { type ApiPath, settle, useChange } from "./change.ts";

/** What `submit` returns if the dialog stays, because it shows what came of it. */
export const stay = () => {};

interface FormDialogProps {
  title: string;
  /** The word on the button. */
  word: string;
  /** Paths whose answers are other ones afterwards. */
  changes?: ApiPath[];
  /** Told to the person once it is done. */
  said?: string | undefined;
  /**
   * Sends it. A problem is shown in the form, at the `Field` whose name it tells. If it returns a function, that is called
   * afterwards instead of closing the dialog: to go to what was made, or `stay`.
   */
  submit(fields: Fields): Promise<unknown>;
  onClose(): void;
  children: ReactNode;
  /** Beside the form, above and below it. */
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
