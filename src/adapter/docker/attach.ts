/** The streams of a container's own command: its input, and its output as it arrives. */
import type Docker from "dockerode";
import type { FrameSink } from "./demux.ts";
import { waitForEnd } from "./exec.ts";
import type { Engine } from "./failures.ts";
import { controlsOf, requireDuplex, unlessGivenUp } from "./streams.ts";

/** Attaches to a container. To miss no output, attach before the container is started. */
export async function attachTo(container: Docker.Container, { call }: Engine, onOutput: FrameSink) {
  const streams = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
  const stream = await call(async (givenUp) => unlessGivenUp(requireDuplex(await container.attach(streams)), givenUp));
  /** Resolves when the streams are closed, because the container ended or the engine is gone. */
  const closed = waitForEnd(stream, onOutput)
    .catch(() => {})
    .finally(() => stream.destroy());
  return { closed, ...controlsOf(stream, closed) };
}
