/** Raises a notification when a provider refuses a key, and closes it when a call with that key succeeds or the key is changed. */
import type { LlmCall } from "../usage/model.ts";

interface KeyWatchDeps {
  notify(notice: { level: "error"; title: string; detail: string; key: string; userId?: string | undefined }): void;
  resolve(key: string, userId?: string): void;
  isOpen(key: string): boolean;
}

const keyOf = (providerId: string): string => `provider-key:${providerId}`;
/** @param userId of the user whose own key it is; undefined for the instance's key */
const nameOf = (providerId: string, userId: string | undefined): string => `${providerId}\n${userId ?? ""}`;

export function createKeyWatch({ notify, resolve, isOpen }: KeyWatchDeps) {
  /**
   * Whether the last call with a key was accepted, for keys that were used since the start. This saves a look-up of
   * notifications at every call. A notification from before the start may be open for any other key.
   */
  const accepted = new Map<string, boolean>();
  const accept = (provider: string, userId: string | undefined): void => {
    accepted.set(nameOf(provider, userId), true);
    resolve(keyOf(provider), userId);
  };
  const refuse = (provider: string, userId: string | undefined, hasKey: boolean): void => {
    accepted.set(nameOf(provider, userId), false);
    notify({
      level: "error",
      title: hasKey ? `${provider} refuses the key` : `${provider} asks for a key`,
      detail: hasKey
        ? "Check the key, its rights and the account's balance, then set it again."
        : `None is stored. Store one: skep providers set ${provider} --key`,
      key: keyOf(provider),
      userId,
    });
  };
  return {
    onModelCall({ provider, key_source, user_id, error }: LlmCall): void {
      const userId = key_source === "user" ? (user_id ?? undefined) : undefined;
      if (error?.code === "provider_auth") refuse(provider, userId, key_source !== "none");
      else if (error === null && !accepted.get(nameOf(provider, userId))) accept(provider, userId);
    },
    /** The result of testing the connection with a stored key. */
    onTest(provider: string, refused: boolean, userId?: string): void {
      if (refused) refuse(provider, userId, true);
      else accept(provider, userId);
    },
    /** Whether the instance's key was refused, and not accepted since. */
    isRefused: (provider: string): boolean => {
      const works = accepted.get(nameOf(provider, undefined));
      return works === undefined ? isOpen(keyOf(provider)) : !works;
    },
    keyChanged(providerId: string, userId?: string): void {
      accepted.delete(nameOf(providerId, userId));
      resolve(keyOf(providerId), userId);
    },
  };
}
