/** A form in a dialog, which closes once it was sent. */
import type { ReactNode } from "react";
import { useAction } from "./action.ts";
import { Dialog } from "./dialog.tsx";
import { type Fields, Form } from "./form.tsx";

interface FormDialogProps {
  title: string;
  /** The word on the button. */
  word: string;
  /** @throws Problem, which is shown in the form. */
  submit(fields: Fields): Promise<unknown>;
  onClose(): void;
  children: ReactNode;
  wide?: boolean;
}

export function FormDialog({ title, word, submit, onClose, children, wide = false }: FormDialogProps) {
  const action = useAction();
  const send = async (fields: Fields) => {
    await submit(fields);
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      <Form action={action} word={word} onCancel={onClose} submit={send}>
        {children}
      </Form>
    </Dialog>
  );
}
