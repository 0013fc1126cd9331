/** A part of a page whose script is loaded when it is first drawn. */
import { type ComponentType, lazy as lazily } from "react";
import { again } from "../api/again.ts";

export const lazy = <P>(load: () => Promise<{ default: ComponentType<P> }>) =>
  lazily<ComponentType<P>>(() => again(load));
