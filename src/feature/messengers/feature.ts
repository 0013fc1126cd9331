/** Messenger bots: they ask people and receive their answers. */
import { createNotifyGuard } from "../../adapter/address-guard.ts";
import { DISCORD_SERVER, openDiscord } from "../../adapter/chat/discord.ts";
import { openMatrix } from "../../adapter/chat/matrix.ts";
import type { Messenger, MessengerDeps } from "../../adapter/chat/messenger.ts";
import { openSlack, SLACK_SERVER } from "../../adapter/chat/slack.ts";
import { openTelegram, TELEGRAM_SERVER } from "../../adapter/chat/telegram.ts";
import { openGuarded } from "../../adapter/guarded-fetch.ts";
import { pause } from "../../core/pause.ts";
import { BUILD } from "../../core/version.ts";
import { pass, warn } from "../doctor/model.ts";
import { type Core, defineFeature } from "../feature.ts";
import type { MessengerKind } from "./model.ts";
import { createPoller, type Handle, type Poller } from "./poller.ts";
import { messengerRoutes } from "./routes.ts";
import { createMessengers, type MessengerAccess, type Messengers } from "./service.ts";

/** Discord requires a user agent of this form, with an address. */
const DISCORD_AGENT = `DiscordBot (https://example.org, ${BUILD.version})`;

/** The service for features further down the list: the bots, and `own`, which handles incoming messages. */
export type MessengersService = Messengers & { own(act: Handle): void };

export const messengers = defineFeature("messengers", (deps: Core) => {
  const { config } = deps;
  const guard = createNotifyGuard(config.notifyAllow);
  const wire: MessengerDeps = {
    resolve: guard.resolve,
    request: (address, request) => openGuarded(address, { ...request, resolve: guard.resolve }),
    userAgent: `Skep/${BUILD.version}`,
  };
  const open = (kind: MessengerKind, { server, token, app_token = "" }: MessengerAccess): Messenger => {
    if (kind === "telegram") return openTelegram(wire, { server, token });
    if (kind === "slack") return openSlack(wire, { server, token, appToken: app_token });
    if (kind === "discord") return openDiscord({ ...wire, userAgent: DISCORD_AGENT }, { server, token });
    return openMatrix(wire, { server, token });
  };
  const service = createMessengers({
    ...deps,
    open,
    assertHost: guard.assertSpelling,
    servers: { telegram: TELEGRAM_SERVER, slack: SLACK_SERVER, discord: DISCORD_SERVER },
    stateOf: (id) => poller.stateOf(id),
  });
  const poller: Poller = createPoller({ ...deps, pause, messengers: service });
  service.whenChanged((id, tx) => tx.after(() => poller.renew(id)));
  const value: MessengersService = { ...service, own: poller.own };
  return {
    service: value,
    routes: () => messengerRoutes(service),
    prunes: [{ keep: null, run: poller.prune }],
    checks: () => {
      const failing = poller.failing();
      if (failing.length === 0) return [pass("messengers", `${service.listEnabled().length} switched on`)];
      return failing.map(({ name, last_error }) =>
        warn("messengers", `${name} is not connected: ${last_error ?? "no reason is known"}`, "skep messengers"),
      );
    },
    start: poller.start,
    stop: poller.stop,
  };
});
