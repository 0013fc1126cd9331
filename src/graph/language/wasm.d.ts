/**
 * A grammar or runtime that is imported with `{ type: "file" }` is the path of a readable file. Compiling embeds the
 * file.
 */
declare module "*.wasm" {
  const path: string;
  export default path;
}
