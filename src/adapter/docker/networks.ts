/** Networks: create (once per name), list by label, connect, remove. */
import type Docker from "dockerode";
import type { Engine } from "./failures.ts";

export function createNetworkApi({ docker, call }: Engine) {
  return {
    list: (labels: readonly string[] = []) =>
      call(async () => {
        const rows = await docker().listNetworks({ filters: { label: [...labels] } });
        return rows.map((row) => ({ id: row.Id, name: row.Name, labels: row.Labels ?? {} }));
      }),
    /** Creates a network. Throws `docker_conflict` when one with that name exists. */
    create: (request: Docker.NetworkCreateOptions): Promise<string> =>
      call(async () => (await docker().createNetwork({ CheckDuplicate: true, ...request })).id),
    connect: (network: string, container: string): Promise<void> =>
      call(async () => void (await docker().getNetwork(network).connect({ Container: container }))),
    remove: (network: string): Promise<void> => call(async () => void (await docker().getNetwork(network).remove())),
  };
}
