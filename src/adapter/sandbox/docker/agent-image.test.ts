/**
 * The image that a sandbox starts from: Skep's own is made here and never requested from a registry; others are pulled
 * if allowed.
 */
import { afterAll, describe, expect, test } from "bun:test";
import { newId } from "../../../core/ids.ts";
import { dockerForTests } from "../../../testing/docker-image.ts";
import { createImageRegistry } from "../../../testing/image-registry.ts";
import { dockerEndpoint } from "../../docker/endpoint.ts";
import { connectDocker, type DockerClient } from "../../docker.ts";
import { createAgentImages } from "./agent-image.ts";

const docker = await dockerForTests(process.env);

describe.skipIf(!docker)("an agent image that is missing", () => {
  const engine = docker as DockerClient;
  const made: string[] = [];
  const pulls: string[] = [];
  /** The engine, with requests to registries recorded. */
  const watched: DockerClient = {
    ...engine,
    images: {
      ...engine?.images,
      pull(name, options) {
        pulls.push(name);
        return engine.images.pull(name, options);
      },
    },
  };
  const ownName = () => {
    const name = `skep/test-${newId("instance").replaceAll("_", "-")}:latest`;
    made.push(name);
    return name;
  };
  afterAll(async () => {
    for (const name of made) await engine.images.remove(name).catch(() => {});
  });

  test("of our name is made of this machine's busybox, once for all who ask, and said", async () => {
    const own = ownName();
    const notices: string[] = [];
    const images = createAgentImages({ docker: watched, pull: true, own, onNotice: (text) => notices.push(text) });
    const found = await Promise.all([images.find(own), images.find(own.replace(/:latest$/, "")), images.find(own)]);
    expect(new Set(found.map(({ id }) => id)).size).toBe(1);
    expect(notices).toEqual([expect.stringContaining(`${own} was missing and is made now`)]);
    expect(await images.make(own)).toBe(true);
    expect(pulls).toEqual([]);
  });

  test("of our name is never asked of a registry, also when it cannot be made", async () => {
    const own = ownName();
    const images = createAgentImages({ docker: watched, pull: false, own, busyboxPaths: [] });
    const failure = await images.find(own).catch((error) => error);
    expect(failure).toMatchObject({ status: 503, code: "image_missing" });
    expect(failure.detail).toContain("busybox-static");
    const other = createAgentImages({ docker: watched, pull: true, own });
    await expect(other.find("skep/not-ours-to-pull:1")).rejects.toMatchObject({ code: "image_missing" });
    expect(await images.make(own)).toBe(false);
    expect(await images.make("debian:stable")).toBe(false);
    expect(pulls).toEqual([]);
  });

  test("of our name is made of a registry's busybox where this machine has none and pulling is allowed", async () => {
    const registry = await createImageRegistry(1);
    try {
      const own = ownName();
      made.push(registry.image);
      const images = createAgentImages({ docker: watched, pull: true, own, busyboxPaths: [], basis: registry.image });
      const { id } = await images.find(own);
      expect(pulls.splice(0)).toEqual([registry.image]);
      expect((await engine.images.inspect(registry.image))?.id).toBe(id);
    } finally {
      await registry.stop();
    }
  });

  test("of the user's is pulled when it may be, and else named with what to do", async () => {
    const registry = await createImageRegistry(1);
    try {
      made.push(registry.image);
      const offline = createAgentImages({ docker: watched, pull: false });
      const failure = await offline.find(registry.image).catch((error) => error);
      expect(failure).toMatchObject({ status: 503, code: "image_missing" });
      expect(failure.detail).toContain("IMAGE_PULL");
      expect(pulls).toEqual([]);
      const { tags } = await createAgentImages({ docker: watched, pull: true }).find(registry.image);
      expect(tags).toContain(registry.image);
    } finally {
      await registry.stop();
    }
  });

  test("is not called missing when it is the engine that does not answer", async () => {
    const nowhere = connectDocker(dockerEndpoint({ host: "unix:///nonexistent/docker.sock" }));
    const images = createAgentImages({ docker: nowhere, pull: true });
    await expect(images.find("debian:stable")).rejects.toMatchObject({ code: "sandbox_unavailable" });
    expect(await images.make("skep/agent:latest")).toBe(false);
  });
});
