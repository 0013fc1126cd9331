/** The streams of a container's own command: its input, and its output as it comes. */
import type Docker from "dockerode";
import type { FrameSink } from "./demux.ts";
import { waitForEnd } from "./exec.ts";
import type { Engine } from "./failures.ts";
import { controlsOf, duplex, unlessGivenUp } from "./streams.ts";

/** Attaches to a container that has not been started yet, so that nothing it says is missed. */
export async function attachTo(container: Docker.Container, { call }: Engine, onOutput: FrameSink) {
  const streams = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
  const stream = await call(async (givenUp) => unlessGivenUp(duplex(await container.attach(streams)), givenUp));
  /** Resolves when the streams are closed: the container ended, or the engine went away. */
  const closed = waitForEnd(stream, onOutput)
    .catch(() => {})
    .finally(() => stream.destroy());
  return { closed, ...controlsOf(stream, closed) };
}
