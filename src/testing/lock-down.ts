/** What the container engine must report of an agent's container. All tests that inspect one share this list. */
import { expect } from "bun:test";
import type { ContainerInspectInfo } from "dockerode";

/**
 * Checks an inspected container: no privileges, no access outside except the workspace, and a memory limit in bytes.
 */
export function expectLockedDown(inspected: ContainerInspectInfo, workspace: string, memory: number): void {
  const { HostConfig: host, Config: config, Mounts: mounts } = inspected;
  expect(host).toMatchObject({
    Privileged: false,
    CapDrop: ["ALL"],
    SecurityOpt: ["no-new-privileges"],
    ReadonlyRootfs: true,
    Init: true,
    IpcMode: "private",
    NetworkMode: "none",
    Memory: memory,
    MemorySwap: memory,
    PidsLimit: 512,
    PublishAllPorts: false,
    RestartPolicy: { Name: "no" },
  });
  expect([host.PidMode ?? "", host.UTSMode ?? "", host.UsernsMode ?? ""]).toEqual(["", "", ""]);
  const none = [
    host.CapAdd,
    host.Devices,
    host.Binds,
    host.VolumesFrom,
    host.GroupAdd,
    host.DeviceRequests,
    host.Links,
  ];
  expect(none.flatMap((one) => one ?? [])).toEqual([]);
  expect(host.NanoCpus).toBeGreaterThan(0);
  expect(Object.keys(host.Tmpfs ?? {}).sort()).toEqual(["/home/agent", "/tmp"]);
  const shown: object[] = mounts.map(({ Type, Source, Destination }) => ({ Type, Source, Destination }));
  expect(shown).toEqual([{ Type: "bind", Source: workspace, Destination: "/workspace" }]);
  expect(Number(config.User.split(":")[0])).toBeGreaterThan(0);
}
