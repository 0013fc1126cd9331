/** Options of the configuration for previews of agents' apps. */
import { numberOption, optional, wildcardOrigin } from "./config-option.ts";

export const PREVIEW_OPTIONS = {
  previewUrl: optional(
    "PREVIEW_URL",
    "Address of previews, with * for the name of each: https://*.preview.example.org. Unset: http://*.preview.localhost where only this machine gets in, else there are none.",
    "an http or https address whose host begins with *.",
    wildcardOrigin,
  ),
  previewPort: numberOption(
    "PREVIEW_PORT",
    "Port that previews listen on, beside the server's; 0 takes a free one when the first preview is opened.",
    { from: 0, to: 65_535, default: 0 },
  ),
};
