/** Exact references from SCIP indexes, as the API shows them. */
import { Type as t } from "@sinclair/typebox";
import { formFile } from "../../http/schema.ts";

export const Exact = t.Object(
  {
    files: t.Integer(),
    calls: t.Integer(),
    error: t.Optional(t.String({ description: "Why the SCIP index of the project's set-up is not used." })),
  },
  {
    description:
      "Number of files whose calls a compiler reported in a SCIP index, and of relationships that come from it.",
  },
);

export const Scip = t.Object(
  {
    files: t.Integer({ description: "Number of files whose calls the index knows." }),
    calls: t.Integer({ description: "Number of calls in these files that reach symbols of the project." }),
    stale: t.Array(t.String(), {
      description: "The first 100 documents of the index that do not match the current version of their file.",
    }),
    stale_count: t.Integer(),
  },
  { description: "What the SCIP index that this job read has contributed." },
);

export const ScipUpload = t.Object({
  file: formFile({ description: "SCIP index, such as index.scip; at most 50 MiB." }),
});
