/** Raises a notification when a provider refuses a key, and closes it when a call with that key succeeds or the key is changed. */
import type { LlmCall } from "../usage/model.ts";

interface KeyWatchDeps {
  notify(notice: { level: "error"; title: string; detail: string; key: string; userId?: string | undefined }): void;
  resolve(key: string, userId?: string): void;
  isOpen(key: string): boolean;
}

const keyOf = (providerId: string): string => `provider-key:${providerId}`;

export function createKeyWatch({ notify, resolve, isOpen }: KeyWatchDeps) {
  /** Keys that were refused and not accepted since. This saves a look-up of notifications at every call. */
  const failing = new Set<string>();
  const refuse = (provider: string, userId: string | undefined, hasKey: boolean): void => {
    failing.add(`${provider}\n${userId ?? ""}`);
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
    called({ provider, key_source, user_id, error }: LlmCall): void {
      const userId = key_source === "user" ? (user_id ?? undefined) : undefined;
      if (error?.code === "provider_auth") refuse(provider, userId, key_source !== "none");
      else if (error === null && failing.delete(`${provider}\n${userId ?? ""}`)) resolve(keyOf(provider), userId);
    },
    /** The result of testing the connection with a stored key. */
    tested(provider: string, refused: boolean, userId?: string): void {
      if (refused) return refuse(provider, userId, true);
      failing.delete(`${provider}\n${userId ?? ""}`);
      resolve(keyOf(provider), userId);
    },
    /** Whether the instance's key was refused, and not accepted since. */
    isRefused: (provider: string): boolean => failing.has(`${provider}\n`) || isOpen(keyOf(provider)),
    keyChanged(providerId: string, userId?: string): void {
      failing.delete(`${providerId}\n${userId ?? ""}`);
      resolve(keyOf(providerId), userId);
    },
  };
}
