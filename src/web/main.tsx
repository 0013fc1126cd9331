import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App, prepareFirst } from "./shell/app.tsx";
import "./shell/shared-parts.ts";

const root = document.getElementById("app");
if (root)
  void prepareFirst().then(() =>
    createRoot(root).render(
      <StrictMode>
        <App />
      </StrictMode>,
    ),
  );
