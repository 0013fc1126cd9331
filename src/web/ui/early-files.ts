/** Loads the scripts of the addressed page early, while the first scripts are still loading. */
import { filesOfPage, type PartFiles } from "./part-files.ts";

declare global {
  interface Window {
    /** Files by name, until they are taken. It is on `window` because two separate script bundles share it. */
    skepEarly?: Map<string, Promise<void>>;
  }
}

/** Parses the list of files from the page. That happens only a few times, when a part is loaded. */
export function notedFiles(): PartFiles {
  const text = document.querySelector<HTMLTemplateElement>("#part-files")?.content.textContent;
  return JSON.parse(text ?? '{"files":[],"parts":{},"pages":{}}');
}

/** Preloads a module. The browser keeps it, so that the later import needs no request. */
function preload(address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = address;
    link.onload = () => resolve();
    link.onerror = () => reject(new Error(`${address} was not had`));
    document.head.append(link);
  });
}

/** @param base address of the site, with a trailing slash. */
export function askPage(base: URL): void {
  if (!document.createElement("link").relList.supports("modulepreload")) return;
  const names = filesOfPage(notedFiles(), location.pathname.slice(base.pathname.length - 1));
  window.skepEarly = new Map(names.map((name) => [name, preload(`${base.href}assets/${name}`)]));
  // Avoid unhandled rejections. Whoever needs a failed file loads it again.
  for (const file of window.skepEarly.values()) file.catch(() => {});
}

/** @returns the load of a file that was started early. A file can be taken once. */
export function takeEarly(name: string): Promise<void> | undefined {
  const file = window.skepEarly?.get(name);
  window.skepEarly?.delete(name);
  return file;
}
