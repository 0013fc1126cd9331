/** The API of a Kubernetes cluster: calls, watches, and commands in Pods. */
import type { ClusterAccess } from "./access.ts";
import { createClusterClient } from "./client.ts";
import { execInPod, type PodExecRequest } from "./exec.ts";
import { type WatchOptions, watchObjects } from "./watch.ts";

export type Cluster = ReturnType<typeof connectCluster>;

/** @param waitMs pause between attempts when the API server does not name one. */
export function connectCluster(access: ClusterAccess, waitMs?: number) {
  const client = createClusterClient(access, waitMs);
  return {
    ...client,
    exec: (request: PodExecRequest) => execInPod(client, request),
    watch: (options: WatchOptions) => watchObjects(client, options),
  };
}
