/** Keeps the fields of a form as a draft: typed, chosen and ticked values survive a reload. Secrets are never kept. */
import { type RefObject, useEffect, useRef } from "react";
import { readDraft, writeDraft } from "./draft.ts";

type Values = Record<string, string | boolean>;
type FormField = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const isTick = (field: FormField): field is HTMLInputElement =>
  field instanceof HTMLInputElement && (field.type === "checkbox" || field.type === "radio");

/** The named fields that may be kept. */
const fieldsIn = (form: HTMLFormElement): FormField[] =>
  [...form.querySelectorAll<FormField>("input[name], textarea[name], select[name]")].filter(
    ({ type, dataset }) => !/^(password|file|hidden)$/.test(type) && dataset["secret"] === undefined,
  );

const nameOf = (field: FormField): string => (field.type === "radio" ? `${field.name}=${field.value}` : field.name);

const valuesOf = (form: HTMLFormElement): Values =>
  Object.fromEntries(fieldsIn(form).map((field) => [nameOf(field), isTick(field) ? field.checked : field.value]));

/** Sets a field as a person would, so that React notices it even for controlled fields. */
function put(field: FormField, value: string | boolean): void {
  if (isTick(field)) {
    if (field.checked !== value) field.click();
    return;
  }
  if (field.value === value) return;
  const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value") ?? {};
  set?.call(field, value);
  field.dispatchEvent(new Event(field instanceof HTMLSelectElement ? "change" : "input", { bubbles: true }));
}

function putAll(form: HTMLFormElement, values: Values): void {
  for (const field of fieldsIn(form)) {
    const value = values[nameOf(field)];
    if (value !== undefined) put(field, value);
  }
}

const isSame = (one: Values, other: Values): boolean =>
  Object.entries(one).every(([name, value]) => other[name] === undefined || other[name] === value);

interface FormDraft {
  /** Whether the fields differ from their initial values. */
  isChanged(): boolean;
  /** ETag of the version on which the draft was begun. */
  version(): string | undefined;
  /** Forgets the draft, after it was sent or discarded. */
  clear(): void;
}

/**
 * @param key under which the draft is stored; without a key nothing is stored.
 * @param version ETag of the object that the form changes.
 */
export function useFormDraft(
  form: RefObject<HTMLFormElement | null>,
  key: string | undefined,
  version: string | undefined,
): FormDraft {
  const begun = useRef<{ values: Values; version: string | undefined }>({ values: {}, version });
  useEffect(() => {
    const element = form.current;
    if (!element) return;
    begun.current = { values: valuesOf(element), version };
    const kept = key === undefined ? undefined : readDraft<Values>(key);
    let frame = 0;
    if (kept) {
      begun.current.version = kept.version;
      putAll(element, kept.value);
      // Fields that appear because of a restored choice exist one frame later, so fill in the values again.
      frame = requestAnimationFrame(() => putAll(element, kept.value));
    }
    const keep = () => {
      if (key === undefined) return;
      const value = valuesOf(element);
      const changed = !isSame(value, begun.current.values);
      writeDraft(key, changed ? { value, version: begun.current.version } : undefined);
    };
    element.addEventListener("input", keep);
    element.addEventListener("change", keep);
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener("input", keep);
      element.removeEventListener("change", keep);
    };
    // A newer version does not replace what is being written. The draft keeps its old version, so sending it causes a
    // conflict.
  }, [form, key, version]);
  return {
    isChanged: () => form.current !== null && !isSame(valuesOf(form.current), begun.current.values),
    version: () => begun.current.version,
    clear() {
      if (key !== undefined) writeDraft(key, undefined);
      if (form.current) begun.current.values = valuesOf(form.current);
    },
  };
}
