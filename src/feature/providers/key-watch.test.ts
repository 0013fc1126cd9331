import { expect, test } from "bun:test";
import { createKeyWatch } from "./key-watch.ts";

type Call = Parameters<ReturnType<typeof createKeyWatch>["onModelCall"]>[0];

test("a notification from before a restart closes at the first call that the provider accepts", () => {
  const open = new Set(["provider-key:acme"]);
  const resolved: string[] = [];
  const watch = createKeyWatch({
    notify: ({ key }) => open.add(key),
    resolve: (key) => {
      resolved.push(key);
      open.delete(key);
    },
    isOpen: (key) => open.has(key),
  });
  const call = (code?: string) =>
    watch.onModelCall({
      provider: "acme",
      key_source: "instance",
      user_id: null,
      error: code ? { code } : null,
    } as Call);
  expect(watch.isRefused("acme")).toBe(true);
  call("rate_limited");
  expect(watch.isRefused("acme")).toBe(true);
  call();
  expect(watch.isRefused("acme")).toBe(false);
  expect(open.size).toBe(0);
  call();
  expect(resolved).toHaveLength(1);
  call("provider_auth");
  expect(watch.isRefused("acme")).toBe(true);
  call();
  expect(watch.isRefused("acme")).toBe(false);
});
