/** Signed update manifests for tests, by a key of the test's own. */
import { createHash, generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { sealManifest, type UpdateFile, type UpdateManifest } from "../core/update-manifest.ts";

interface Publisher {
  /** As UPDATE_PUBLIC_KEY takes it. */
  publicKey: string;
  /** Text of a manifest, signed. */
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

/** What a manifest says of an executable on disk. @param path as the manifest is to name it. */
export function updateFileOf(file: string, path: string): UpdateFile {
  const data = readFileSync(file);
  return { path, size: data.byteLength, sha256: createHash("sha256").update(data).digest("hex") };
}
