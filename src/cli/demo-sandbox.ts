/**
 * Chooses where the demo's agents work: in containers if an engine answers and has an image or can get one, else
 * without.
 */
import type { Config } from "../core/config.ts";
import { messageOf } from "../core/errors.ts";
import { loadApp } from "./load-app.ts";

export interface ChosenSandbox {
  kind: "docker" | "process";
  image?: string;
  /** The reason for the choice, shown to the person. */
  why: string;
}

/** A separate name, so that real agents never use the demo's image. */
const DEMO_IMAGE = "skep/demo:latest";

export async function chooseDemoSandbox(config: Config): Promise<ChosenSandbox> {
  if (config.sandbox === "process") return { kind: "process", why: "as SANDBOX says" };
  if (config.sandbox === "kubernetes") return { kind: "process", why: "the demo leaves the cluster alone" };
  const images = (await loadApp()).openImages(config);
  let tags: string[];
  try {
    tags = (await images.list()).flatMap((image) => image.tags);
  } catch (error) {
    return { kind: "process", why: `no containers: ${messageOf(error)}` };
  }
  for (const image of [config.agentImage, DEMO_IMAGE])
    if (tags.includes(image)) return { kind: "docker", image, why: `in containers of ${image}` };
  try {
    await images.build({ name: DEMO_IMAGE });
    return { kind: "docker", image: DEMO_IMAGE, why: `in containers of ${DEMO_IMAGE}, made just now of busybox` };
  } catch (error) {
    return { kind: "process", why: `the container engine has no image: ${messageOf(error)}` };
  }
}
