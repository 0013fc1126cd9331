/** Converts a Word file to HTML by its styles, and that to blocks as any other HTML. */
import { htmlBlocks } from "./html.ts";
import { type Block, EXTRACT_LIMITS, Unreadable } from "./model.ts";

export async function docxBlocks(bytes: Uint8Array): Promise<{ title: string | undefined; blocks: Iterable<Block> }> {
  const { unzipSync, strFromU8 } = await import("fflate");
  let unpacked = 0;
  const isKept = (name: string, size: number): boolean => name === "docProps/core.xml" && size < 1_000_000;
  let entries: Record<string, Uint8Array>;
  try {
    entries = unzipSync(bytes, {
      filter({ name, originalSize }) {
        unpacked += originalSize;
        if (unpacked > EXTRACT_LIMITS.unpackedBytes)
          throw new Unreadable(
            `It unpacks to more than ${EXTRACT_LIMITS.unpackedBytes / 1024 ** 2} MiB: it is a bomb.`,
          );
        return isKept(name, originalSize);
      },
    });
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw new Unreadable("It is not a whole Word file: its archive is broken.");
  }
  const { default: mammoth } = await import("mammoth");
  const { value } = await mammoth
    .convertToHtml(
      { buffer: Buffer.from(bytes) },
      { convertImage: mammoth.images.imgElement(async () => ({ src: "" })) },
    )
    .catch(() => {
      throw new Unreadable("It is not a Word file that can be read.");
    });
  const properties = entries["docProps/core.xml"];
  const [, title] = /<dc:title>([^<]{1,1000})<\/dc:title>/.exec(properties ? strFromU8(properties) : "") ?? [];
  return { title: title?.trim() || undefined, blocks: (await htmlBlocks(value)).blocks };
}
