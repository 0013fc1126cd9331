/** A grammar or runtime imported with `{ type: "file" }` is the path of a readable file, embedded when compiled. */
declare module "*.wasm" {
  const path: string;
  export default path;
}
