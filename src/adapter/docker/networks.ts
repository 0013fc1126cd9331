/** Networks: make (once per name), find by label, connect, remove. */
import type Docker from "dockerode";
import type { Attend } from "./attendance.ts";
import { callEngine } from "./failures.ts";

interface NetworkRow {
  id: string;
  name: string;
  labels: Record<string, string>;
}

export type NetworkApi = ReturnType<typeof createNetworkApi>;

export function createNetworkApi(docker: () => Docker, address: string, attend: Attend) {
  const call = <T>(action: () => Promise<T>) => callEngine(address, () => attend(action));
  return {
    list: (labels: readonly string[] = []): Promise<NetworkRow[]> =>
      call(async () => {
        const rows = await docker().listNetworks({ filters: { label: [...labels] } });
        return rows.map((row) => ({ id: row.Id, name: row.Name, labels: row.Labels ?? {} }));
      }),
    /** Makes it; `docker_conflict` when one of that name exists. */
    create: (request: Docker.NetworkCreateOptions): Promise<string> =>
      call(async () => (await docker().createNetwork({ CheckDuplicate: true, ...request })).id),
    connect: (network: string, container: string): Promise<void> =>
      call(async () => {
        await docker().getNetwork(network).connect({ Container: container });
      }),
    remove: (network: string): Promise<void> =>
      call(async () => {
        await docker().getNetwork(network).remove();
      }),
  };
}
