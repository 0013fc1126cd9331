/** A DNS server on loopback. For each question the test decides the answer, which must not be cached. */
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";

export interface NameServer {
  /** The names that were asked for, in order. */
  asked: string[];
  /** Looks up a name's IPv4 addresses with a real resolver that uses this server. */
  lookUp(name: string): Promise<{ address: string; family: number }[]>;
  stop(): void;
}

const A = 1;

/** @param answer returns the IPv4 addresses for a name; `time` counts the questions for it from 0. */
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
    // The answer record: the name (a pointer), type A, class IN, a TTL of 0 seconds, four bytes.
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
