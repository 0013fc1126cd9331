/** The streams of a container's own command: its input, and its output as it comes. */
import type Docker from "dockerode";
import type { Attend } from "./attendance.ts";
import { createDemuxer, type FrameSink } from "./demux.ts";
import { callEngine } from "./failures.ts";
import { controlsOf, duplex, type StreamControls, unlessGivenUp } from "./streams.ts";

export interface AttachedContainer extends StreamControls {
  /** Resolves when the streams are closed: the container ended, or the engine went away. */
  readonly closed: Promise<void>;
}

/** Attaches to a container that has not been started yet, so that nothing it says is missed. */
export function attachTo(container: Docker.Container, address: string, attend: Attend, onOutput: FrameSink) {
  const streams = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
  const open = () => attend(async (givenUp) => unlessGivenUp(duplex(await container.attach(streams)), givenUp));
  return callEngine(address, async (): Promise<AttachedContainer> => {
    const stream = await open();
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
  });
}
