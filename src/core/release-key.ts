/**
 * Public half of the key that releases are signed with: 32 bytes in base64, written here by `scripts/release keygen`.
 * Empty in a tree that nobody has made releases of yet: then updates need UPDATE_PUBLIC_KEY.
 */
export const RELEASE_KEY = "";
