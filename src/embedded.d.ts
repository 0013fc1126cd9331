/** Files that the bundler embeds as text or as a path. */
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.md" {
  const text: string;
  export default text;
}
declare module "*.yml" {
  const text: string;
  export default text;
}
declare module "*.wasm" {
  const path: string;
  export default path;
}
declare module "swagger-ui-dist/swagger-ui.css" {
  const path: string;
  export default path;
}
declare module "swagger-ui-dist/swagger-ui-bundle.js" {
  const path: string;
  export default path;
}
declare module "*/carrier-x64" {
  const path: string;
  export default path;
}
declare module "*/carrier-arm64" {
  const path: string;
  export default path;
}
declare module "*/relay-x64" {
  const path: string;
  export default path;
}
declare module "*/relay-arm64" {
  const path: string;
  export default path;
}
