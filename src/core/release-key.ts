/**
 * Public key of the signature on releases: 32 bytes in base64, written here by `scripts/release keygen`. Empty until
 * releases are made from this source tree; then updates need UPDATE_PUBLIC_KEY.
 */
export const RELEASE_KEY = "";
