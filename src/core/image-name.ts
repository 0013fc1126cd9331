/** Names of container images. */
import { Type as t } from "@sinclair/typebox";
import { LIMITS } from "./limits.ts";

const PART = "[a-z0-9]+(?:(?:[.]|__?|-+)[a-z0-9]+)*";
/** An image name as registries accept it: optional host, path, tag or digest. It never begins with a dash. */
export const ImageName = t.String({
  minLength: 1,
  maxLength: LIMITS.nameCharacters,
  description: "Container image: `name`, `name:tag`, `registry/name@sha256:…`.",
  pattern: `^(?:(?:localhost|[A-Za-z0-9-]+(?:[.][A-Za-z0-9-]+)+|[A-Za-z0-9-]+(?=:))(?::[0-9]{1,5})?/)?${PART}(?:/${PART})*(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
});
