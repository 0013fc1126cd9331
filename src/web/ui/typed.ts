/** Detects whether a person has typed into fields of an element: a field's text differs from what it was before. */
import { type RefObject, useEffect, useRef } from "react";

const TYPED_INTO = /^(text|search|url|tel|email|password|number|date|time|datetime-local)$/;

/** The field's text; undefined for elements that nobody types into. */
function textOf(field: EventTarget): string | undefined {
  if (field instanceof HTMLTextAreaElement) return field.value;
  if (field instanceof HTMLInputElement) return TYPED_INTO.test(field.type) ? field.value : undefined;
  return field instanceof HTMLElement && field.isContentEditable ? (field.textContent ?? "") : undefined;
}

interface Typed {
  has(): boolean;
  /** Takes the current texts as sent or discarded. */
  clear(): void;
}

export function useTyped(within: RefObject<HTMLElement | null>): Typed {
  const before = useRef(new Map<EventTarget, string>());
  useEffect(() => {
    const element = within.current;
    if (!element) return;
    // This event comes before the first change of a field, whether by keys, paste or a suggestion.
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
