/** Says when a provider refuses a key, and takes it back when a call with that key succeeds or the key is changed. */
import type { LlmCall } from "../usage/model.ts";

export interface KeyWatchDeps {
  notify(notice: { level: "error"; title: string; detail: string; key: string; userId?: string | undefined }): void;
  resolve(key: string, userId?: string): void;
}

export interface KeyWatch {
  called(call: LlmCall): void;
  keyChanged(providerId: string, userId?: string): void;
}

const keyOf = (providerId: string): string => `provider-key:${providerId}`;

export function createKeyWatch({ notify, resolve }: KeyWatchDeps): KeyWatch {
  /** Keys that were refused and not heard of since; saves a look-up at every call. */
  const failing = new Set<string>();
  return {
    called({ provider, key_source, user_id, error }) {
      const userId = key_source === "user" ? (user_id ?? undefined) : undefined;
      const about = `${provider}\n${userId ?? ""}`;
      if (error?.code === "provider_auth") {
        failing.add(about);
        notify({
          level: "error",
          title: `${provider} refuses the key`,
          detail: "Check the key, its rights and the account's balance, then set it again.",
          key: keyOf(provider),
          userId,
        });
      } else if (error === null && key_source !== "none" && failing.delete(about)) resolve(keyOf(provider), userId);
    },
    keyChanged(providerId, userId) {
      failing.delete(`${providerId}\n${userId ?? ""}`);
      resolve(keyOf(providerId), userId);
    },
  };
}
