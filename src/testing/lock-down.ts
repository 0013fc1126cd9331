/** What the container engine must say of an agent's container: the one list, for all tests that look at one. */
import { expect } from "bun:test";
import type { ContainerInspectInfo } from "dockerode";

/** Checks an inspected container: no privilege, no way out but its workspace, and its memory's bound in bytes. */
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
