/** Previews of apps, and screenshots, as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

export const Preview = t.Object(
  {
    id: t.String(),
    run_id: t.String(),
    step_id: t.String({ description: "Name of the step." }),
    port: t.Integer({ description: "Port in the sandbox on which the app listens." }),
    path: t.String({ description: "Path of the app's first page." }),
    created_at: Time,
    kept_until: orNull({
      ...Time,
      description: "Time until which the app keeps running after its step has ended; null while the step runs.",
    }),
  },
  { title: "Preview" },
);
export type Preview = Static<typeof Preview>;

export const Screenshot = t.Object(
  {
    id: t.String(),
    run_id: t.String(),
    step_id: t.String({ description: "Name of the step." }),
    path: t.String({ description: "Path of the page that the screenshot shows." }),
    width: t.Integer(),
    height: t.Integer(),
    size_bytes: t.Integer(),
    created_at: Time,
  },
  { title: "Screenshot" },
);
export type Screenshot = Static<typeof Screenshot>;

export const PreviewTicket = t.Object(
  {
    url: t.String({ description: "Address that opens the preview in a browser; valid once, for one minute." }),
    expires_at: Time,
  },
  { title: "PreviewTicket" },
);
export type PreviewTicket = Static<typeof PreviewTicket>;
