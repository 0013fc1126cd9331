/** A name server on loopback that answers each question as the test says at that moment, for no longer than that. */
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";

export interface NameServer {
  /** Names that were asked for, in order. */
  asked: string[];
  /** IPv4 addresses of a name, through a real resolver that asks this server. */
  lookUp(name: string): Promise<{ address: string; family: number }[]>;
  stop(): void;
}

const A = 1;

/** @param answer IPv4 addresses for the name, at its `time`-th question (from 0). */
export async function startNameServer(answer: (name: string, time: number) => string[]): Promise<NameServer> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (message, { port, address }) => {
    const labels: string[] = [];
    let end = 12;
    for (; message[end] !== 0; end += message[end]! + 1)
      labels.push(message.toString("latin1", end + 1, end + 1 + message[end]!));
    const name = labels.join(".");
    const question = message.subarray(12, end + 5);
    const isAddress = message.readUInt16BE(end + 1) === A;
    const found = isAddress ? answer(name, asked.filter((one) => one === name).length) : [];
    if (isAddress) asked.push(name);
    const head = Buffer.from([message[0]!, message[1]!, 0x81, 0x80, 0, 1, 0, found.length, 0, 0, 0, 0]);
    // The name again, type A, class IN, to be kept 0 seconds, four bytes.
    const records = found.map((one) =>
      Buffer.from([0xc0, 0x0c, 0, A, 0, 1, 0, 0, 0, 0, 0, 4, ...one.split(".").map(Number)]),
    );
    socket.send(Buffer.concat([head, question, ...records]), port, address);
  });
  await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    asked,
    lookUp: async (name) => (await resolver.resolve4(name)).map((address) => ({ address, family: 4 })),
    stop: () => socket.close(),
  };
}
