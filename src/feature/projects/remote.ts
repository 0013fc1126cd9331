/**
 * A project's repository as git reaches it. Its address is checked again each time, and the code host's credentials are
 * used.
 */
import type { Remote } from "../../adapter/git.ts";
import { isProblem } from "../../core/errors.ts";
import type { Core } from "../feature.ts";
import { parseRepository, type RepositoryRules } from "./repository-address.ts";

export interface RemoteDeps extends Pick<Core, "guard"> {
  rules: RepositoryRules;
  /** Authorization header for an address of the connected code host. `fresh`: the last header was refused. */
  authorizationFor(address: string, fresh: boolean): Promise<string | undefined>;
}

const REFUSED = /Authentication failed|could not read (Username|Password)|returned error: 40[13]/;

/**
 * Runs the work, and once more with a new token when the host refuses the current one.
 * @throws Problem 422, and whatever the work throws.
 */
export async function withRemote<T>(
  deps: RemoteDeps,
  repository: string,
  work: (remote: Remote) => Promise<T>,
): Promise<T> {
  const first = await remoteOf(deps, repository, false);
  try {
    return await work(first);
  } catch (error) {
    const refused = isProblem(error) && error.code === "git_failed" && REFUSED.test(error.detail);
    if (!refused || first.authorization === undefined) throw error;
    return work(await remoteOf(deps, repository, true));
  }
}

async function remoteOf(
  { guard, rules, authorizationFor }: RemoteDeps,
  repository: string,
  fresh: boolean,
): Promise<Remote> {
  const { transport, source, host } = parseRepository(repository, rules);
  const address = host && (await guard.resolve(host.name))[0]!.address;
  const authorization = transport.startsWith("http") ? await authorizationFor(source, fresh) : undefined;
  return {
    source,
    transport,
    ...(host && address ? { pin: { host: host.name, port: host.port, address } } : {}),
    ...(authorization === undefined ? {} : { authorization }),
  };
}
