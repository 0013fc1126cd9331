/** The models that agents call. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Catalogue } from "../../adapter/model/catalogue.ts";
import { createModelPort, type ModelKeys } from "../../adapter/model/model-port.ts";
import { createRecorder, createReplay } from "../../adapter/model/record.ts";
import { createScriptedModel } from "../../adapter/model/scripted.ts";
import type { ModelPort } from "../../engine/model.ts";
import type { Evals } from "../evals/service.ts";
import type { Core } from "../feature.ts";

type Needs = Pick<Core, "config" | "clock" | "log" | "masking" | "folder"> & {
  providers: { catalogue: Catalogue; keys: ModelKeys };
  evals: Pick<Evals, "turnsOf">;
};

/** Opens the port to real models. MODEL_CASSETTE makes it record calls to a folder, or replay them from one. */
export async function openModels(deps: Needs): Promise<ModelPort> {
  const { config, clock, log, masking, folder, providers, evals } = deps;
  const { keys, catalogue } = providers;
  const scripted = createScriptedModel({
    clock,
    recordedFor: evals.turnsOf,
    ...(config.demoScript ? {} : { scriptsDir: folder.cache }),
  });
  const port = createModelPort({ keys, prices: catalogue, clock, scripted, log });
  const [, how, path = ""] = /^(record|replay):(.+)$/.exec(config.modelCassette ?? "") ?? [];
  if (how === "record") await mkdir(path, { recursive: true });
  if (how === "record") return createRecorder({ port, path: join(path, "calls.jsonl"), masker: masking, log });
  return how === "replay" ? createReplay({ path: join(path, "calls.jsonl"), clock, info: port }) : port;
}
