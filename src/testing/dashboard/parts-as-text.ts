/** Parts of the dashboard's pages as the markup that they begin with. No browser and no document are needed. */
import { createElement, type ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { Router } from "wouter";

/** What modules of the dashboard read while they are loaded. */
const BROWSER: Record<string, unknown> = {
  document: { documentElement: { dataset: { base: "/" } } },
  location: { pathname: "/", hostname: "localhost" },
  addEventListener() {},
};

/** Imports modules of the dashboard where there is no browser. Other tests of the process do not meet what they read. */
export async function loadParts<T>(load: () => Promise<T>): Promise<T> {
  const missing = Object.keys(BROWSER).filter((name) => !(name in globalThis));
  for (const name of missing) Reflect.set(globalThis, name, BROWSER[name]);
  const parts = await load();
  for (const name of missing) Reflect.deleteProperty(globalThis, name);
  return parts;
}

/** @param address of the page, with what its filters say. */
export function textOfPart(part: ReactNode, address = "/"): string {
  const [ssrPath = "/", ssrSearch = ""] = address.split("?");
  return renderToStaticMarkup(createElement(Router, { ssrPath, ssrSearch, children: part }));
}
