/** What makes the dashboard installable: its manifest, and the service worker that shows what the server pushes. */

/** @param prefix path below which a proxy shows this server: "" or "/skep". @param icon address of the icon. */
export const manifestOf = (prefix: string, icon: string) => ({
  id: `${prefix}/`,
  name: "Skep",
  short_name: "Skep",
  description: "A team of AI agents",
  start_url: `${prefix}/`,
  scope: `${prefix}/`,
  display: "standalone",
  background_color: "#17130d",
  theme_color: "#17130d",
  icons: [
    { src: icon, sizes: "any", type: "image/svg+xml", purpose: "any" },
    { src: icon, sizes: "192x192 512x512", type: "image/svg+xml", purpose: "any" },
  ],
});

/** It stores nothing and answers no request: pages and data always come from the server. */
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
