/**
 * A connection to the Docker engine on which our image is missing, whatever the engine has. It replaces the name
 * `skep/agent:latest` by another one of the same length that nobody has built.
 */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";

interface EngineWithoutImage {
  /** Value for DOCKER_HOST. */
  address: string;
  /** The engine's name for the image once it was built. */
  image: string;
  /** The first lines of the requests, as the engine received them. */
  requests: string[];
  stop(): Promise<void>;
}

const REQUEST = /^(GET|HEAD|POST|PUT|DELETE) (\S+) HTTP\/1\.1\r\n/;

export async function engineWithoutImage(
  path: string,
  engineSocket = "/var/run/docker.sock",
): Promise<EngineWithoutImage> {
  const tag = randomBytes(3).toString("hex");
  const open = new Set<Socket>();
  const requests: string[] = [];
  /** Renames the image in the request line. A request begins with a chunk of its own; bodies are not changed. */
  const renameImage = (chunk: Buffer): Buffer => {
    const text = chunk.toString("latin1");
    const [line] = REQUEST.exec(text) ?? [];
    if (line === undefined) return chunk;
    const other = line
      .replace(/(skep(?:\/|%2F)agent(?::|%3A))latest/gi, `$1${tag}`)
      .replace(/(repo=skep%2Fagent&tag=|tag=)latest/, `$1${tag}`);
    requests.push(other.trim());
    return Buffer.from(other + text.slice(line.length), "latin1");
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ path: engineSocket, allowHalfOpen: true });
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => open.delete(socket));
    }
    near.on("data", (chunk: Buffer) => {
      if (!far.write(renameImage(chunk))) near.pause();
    });
    far.on("drain", () => near.resume());
    near.on("end", () => far.end());
    far.pipe(near);
  });
  await new Promise<void>((done) => void server.listen(path, done));
  return {
    address: `unix://${path}`,
    image: `skep/agent:${tag}`,
    requests,
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        for (const socket of open) socket.destroy();
        rmSync(path, { force: true });
      }),
  };
}
