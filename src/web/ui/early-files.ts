/** The scripts of the page that an address leads to, asked for while the first ones are still on their way. */
import { filesOfPage, type PartFiles } from "./part-files.ts";

declare global {
  interface Window {
    /** By the file's name, until somebody needs it. Two scripts share it, each of which is a bundle of its own. */
    skepEarly?: Map<string, Promise<void>>;
  }
}

/** Read when a part is loaded, a few times in the life of a page. */
export function notedFiles(): PartFiles {
  const text = document.querySelector<HTMLTemplateElement>("#part-files")?.content.textContent;
  return JSON.parse(text ?? '{"files":[],"parts":{},"pages":{}}');
}

/** The browser keeps the module, so that its import asks nothing. */
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

/** @param base address of the site, with a slash at its end. */
export function askPage(base: URL): void {
  if (!document.createElement("link").relList.supports("modulepreload")) return;
  const names = filesOfPage(notedFiles(), location.pathname.slice(base.pathname.length - 1));
  window.skepEarly = new Map(names.map((name) => [name, preload(`${base.href}assets/${name}`)]));
  // Who needs a file fetches it where this failed.
  for (const file of window.skepEarly.values()) file.catch(() => {});
}

/** @returns the file that was asked for early, once. */
export function takeEarly(name: string): Promise<void> | undefined {
  const file = window.skepEarly?.get(name);
  window.skepEarly?.delete(name);
  return file;
}
