/** Makes the dashboard installable: its manifest, and the service worker that shows pushed notifications. */

/** Patterns of the icons' file names. The build draws the icons (`scripts/dashboard/icon-png.ts`). */
const ICONS = [
  { file: /^assets\/icon-[0-9a-f]{8}\.svg$/, sizes: "any", type: "image/svg+xml", purpose: "any" },
  { file: /^assets\/icon-192-\w+\.png$/, sizes: "192x192", type: "image/png", purpose: "any" },
  { file: /^assets\/icon-512-\w+\.png$/, sizes: "512x512", type: "image/png", purpose: "any" },
  { file: /^assets\/maskable-512-\w+\.png$/, sizes: "512x512", type: "image/png", purpose: "maskable" },
] as const;

/**
 * @param prefix path below which a proxy shows this server: "" or "/skep".
 * @param files names of the dashboard's files, such as `assets/icon-0123abcd.svg`.
 */
export const manifestOf = (prefix: string, files: readonly string[]) => ({
  id: `${prefix}/`,
  name: "Skep",
  short_name: "Skep",
  description: "A team of AI agents",
  start_url: `${prefix}/`,
  scope: `${prefix}/`,
  display: "standalone",
  background_color: "#17130d",
  theme_color: "#17130d",
  icons: ICONS.flatMap(({ file, ...icon }) => {
    const name = files.find((one) => file.test(one));
    return name === undefined ? [] : [{ src: `${prefix}/${name}`, ...icon }];
  }),
});

/** The service worker stores nothing and answers no request: pages and data always come from the server. */
export const SERVICE_WORKER = `"use strict";
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("push", (event) => {
  let said = {};
  try {
    said = event.data ? event.data.json() : {};
  } catch {}
  const title = String(said.title || "Skep");
  const options = { body: String(said.text || ""), tag: String(said.id || ""), data: { path: String(said.path || "") } };
  event.waitUntil(self.registration.showNotification(title, options));
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { scope } = self.registration;
  const wanted = new URL(String(event.notification.data.path), scope).href;
  const url = wanted.startsWith(scope) ? wanted : scope;
  const open = async () => {
    const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    const shown = pages.find((page) => page.url === url);
    return shown ? shown.focus() : self.clients.openWindow(url);
  };
  event.waitUntil(open());
});
`;
