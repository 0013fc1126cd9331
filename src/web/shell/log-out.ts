/** Ends the session in every tab of this browser: what they show, what was asked before and what was being written is gone. */
import { client, siteUrl } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { forgetChoices } from "../ui/choice.ts";
import { forgetDrafts } from "../ui/draft.ts";
import { leaveFreely, leavingState, unsavedNow } from "../ui/unsaved.ts";
import { forgetRecent } from "./recent.ts";

const CHANNEL = "skep-session";

function forget(): void {
  forgetDrafts();
  forgetRecent();
  forgetChoices();
  queries.clear();
  leaveFreely();
}

/** Follows a log-out in another tab. @returns a function that stops it. */
export function followLogOut(): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = () => {
    forget();
    // What was loaded before is not drawn again by going back.
    location.replace(siteUrl("/"));
  };
  return () => channel.close();
}

async function logOutNow(): Promise<void> {
  const { data } = await client.POST("/v1/auth/logout", { body: { end_provider_session: true } });
  const next = (data as { logout_url?: string } | undefined)?.logout_url;
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage({ out: true });
  channel.close();
  forget();
  location.assign(next ?? siteUrl("/"));
}

/** Asks first where something that was typed would be lost. */
export function logOut(): void {
  const unsaved = unsavedNow();
  if (unsaved.length === 0) return void logOutNow();
  leavingState.set({ unsaved, go: () => void logOutNow(), loses: true });
}
