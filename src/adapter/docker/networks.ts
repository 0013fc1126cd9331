/** Networks: make (once per name), find by label, connect, remove. */
import type Docker from "dockerode";
import type { Attend } from "./attendance.ts";
import { callEngine } from "./failures.ts";

interface NetworkRow {
  id: string;
  name: string;
  labels: Record<string, string>;
}

export interface NetworkApi {
  list(labels?: readonly string[]): Promise<NetworkRow[]>;
  /** Makes it; `docker_conflict` when one of that name exists. */
  create(request: Docker.NetworkCreateOptions): Promise<string>;
  connect(network: string, container: string): Promise<void>;
  remove(network: string): Promise<void>;
}

export function createNetworkApi(docker: () => Docker, address: string, attend: Attend): NetworkApi {
  const call = <T>(action: () => Promise<T>) => callEngine(address, () => attend(action));
  return {
    list: (labels = []) =>
      call(async () => {
        const rows = await docker().listNetworks({ filters: { label: [...labels] } });
        return rows.map((row) => ({ id: row.Id, name: row.Name, labels: row.Labels ?? {} }));
      }),
    create: (request) => call(async () => (await docker().createNetwork({ CheckDuplicate: true, ...request })).id),
    connect: (network, container) =>
      call(async () => {
        await docker().getNetwork(network).connect({ Container: container });
      }),
    remove: (network) =>
      call(async () => {
        await docker().getNetwork(network).remove();
      }),
  };
}
