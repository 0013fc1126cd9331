/** The connection to the carrier of one folder. It is made when it is needed, and again when it was lost. */
import { codeOf, type Problem } from "../../../core/errors.ts";
import { type Carrier, createCarrier, createLostProblem } from "./carrier.ts";

/** A connection to the carrier's program, as the driver of the container makes it. */
interface Connected {
  closed: Promise<void>;
  write(data: Uint8Array): Promise<void>;
  detach?(): void;
}

type Connect = (onStdout: (chunk: Uint8Array) => void) => Promise<Connected>;

export interface Link {
  carrier: Carrier;
  isOpen(): boolean;
}

export async function openLink(connect: Connect): Promise<Link> {
  let isOpen = true;
  let connected: Connected | undefined;
  const carrier = createCarrier(
    async (data) => await connected?.write(data),
    () => {
      isOpen = false;
      connected?.detach?.();
    },
  );
  connected = await connect(carrier.feed);
  const handleEnd = () => carrier.end(createLostProblem("the program that carries them ended"));
  connected.closed.then(handleEnd, handleEnd);
  return { carrier, isOpen: () => isOpen };
}

/** @param first a connection that is already being made. */
export function createCarrying(connect: Connect, first?: Promise<Link>) {
  let current = first;
  let ended: Problem | undefined;
  async function openCarrier(): Promise<Carrier> {
    const known = current;
    const link = await known?.catch(() => undefined);
    if (link?.isOpen()) return link.carrier;
    // When two calls find the connection lost, only the first one connects again.
    const next = current === known || !current ? openLink(connect) : current;
    current = next;
    return (await next).carrier;
  }
  return {
    async use(act: (carrier: Carrier) => Promise<void>): Promise<void> {
      if (ended) throw ended;
      try {
        return await act(await openCarrier());
      } catch (error) {
        // The container was started again, the agent ended the carrier, or the carrier sent a malformed answer: try
        // once more.
        if (codeOf(error) !== "sandbox_lost" || ended) throw error;
      }
      await act(await openCarrier());
    },
    end(why: Problem): void {
      ended ??= why;
      void current?.then(
        (link) => link.carrier.end(why),
        () => {},
      );
    },
  };
}
