/** A part of a page whose script is loaded when it is first drawn. */
import { type ComponentType, lazy as lazily } from "react";
import { again } from "../api/again.ts";
import { siteUrl } from "../api/client.ts";
import { loaded, reloadOnce } from "./reload-once.ts";

/**
 * Firefox from version 155 and the newest WebKit fetch a script again whose import failed; other browsers keep the
 * failure until the page is loaded again. So when trying again did not help, the page is loaded once more, if the server
 * answers: without it the browser's own error would stand in place of the page.
 */
export const lazy = <P>(load: () => Promise<{ default: ComponentType<P> }>) =>
  lazily<ComponentType<P>>(async () => {
    // Its text holds the script's address.
    const file = String(load);
    try {
      const part = await again(load);
      loaded(file);
      return part;
    } catch (error) {
      const answers = await fetch(siteUrl("/v1/status"), { cache: "no-store" }).then(
        () => true,
        () => false,
      );
      if (!answers || !reloadOnce(file)) throw error;
      return new Promise<never>(() => {});
    }
  });
