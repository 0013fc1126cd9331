/** The streams of a container's own command: its input, and its output as it comes. */
import type Docker from "dockerode";
import { createDemuxer, type FrameSink } from "./demux.ts";
import type { Engine } from "./failures.ts";
import { controlsOf, duplex, type StreamControls, unlessGivenUp } from "./streams.ts";

export interface AttachedContainer extends StreamControls {
  /** Resolves when the streams are closed: the container ended, or the engine went away. */
  readonly closed: Promise<void>;
}

/** Attaches to a container that has not been started yet, so that nothing it says is missed. */
export async function attachTo(
  container: Docker.Container,
  { call }: Engine,
  onOutput: FrameSink,
): Promise<AttachedContainer> {
  const streams = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
  const stream = await call(async (givenUp) => unlessGivenUp(duplex(await container.attach(streams)), givenUp));
  const feed = createDemuxer(onOutput);
  const closed = new Promise<void>((resolve) => {
    stream.on("data", (chunk: Uint8Array) => {
      try {
        feed(chunk);
      } catch {
        stream.destroy();
      }
    });
    for (const event of ["end", "close", "error"] as const) stream.once(event, () => resolve());
  }).finally(() => stream.destroy());
  return { closed, ...controlsOf(stream, closed) };
}
