import { providerEntry } from "../../adapter/model/providers.ts";
import { invalidField } from "../../core/errors.ts";
import { wrongBackupFolder } from "../../store/backup-folder.ts";
import { type Core, defineFeature } from "../feature.ts";
import { settingsEvents } from "./events.ts";
import { settingsRoutes } from "./routes.ts";
import { createSettings } from "./service.ts";

export const settings = defineFeature(
  "settings",
  (deps: Core) => {
    const service = createSettings({
      ...deps,
      isProvider: (id) => providerEntry(id) !== undefined,
      assertBackupFolder(path) {
        const wrong = wrongBackupFolder(path, deps.folder.root);
        if (wrong !== undefined) throw invalidField("/backup/folder", wrong);
      },
    });
    return { service, routes: () => settingsRoutes(service) };
  },
  settingsEvents,
);
