import { StrictMode, startTransition } from "react";
import { createRoot } from "react-dom/client";
import { App, prepareFirst } from "./shell/app.tsx";
import "./shell/shared-parts.ts";

const root = document.getElementById("app");
if (root)
  void prepareFirst().then(() =>
    // A transition renders in slices. Rendering in one piece would block the page longer than everything that follows.
    startTransition(() =>
      createRoot(root).render(
        <StrictMode>
          <App />
        </StrictMode>,
      ),
    ),
  );
