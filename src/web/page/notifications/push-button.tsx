/**
 * Notifications on this device, by Web Push. This browser stores which channel is its own; the push service removes
 * dead ones.
 */
import { useState } from "react";
import { BASE, client, must } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import { useChange } from "../../kit/change.ts";
import { Button } from "../../ui/button.tsx";
import { ProblemNote } from "../../ui/problem-note.tsx";
import type { Channel } from "./channels.ts";

declare global {
  interface Window {
    /**
     * The Trusted Types policy that lets the page load its service worker. Browsers without Trusted Types need none.
     */
    trustedTypes?: {
      createPolicy(
        name: string,
        rules: { createScriptURL(text: string): string },
      ): { createScriptURL(text: string): string };
    };
  }
}

const KEPT = "skep-push-channel";
const WORKER = `${BASE}service-worker.js`;
const policy = window.trustedTypes?.createPolicy("skep-worker", { createScriptURL: () => WORKER });

const canPush = (): boolean => "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

async function subscribe(): Promise<string> {
  if ((await Notification.requestPermission()) !== "granted")
    throw new Error("Notifications are not allowed for this page. Allow them in the browser's settings.");
  const registration = await navigator.serviceWorker.register(policy?.createScriptURL(WORKER) ?? WORKER, {
    scope: BASE,
  });
  await navigator.serviceWorker.ready;
  // Remove an old subscription: keys of another server, or of a previous installation of this one, would be refused.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const { public_key } = await must(client.GET("/v1/push-key"));
  const made = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: public_key });
  const { endpoint = "", keys = {} } = made.toJSON();
  const body = {
    kind: "push" as const,
    name: `This device, ${new Date().toLocaleDateString()}`,
    url: endpoint,
    p256dh: keys["p256dh"] ?? "",
    auth: keys["auth"] ?? "",
  };
  return (await must(client.POST("/v1/notification-channels", { body }))).id;
}

async function unsubscribe(id: string): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration(BASE);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  await must(client.DELETE("/v1/notification-channels/{id}", { params: { path: { id } } }));
}

export function PushButton({ channels }: { channels: readonly Channel[] }) {
  const action = useChange();
  const [kept, setKept] = useState(() => localStorage.getItem(KEPT));
  if (!canPush()) return null;
  const mine = channels.find(({ id }) => id === kept);
  const change = () =>
    action.run(async () => {
      if (mine) await unsubscribe(mine.id);
      const id = mine ? null : await subscribe();
      if (id === null) localStorage.removeItem(KEPT);
      else localStorage.setItem(KEPT, id);
      setKept(id);
      await refresh("/v1/notification-channels");
    });
  return (
    <>
      <Button label={mine ? "Stop on this device" : "Notify this device"} busy={action.busy} onClick={change} />
      <ProblemNote error={action.error} />
    </>
  );
}
