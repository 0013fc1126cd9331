/** Files that browsers save instead of showing them as pages of this server. */

/** Describes an answer that is a file, for an operation's `documented`. */
export const describeFile = (type: string, description: string) => ({
  description,
  content: { [type]: { schema: { type: "string", format: "binary" } } },
});

/** Answers with a gzipped tar to save under this name; proxies do not store it. */
export const answerArchive = (body: Blob | Uint8Array<ArrayBuffer>, name: string): Response =>
  new Response(body, {
    headers: {
      "Content-Type": "application/gzip",
      "Content-Disposition": `attachment; filename="${name}.tar.gz"`,
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "private, no-store",
    },
  });
