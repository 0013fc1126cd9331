/** `skep preview RUN`: the address of the app that a step of the run serves, for a browser. */
import { badUsage, Problem } from "../../core/errors.ts";
import { verbMakers } from "./resource.ts";

const { actOnOne } = verbMakers<"/v1/runs">();

export const previewVerb = actOnOne("preview", "print a one-time address that opens a step's app in a browser", {
  args: [{ name: "[step]", about: "name of the step; needed when several steps have an app" }],
  options: [{ flags: "--end", about: "stop the app that is kept after its step" }],
  async run({ client, path, args, flags }) {
    const { items } = await client.call("GET", `${path}/previews?limit=200`);
    const [step] = args;
    const found = step === undefined ? items : items.filter(({ step_id }) => step_id === step);
    const [first, other] = found;
    if (!first)
      throw new Problem(
        404,
        "not_found",
        step === undefined ? "The run has no app to look at now." : `${step} has no app to look at now.`,
      );
    if (other && step === undefined)
      throw badUsage(
        `Several steps have an app: name one of ${[...new Set(items.map((one) => one.step_id))].join(", ")}.`,
      );
    if (flags["end"] === true) {
      await client.call("DELETE", `${path}/previews/${first.id}`);
      return { json: first, text: `The app of ${first.step_id} has been ended.` };
    }
    const ticket = await client.call("POST", `${path}/previews/${first.id}/tickets`);
    return { json: { ...first, ...ticket }, text: ticket.url };
  },
});
