/** Whether a person has typed into the fields of an element: some field holds other text than before they came to it. */
import { type RefObject, useEffect, useRef } from "react";

const TYPED_INTO = /^(text|search|url|tel|email|password|number|date|time|datetime-local)$/;

/** Undefined for what nobody types into. */
function textOf(field: EventTarget): string | undefined {
  if (field instanceof HTMLTextAreaElement) return field.value;
  if (field instanceof HTMLInputElement) return TYPED_INTO.test(field.type) ? field.value : undefined;
  return field instanceof HTMLElement && field.isContentEditable ? (field.textContent ?? "") : undefined;
}

interface Typed {
  has(): boolean;
  /** What is there now was sent. */
  clear(): void;
}

export function useTyped(within: RefObject<HTMLElement | null>): Typed {
  const before = useRef(new Map<EventTarget, string>());
  useEffect(() => {
    const element = within.current;
    if (!element) return;
    // Comes before the first change of a field, by keys, by paste, by a suggestion.
    const note = ({ target }: Event) => {
      const text = target && !before.current.has(target) ? textOf(target) : undefined;
      if (target && text !== undefined) before.current.set(target, text);
    };
    element.addEventListener("beforeinput", note, true);
    return () => element.removeEventListener("beforeinput", note, true);
  }, [within]);
  const typed = useRef<Typed>({
    has: () =>
      [...before.current].some(([field, text]) => field instanceof Node && field.isConnected && textOf(field) !== text),
    clear: () => before.current.clear(),
  });
  return typed.current;
}
