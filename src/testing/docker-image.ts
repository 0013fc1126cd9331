/** The image that tests run their sandboxes from: made on the spot of a static busybox, kept under its content's hash. */

import { dockerEndpoint } from "../adapter/docker/endpoint.ts";
import { connectDocker, type DockerClient } from "../adapter/docker.ts";
import { busyboxRootfs } from "../adapter/sandbox/docker/busybox-rootfs.ts";
import { createImages } from "../adapter/sandbox/docker/image.ts";
import { messageOf } from "../core/errors.ts";

/**
 * The Docker engine of this machine for tests, or undefined when there is none, which it then says.
 */
export async function dockerForTests(
  env: Readonly<Record<string, string | undefined>>,
): Promise<DockerClient | undefined> {
  const docker = connectDocker(dockerEndpoint({ host: env["DOCKER_HOST"], certPath: env["DOCKER_CERT_PATH"] }));
  try {
    // On a busy machine its answer may take longer than a server would wait.
    await docker.ping(60_000);
    return docker;
  } catch (error) {
    console.warn(`skipped: no container engine here: ${messageOf(error)}`);
    return undefined;
  }
}

/** Name of the test image; built when this engine has none of the same content. */
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
