/** A part of a page whose script is loaded when it is first drawn. */
import {
  type ComponentType,
  type FunctionComponent,
  lazy as lazily,
  type ReactNode,
  Suspense,
  useSyncExternalStore,
} from "react";
import { again } from "../api/again.ts";
import { siteUrl, unreachable } from "../api/client.ts";
import { notedFiles, takeEarly } from "./early-files.ts";
import { filesIn } from "./part-files.ts";
import { noteLoaded, reloadOnce } from "./reload-once.ts";

type Load<P> = () => Promise<{ default: ComponentType<P> }>;

/** The dashboard changed on the server, or it lost a file. */
class MissingFile extends Error {}

/** Files that are here, or on their way. */
const files = new Map<string, Promise<void>>();

/** @throws if it cannot be had; then it is fetched again the next time. */
function fetchFile(name: string): Promise<void> {
  const under = files.get(name) ?? takeEarly(name)?.catch(() => fetchOnce(name)) ?? fetchOnce(name);
  files.set(name, under);
  under.catch(() => files.delete(name));
  return under;
}

/** @throws if it cannot be had. What the server does not have is asked for once. */
async function fetchOnce(name: string): Promise<void> {
  const isThere = await again(async () => {
    const answer = await fetch(siteUrl(`/assets/${name}`));
    // The browser keeps only what was read to its end.
    await answer.arrayBuffer();
    return answer.ok;
  }).catch(() => {
    throw unreachable();
  });
  if (!isThere) throw new MissingFile(`The server does not have the file ${name} of this page.`);
}

/**
 * Brings the scripts of a part into the browser's cache. Firefox from version 155 and the newest WebKit fetch a script again
 * whose import failed; other browsers keep the failure until the page is loaded again. So a part is imported once all of its
 * files are here.
 */
export async function fetchPart(load: () => Promise<unknown>): Promise<void> {
  await Promise.all(filesIn(notedFiles(), String(load)).map(fetchFile));
}

/**
 * Loads a part. If its import fails although its files were here, or the server does not have them any more, the page is
 * loaded once more, if the server answers: without it the browser's own error would stand in place of the page. Drafts
 * outlive that.
 */
async function loadPart<P>(load: Load<P>): Promise<{ default: ComponentType<P> }> {
  // Its text holds the script's address.
  const file = String(load);
  let isHere = false;
  try {
    await fetchPart(load);
    isHere = true;
    const part = await again(load);
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

/** What loads each part again whose script was not had. */
const failures = new Set<() => void>();

/** Parts that failed to load are loaded again when they are next drawn. A `Guard` calls it before it draws again. */
export function retryParts(): void {
  for (const retry of failures) retry();
  failures.clear();
}

/** @param meanwhile what is shown while its script loads; without it, the nearest `Suspense` above shows something. */
export function lazy<P extends object>(load: Load<P>, meanwhile?: ReactNode): ComponentType<P> {
  const part = () =>
    lazily<ComponentType<P>>(() =>
      loadPart(load).catch((error: unknown) => {
        failures.add(() => {
          Now = part();
        });
        throw error;
      }),
    );
  // React keeps the failure of a lazy component; another try is another component.
  let Now: ComponentType<P> = part();
  if (meanwhile === undefined) return (props: P) => <Now {...props} />;
  return (props: P) => (
    <Suspense fallback={meanwhile}>
      <Now {...props} />
    </Suspense>
  );
}

export interface LazyPage extends FunctionComponent {
  /** Loads its script, unless that is here. Settles when it is here or was not had. */
  load(): Promise<void>;
}

/**
 * A page whose script is loaded when it is first drawn. It shows `Waiting` by itself: what a `Suspense` shows instead, React
 * keeps for at least 300 ms, even if the script is there after ten.
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
