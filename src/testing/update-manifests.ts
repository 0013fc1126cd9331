/** Signed update manifests for tests, with the test's own key. */
import { createHash, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { sealManifest, type UpdateFile, type UpdateManifest } from "../core/update-manifest.ts";

interface Publisher {
  /** The key in the format of UPDATE_PUBLIC_KEY. */
  publicKey: string;
  /** The text of a signed manifest. */
  seal(manifest: Partial<UpdateManifest>): string;
}

export function createPublisher(): Publisher {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  return {
    publicKey: Buffer.from(x, "base64url").toString("base64"),
    seal: (manifest) =>
      sealManifest({ version: "9.0.0", released_at: "2026-01-01T00:00:00Z", files: {}, ...manifest }, privateKey),
  };
}

/** A manifest's entry for an executable on disk. @param path the path that the manifest gives. */
export function updateFileOf(file: string, path: string): UpdateFile {
  const data = readFileSync(file);
  return { path, size: data.byteLength, sha256: createHash("sha256").update(data).digest("hex") };
}
