/** Renders parts of the dashboard's pages to their initial markup, without a browser or document. */
import { createElement, type ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { Router } from "wouter";

/** Globals that the dashboard's modules read while they are loaded. */
const BROWSER: Record<string, unknown> = {
  document: { documentElement: { dataset: { base: "/" } } },
  location: { pathname: "/", hostname: "localhost" },
  history: { state: null },
  addEventListener() {},
};

/**
 * Imports dashboard modules without a browser. The globals that they need are removed again, so that other tests do not
 * see them.
 */
export async function loadParts<T>(load: () => Promise<T>): Promise<T> {
  const missing = Object.keys(BROWSER).filter((name) => !(name in globalThis));
  for (const name of missing) Reflect.set(globalThis, name, BROWSER[name]);
  const parts = await load();
  for (const name of missing) Reflect.deleteProperty(globalThis, name);
  return parts;
}

/** @param address address of the page, with its query. */
export function textOfPart(part: ReactNode, address = "/"): string {
  const [ssrPath = "/", ssrSearch = ""] = address.split("?");
  return renderToStaticMarkup(createElement(Router, { ssrPath, ssrSearch, children: part }));
}
