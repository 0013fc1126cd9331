/** What is being written to a chat. Kept in this browser until it is sent. */
import { useCallback, useState } from "react";

const keyOf = (id: string) => `skep-draft-${id}`;

export function useDraft(id: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => localStorage.getItem(keyOf(id)) ?? "");
  const set = useCallback(
    (next: string) => {
      setText(next);
      if (next) localStorage.setItem(keyOf(id), next);
      else localStorage.removeItem(keyOf(id));
    },
    [id],
  );
  return [text, set];
}
