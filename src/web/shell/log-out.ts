/**
 * Ends the session in every tab of this browser. Everything that the tabs show, have cached or hold as drafts is
 * removed.
 */
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
    // Replace the entry, so that going back does not show the old page again.
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

/** Logs out, after asking if unsaved text would be lost. */
export function logOut(): void {
  const unsaved = unsavedNow();
  if (unsaved.length === 0) return void logOutNow();
  leavingState.set({ unsaved, go: () => void logOutNow(), loses: true });
}
