/** Files that browsers save, instead of showing them as pages of this server. */

/** An answer that is a file, for `documented`. */
export const describeFile = (type: string, description: string) => ({
  description,
  content: { [type]: { schema: { type: "string", format: "binary" } } },
});

/** A gzipped tar to be saved under that name, which is not kept by proxies. */
export const answerArchive = (body: Blob | Uint8Array<ArrayBuffer>, name: string): Response =>
  new Response(body, {
    headers: {
      "Content-Type": "application/gzip",
      "Content-Disposition": `attachment; filename="${name}.tar.gz"`,
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "private, no-store",
    },
  });
