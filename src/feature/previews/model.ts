/** Previews of apps, and screenshots, as the API shows them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { orNull, Time } from "../../core/schema.ts";

export const Preview = t.Object(
  {
    id: t.String(),
    run_id: t.String(),
    step_id: t.String({ description: "Name of the step." }),
    port: t.Integer({ description: "Port of the sandbox that the app listens on." }),
    path: t.String({ description: "Its first page." }),
    created_at: Time,
    kept_until: orNull({
      ...Time,
      description: "The step has ended, and the app runs on until then. Null: the step runs.",
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
    path: t.String({ description: "The page that it shows." }),
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
    url: t.String({ description: "Opens the preview in a browser, once, within a minute." }),
    expires_at: Time,
  },
  { title: "PreviewTicket" },
);
export type PreviewTicket = Static<typeof PreviewTicket>;
