/**
 * A registry with one image on loopback. It speaks the part of the distribution API that a pull needs. Engines accept
 * 127.0.0.0/8 without TLS. Layers can be held half-way, so that a test can act during a pull.
 */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";

export interface ImageRegistry {
  /** `127.0.0.1:port/skep-test/pulled:tag`. No earlier registry had the same name. */
  image: string;
  layers: number;
  /** Sends layers only up to their half; the rest waits for `release`. */
  hold(): void;
  release(): void;
  /** How many layers are currently being sent. */
  open(): number;
  stop(): Promise<void>;
}

const LAYER_BYTES = 3_000_000;
const MANIFEST = "application/vnd.docker.distribution.manifest.v2+json";
const digestOf = (data: Buffer): string => `sha256:${createHash("sha256").update(data).digest("hex")}`;

async function layerOf(name: string): Promise<{ plain: Buffer; packed: Buffer }> {
  const tar = pack();
  tar.entry({ name }, randomBytes(LAYER_BYTES));
  tar.finalize();
  const plain = Buffer.concat(await Array.fromAsync(tar as AsyncIterable<Buffer>));
  return { plain, packed: gzipSync(plain, { level: 1 }) };
}

interface ImageBlobs {
  manifest: Buffer;
  blobs: Map<string, Buffer>;
  layerDigests: Set<string>;
}

async function makeImage(layers: number): Promise<ImageBlobs> {
  const made = await Promise.all(Array.from({ length: layers }, (_, at) => layerOf(`layer-${at}`)));
  const config = Buffer.from(
    JSON.stringify({
      architecture: process.arch === "x64" ? "amd64" : "arm64",
      os: "linux",
      config: { Cmd: ["/none"] },
      rootfs: { type: "layers", diff_ids: made.map(({ plain }) => digestOf(plain)) },
      history: made.map((_, at) => ({ created: "2026-01-01T00:00:00Z", created_by: `layer ${at}` })),
    }),
  );
  const toDescriptor = (mediaType: string, data: Buffer) => ({ mediaType, size: data.length, digest: digestOf(data) });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: toDescriptor("application/vnd.docker.container.image.v1+json", config),
      layers: made.map(({ packed }) => toDescriptor("application/vnd.docker.image.rootfs.diff.tar.gzip", packed)),
    }),
  );
  const packed = made.map((layer) => layer.packed);
  return {
    manifest,
    blobs: new Map([config, ...packed].map((data) => [digestOf(data), data])),
    layerDigests: new Set(packed.map(digestOf)),
  };
}

export async function createImageRegistry(layers = 3): Promise<ImageRegistry> {
  const { manifest, blobs, layerDigests } = await makeImage(layers);
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  let open = 0;

  async function sendLayer(response: ServerResponse, data: Buffer): Promise<void> {
    open++;
    response.on("close", () => open--);
    response.write(data.subarray(0, data.length / 2));
    await gate.promise;
    if (!response.destroyed) response.end(data.subarray(data.length / 2));
  }
  function answer(method: string, path: string, response: ServerResponse): void {
    const data = /\/pulled\/manifests\//.test(path) ? manifest : blobs.get(path.split("/blobs/")[1] ?? "");
    if (path === "/v2/") return void response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    if (!data) return void response.writeHead(404).end();
    const type = data === manifest ? MANIFEST : "application/octet-stream";
    response.writeHead(200, {
      "Content-Type": type,
      "Content-Length": data.length,
      "Docker-Content-Digest": digestOf(data),
    });
    if (method === "HEAD") response.end();
    else if (layerDigests.has(digestOf(data))) void sendLayer(response, data);
    else response.end(data);
  }

  const server = createServer((request, response) => answer(request.method ?? "", request.url ?? "", response));
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  const { port } = server.address() as AddressInfo;
  return {
    image: `127.0.0.1:${port}/skep-test/pulled:${randomBytes(4).toString("hex")}`,
    layers,
    hold: () => {
      gate = Promise.withResolvers<void>();
    },
    release: () => gate.resolve(),
    open: () => open,
    stop: () => {
      gate.resolve();
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      return closed;
    },
  };
}
