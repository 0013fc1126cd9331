/**
 * The JSX runtime of the dashboard; the build substitutes it for React's. It passes every text that an element shows
 * through `escapeUnseen`, so that no page or library can forget it. Values of fields are attributes and stay unchanged.
 */
import type { ReactNode } from "react";
import * as react from "react/jsx-runtime";
import { escapeUnseen } from "./visible.ts";

type Make = typeof react.jsx;

/** @returns the same object if nothing changes, so that React's memoization still works. */
function makeVisible(children: ReactNode): ReactNode {
  if (typeof children === "string") return escapeUnseen(children);
  if (!Array.isArray(children)) return children;
  let changed = false;
  const all = children.map((child: ReactNode) => {
    const now = makeVisible(child);
    changed ||= now !== child;
    return now;
  });
  return changed ? all : children;
}

const wrapMake =
  (make: Make): Make =>
  (type, props, key) => {
    const { children } = props as { children?: ReactNode };
    if (children === undefined || typeof type === "function" || type === "textarea") return make(type, props, key);
    const now = makeVisible(children);
    return make(type, now === children ? props : { ...(props as object), children: now }, key);
  };

export const { Fragment } = react;
export const jsx = wrapMake(react.jsx);
export const jsxs = wrapMake(react.jsxs);
