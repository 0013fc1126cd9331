/**
 * Keeps unfinished text until it is sent: in the tab's session storage, separately for each user and object. A draft
 * survives reloads and navigation; a log-out removes it.
 */
import { useRef, useState } from "react";
import { useUnsaved } from "./unsaved.ts";

const PREFIX = "skep-draft ";
let owner = "";

/** From now on, drafts belong to this user. */
export function openDrafts(user: string): void {
  owner = user;
}

const keyOf = (key: string): string => `${PREFIX}${owner} ${key}`;
const allKeys = (): string[] => Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));

/** Removes every draft of this tab. */
export function forgetDrafts(): void {
  for (const key of allKeys()) sessionStorage.removeItem(key);
}

/** The keys of the drafts that begin with `start`. */
export const draftKeys = (start: string): string[] =>
  allKeys().flatMap((key) => (key.startsWith(keyOf(start)) ? [key.slice(keyOf("").length)] : []));

interface Kept<T> {
  value: T;
  /** ETag of the edited object when the draft was begun. */
  version?: string | undefined;
}

export function readDraft<T>(key: string): Kept<T> | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(key)) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** @param kept undefined removes it. */
export function writeDraft<T>(key: string, kept: Kept<T> | undefined): void {
  try {
    if (kept) sessionStorage.setItem(keyOf(key), JSON.stringify(kept));
    else sessionStorage.removeItem(keyOf(key));
  } catch {
    // Storage is full or disabled. The text is still on the page, and leaving asks first.
  }
}

interface DraftOptions<T> {
  /** The value stored on the server, which the draft changes. */
  saved: T;
  /** ETag of the stored value. */
  version?: string | undefined;
  /** Name of the object, as it appears in a sentence. */
  what: string;
  /** Whether navigating to another page asks first. */
  asks?: boolean;
}

export interface DraftState {
  /** Returns to the stored value, after the draft was sent or discarded. */
  clear(): void;
  isChanged: boolean;
  /** Whether the draft was begun before this page was opened. */
  isFound: boolean;
  /**
   * ETag of the version on which the draft was begun. If somebody else has changed it since, sending causes a conflict.
   */
  version: string | undefined;
}

interface DraftOf<T> extends DraftState {
  value: T;
  set(value: T): void;
}

interface Draft extends DraftState {
  text: string;
  set(text: string): void;
}

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** A draft of any JSON value. While there is a draft, newer stored versions do not replace it. */
export function useDraftOf<T>(key: string, { saved, version, what, asks = false }: DraftOptions<T>): DraftOf<T> {
  const [found] = useState(() => readDraft<T>(key));
  const [kept, setKept] = useState(found);
  const now = useRef(kept);
  const put = (next: Kept<T> | undefined) => {
    now.current = next;
    writeDraft(key, next);
    setKept(next);
  };
  const clear = () => put(undefined);
  const isChanged = (draft: Kept<T> | undefined) => draft !== undefined && !isEqual(draft.value, saved);
  useUnsaved(() => (isChanged(now.current) ? { what, asks, kept: true, discard: clear } : null));
  return {
    value: kept ? kept.value : saved,
    set: (value) => put(isEqual(value, saved) ? undefined : { value, version: now.current?.version ?? version }),
    clear,
    isChanged: isChanged(kept),
    isFound: found !== undefined && kept !== undefined,
    version: kept?.version ?? version,
  };
}

/** A draft of a text. */
export function useDraft(key: string, options: Omit<DraftOptions<string>, "saved"> & { saved?: string }): Draft {
  const { value, ...draft } = useDraftOf(key, { ...options, saved: options.saved ?? "" });
  return { ...draft, text: value };
}
