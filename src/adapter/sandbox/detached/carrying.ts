/** The connection to the carrier of one folder: made when it is needed, and again when it was lost. */
import { codeOf, type Problem } from "../../../core/errors.ts";
import { type Carrier, createCarrier, lost } from "./carrier.ts";

/** The carrier's program, as whatever runs the container connects to it. */
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
  const over = () => carrier.end(lost("the program that carries them ended"));
  connected.closed.then(over, over);
  return { carrier, isOpen: () => isOpen };
}

/** @param first a link that is being opened already. */
export function createCarrying(connect: Connect, first?: Promise<Link>) {
  let current = first;
  let ended: Problem | undefined;
  async function carrier(): Promise<Carrier> {
    const known = current;
    const link = await known?.catch(() => undefined);
    if (link?.isOpen()) return link.carrier;
    // Of two that find it lost, the first connects again.
    const next = current === known || !current ? openLink(connect) : current;
    current = next;
    return (await next).carrier;
  }
  return {
    async use(act: (carrier: Carrier) => Promise<void>): Promise<void> {
      if (ended) throw ended;
      try {
        return await act(await carrier());
      } catch (error) {
        // A container that was started again, or a program that the agent ended or that broke the form: one more, once.
        if (codeOf(error) !== "sandbox_lost" || ended) throw error;
      }
      await act(await carrier());
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
