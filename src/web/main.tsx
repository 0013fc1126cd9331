import { StrictMode, startTransition } from "react";
import { createRoot } from "react-dom/client";
import { App, prepareFirst } from "./shell/app.tsx";
import "./shell/shared-parts.ts";

const root = document.getElementById("app");
if (root)
  void prepareFirst().then(() =>
    // Drawn in slices: in one piece it would hold the page up longer than all that comes after.
    startTransition(() =>
      createRoot(root).render(
        <StrictMode>
          <App />
        </StrictMode>,
      ),
    ),
  );
