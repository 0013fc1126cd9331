/** Options of the configuration for previews of agents' apps. */
import { numberOption, optional, wildcardOrigin } from "./config-option.ts";

export const PREVIEW_OPTIONS = {
  previewUrl: optional(
    "PREVIEW_URL",
    "Address of previews, with * for the name of each, e.g. https://*.preview.example.org. Unset: http://*.preview.localhost if only this machine can reach the server, otherwise no previews.",
    "an http or https address whose host begins with *.",
    wildcardOrigin,
  ),
  previewPort: numberOption(
    "PREVIEW_PORT",
    "Port for previews, in addition to the server's; 0 takes a free one when the first preview is opened.",
    { from: 0, to: 65_535, default: 0 },
  ),
};
