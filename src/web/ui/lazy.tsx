/** A part of a page whose script is loaded when it is first drawn. */
import { type ComponentType, lazy as lazily } from "react";
import { again } from "../api/again.ts";
import { siteUrl } from "../api/client.ts";
import { loaded, reloadOnce } from "./reload-once.ts";

type Load<P> = () => Promise<{ default: ComponentType<P> }>;

/**
 * Firefox from version 155 and the newest WebKit fetch a script again whose import failed; other browsers keep the
 * failure until the page is loaded again. So when trying again did not help, the page is loaded once more, if the server
 * answers: without it the browser's own error would stand in place of the page. Drafts outlive that.
 */
async function loadPart<P>(load: Load<P>): Promise<{ default: ComponentType<P> }> {
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
}

/** What loads each part again whose script was not had. */
const failures = new Set<() => void>();

/** Parts that failed to load are loaded again when they are next drawn. A `Guard` calls it before it draws again. */
export function retryParts(): void {
  for (const retry of failures) retry();
  failures.clear();
}

export function lazy<P extends object>(load: Load<P>): ComponentType<P> {
  const part = () =>
    lazily<ComponentType<P>>(() =>
      loadPart(load).catch((error: unknown) => {
        failures.add(() => {
          Now = part();
        });
        throw error;
      }),
    );
  // React keeps the failure of a lazy component; another try is another component.
  let Now: ComponentType<P> = part();
  return (props: P) => <Now {...props} />;
}
