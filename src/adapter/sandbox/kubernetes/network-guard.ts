/**
 * Tests whether the cluster enforces that a Pod without a network has none. Some network plug-ins ignore network
 * policies. So a Pod that the policy closes tries to reach the API server, which every Pod with an open network can
 * reach.
 */
import type { Clock } from "../../../core/clock.ts";
import { unavailable } from "../../../core/errors.ts";
import type { createPodCommands } from "./container.ts";

/** How long a positive result is reused, ms. */
const KEEP_MS = 600_000;

const LOOK = `
host=$KUBERNETES_SERVICE_HOST port=$KUBERNETES_SERVICE_PORT
[ -n "$host" ] && [ -n "$port" ] || { echo nowhere; exit 0; }
if command -v bash >/dev/null 2>&1; then timeout 4 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$host" "$port" 2>/dev/null
elif command -v nc >/dev/null 2>&1; then timeout 4 nc -w 3 "$host" "$port" </dev/null >/dev/null 2>&1
else echo unknown; exit 0
fi
[ $? -eq 0 ] && echo open || echo closed`;

const UNGUARDED: Readonly<Record<string, string>> = {
  open: "The Pod reaches the cluster's API server, although it is to have no network: the network plug-in does not enforce network policies, or docs/kubernetes/agents.yml was not applied to this namespace. Apply it, use a plug-in such as Calico or Cilium, or set `network: bridge` for the agent.",
  unknown:
    "Whether the cluster keeps the Pod from the network cannot be tried: the agent's image has neither bash nor nc. Use an image with one of them.",
};

export function createNetworkGuard(clock: Clock) {
  let guardedUntil = 0;
  return {
    /** @throws Problem 503 `network_unguarded` when the Pod must not be used. */
    async assertClosed({ run }: Pick<ReturnType<typeof createPodCommands>, "run">): Promise<void> {
      if (clock.monotonic() < guardedUntil) return;
      const { output } = await run(["sh", "-c", LOOK], new Uint8Array());
      const found = output.trim();
      if (found !== "closed") throw unavailable("network_unguarded", UNGUARDED[found] ?? UNGUARDED["unknown"]!);
      guardedUntil = clock.monotonic() + KEEP_MS;
    },
  };
}
