/** The image for the sandboxes of tests, built from a static busybox and named by the hash of its content. */

import { dockerEndpoint } from "../adapter/docker/endpoint.ts";
import { connectDocker, type DockerClient } from "../adapter/docker.ts";
import { busyboxRootfs } from "../adapter/sandbox/docker/busybox-rootfs.ts";
import { createImages } from "../adapter/sandbox/docker/image.ts";
import { messageOf } from "../core/errors.ts";

/** This machine's Docker engine for tests. If there is none, it says so and returns undefined. */
export async function dockerForTests(
  env: Readonly<Record<string, string | undefined>>,
): Promise<DockerClient | undefined> {
  const docker = connectDocker(dockerEndpoint({ host: env["DOCKER_HOST"], certPath: env["DOCKER_CERT_PATH"] }));
  try {
    // On a busy machine the answer may take longer than a server would wait.
    await docker.ping(60_000);
    return docker;
  } catch (error) {
    console.warn(`skipped: no container engine here: ${messageOf(error)}`);
    return undefined;
  }
}

/** The name of the test image, which is built if this engine has none with the same content. */
export async function testImage(docker: DockerClient): Promise<string> {
  const { hash, tar } = await busyboxRootfs();
  const name = `skep-test:${hash.slice(0, 16)}`;
  if (await docker.images.inspect(name)) {
    tar.destroy();
    return name;
  }
  tar.destroy();
  await createImages({ docker }).build({ name });
  return name;
}
