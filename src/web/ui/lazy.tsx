/** A part of a page whose script is loaded when it is first rendered. */
import {
  type ComponentType,
  type FunctionComponent,
  lazy as lazily,
  type ReactNode,
  Suspense,
  useSyncExternalStore,
} from "react";
import { retryRead } from "../api/again.ts";
import { createUnreachableProblem, siteUrl } from "../api/client.ts";
import { notedFiles, takeEarly } from "./early-files.ts";
import { filesIn } from "./part-files.ts";
import { noteLoaded, reloadOnce } from "./reload-once.ts";

type Load<P> = () => Promise<{ default: ComponentType<P> }>;

/** The server does not have the file, for example because the dashboard was updated. */
class MissingFile extends Error {}

/** Files that are loaded or being loaded, by name. */
const files = new Map<string, Promise<void>>();

/** Loads a file once. @throws if that fails; the next call then tries again. */
function fetchFile(name: string): Promise<void> {
  const under = files.get(name) ?? takeEarly(name)?.catch(() => fetchOnce(name)) ?? fetchOnce(name);
  files.set(name, under);
  under.catch(() => files.delete(name));
  return under;
}

/** @throws if the file cannot be loaded. A file that the server does not have is requested only once. */
async function fetchOnce(name: string): Promise<void> {
  const isThere = await retryRead(async () => {
    const answer = await fetch(siteUrl(`/assets/${name}`));
    // The browser caches only responses that were read completely.
    await answer.arrayBuffer();
    return answer.ok;
  }).catch(() => {
    throw createUnreachableProblem();
  });
  if (!isThere) throw new MissingFile(`The server does not have the file ${name} of this page.`);
}

/**
 * Loads a part's scripts into the browser's cache. Most browsers remember a failed import until the page is reloaded;
 * only Firefox from version 155 and the newest WebKit fetch the script again. A part is therefore imported only after
 * all of its files are loaded.
 */
export async function fetchPart(load: () => Promise<unknown>): Promise<void> {
  await Promise.all(filesIn(notedFiles(), String(load)).map(fetchFile));
}

/**
 * Loads a part. The page is reloaded once if the import fails although the files are loaded, or if the server no longer
 * has them. It is reloaded only if the server answers, because otherwise the browser's own error page would appear.
 * Drafts survive the reload.
 */
async function loadPart<P>(load: Load<P>): Promise<{ default: ComponentType<P> }> {
  // The function's source text contains the script's address.
  const file = String(load);
  let isHere = false;
  try {
    await fetchPart(load);
    isHere = true;
    const part = await retryRead(load);
    noteLoaded(file);
    return part;
  } catch (error) {
    if (!isHere && !(error instanceof MissingFile)) throw error;
    const answers = await fetch(siteUrl("/v1/status"), { cache: "no-store" }).then(
      () => true,
      () => false,
    );
    if (!answers || !reloadOnce(file)) throw error;
    return new Promise<never>(() => {});
  }
}

/** Functions that reset the parts that failed to load. */
const failures = new Set<() => void>();

/** Lets failed parts load again when they are next rendered. A `Guard` calls this before it renders again. */
export function retryParts(): void {
  for (const retry of failures) retry();
  failures.clear();
}

/** @param meanwhile shown while the script loads. Without it, the nearest `Suspense` above shows its fallback. */
export function lazy<P extends object>(load: Load<P>, meanwhile?: ReactNode): ComponentType<P> {
  const createPart = () =>
    lazily<ComponentType<P>>(() =>
      loadPart(load).catch((error: unknown) => {
        failures.add(() => {
          Now = createPart();
        });
        throw error;
      }),
    );
  // React remembers the failure of a lazy component, so each retry needs a new component.
  let Now: ComponentType<P> = createPart();
  if (meanwhile === undefined) return (props: P) => <Now {...props} />;
  return (props: P) => (
    <Suspense fallback={meanwhile}>
      <Now {...props} />
    </Suspense>
  );
}

export interface LazyPage extends FunctionComponent {
  /** Loads the script, unless it is loaded. Resolves when it is loaded or has failed. */
  load(): Promise<void>;
}

/**
 * A page whose script is loaded when it is first rendered. It shows `Waiting` itself, because React keeps a `Suspense`
 * fallback for at least 300 ms, even if the script arrives after ten.
 */
export function lazyPage(load: Load<object>, Waiting: ComponentType): LazyPage {
  let state: { View: ComponentType } | { error: unknown } | undefined;
  let asked: Promise<void> | undefined;
  const watchers = new Set<() => void>();
  const become = (next: typeof state) => {
    state = next;
    for (const watcher of watchers) watcher();
  };
  const fail = (error: unknown) => {
    failures.add(() => {
      asked = undefined;
      state = undefined;
    });
    become({ error });
  };
  const ask = () => (asked ??= loadPart(load).then((part) => become({ View: part.default }), fail));
  const subscribe = (watcher: () => void) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  };
  function Page() {
    const now = useSyncExternalStore(subscribe, () => state);
    if (now && "error" in now) throw now.error;
    if (now) return <now.View />;
    void ask();
    return <Waiting />;
  }
  return Object.assign(Page, { load: ask });
}
