/** The request for a container, where the tests' images cannot show the effect. */
import { expect, test } from "bun:test";
import { containerRequest } from "./container-spec.ts";
import { CONTAINER_LIMITS } from "./lock-down.ts";

const requestOf = (engine: "docker" | "podman") =>
  containerRequest({
    spec: {
      executionId: "exe_1",
      sessionId: "sess_1",
      agentId: "engineer",
      home: "/srv/work",
      network: "none",
      memoryMb: 256,
      cpus: 0.5,
      env: { A: "1" },
    } as never,
    instanceId: "ins_1",
    imageId: "sha256:0",
    owner: { uid: 1234, gid: 1235 },
    engine,
    network: "none",
    mounts: [],
    imageVolumes: ["/workspace", "/tmp", "/home/agent", "/data"],
  });

test("volumes of an image are folders in memory, and lie over none of the places that it has anyway", () => {
  const { Mounts: mounts = [], Tmpfs: tmpfs = {} } = requestOf("docker").HostConfig!;
  expect(mounts.map(({ Type, Source, Target }) => [Type, Source, Target])).toEqual([
    ["bind", "/srv/work", "/workspace"],
    ["tmpfs", "", "/data"],
  ]);
  expect(Object.keys(tmpfs).sort()).toEqual(["/home/agent", "/tmp"]);
});

test("the home is the agent's own, where the engine can give it away", () => {
  const homeOn = (engine: "docker" | "podman") => requestOf(engine).HostConfig!.Tmpfs!["/home/agent"];
  expect(homeOn("docker")).toEndWith("mode=0700,uid=1234,gid=1235");
  expect(homeOn("podman")).toEndWith("mode=1777");
});

test("open files are limited, and a crash leaves no core", () => {
  const files = CONTAINER_LIMITS.openFiles;
  expect(requestOf("docker").HostConfig!.Ulimits).toEqual([
    { Name: "nofile", Soft: files, Hard: files },
    { Name: "core", Soft: 0, Hard: 0 },
  ]);
});
