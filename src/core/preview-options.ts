/** Options of the configuration for previews of agents' apps. */
import { integer, option, wildcardOrigin } from "./config-option.ts";

export const PREVIEW_OPTIONS = {
  previewUrl: option<string | undefined>({
    env: "PREVIEW_URL",
    about:
      "Address of previews, with * for the name of each: https://*.preview.example.org. Unset: http://*.preview.localhost where only this machine gets in, else there are none.",
    accepts: "an http or https address whose host begins with *.",
    default: undefined,
    read: wildcardOrigin,
  }),
  previewPort: option<number>({
    env: "PREVIEW_PORT",
    about: "Port that previews listen on, beside the server's; 0 takes a free one when the first preview is opened.",
    accepts: "a whole number from 0 to 65535",
    default: 0,
    read: integer(0, 65_535),
  }),
};
