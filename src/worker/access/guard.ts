/** Refusals that depend on the request alone, and not on its sender. */
import type { Config } from "../../core/config/config";
import { foreignHost, foreignPage, type Status } from "../../api/meta/status";
import { authorityOf, hostOf, isForeignPage, isOwnHost } from "../http/read/authority";
import { parseTimeout, queryBool } from "../http/read/query";
import type { RequestUrl } from "../http/read/request-url";

/** The refusal of a request that names another host or comes from another origin's page; undefined = neither. It comes before the credential. */
export function foreignProblem(request: Request, config: Config): Status | undefined {
  return hostProblem(request, config) ?? originProblem(request, config);
}

/** On loopback, and where hosts are named, the names of other hosts are refused. */
function hostProblem(request: Request, { loopbackOnly, allowedHosts }: Config): Status | undefined {
  if (!loopbackOnly && allowedHosts.length === 0) return undefined;
  const authority = authorityOf(request);
  return authority === "" || isOwnHost(hostOf(authority) ?? "", allowedHosts) ? undefined : foreignHost(authority);
}

/** A browser sends its user's requests from any page: pages of other origins change nothing and listen to nothing. */
function originProblem(request: Request, { allowedHosts }: Config): Status | undefined {
  return isForeignPage(request, allowedHosts) ? foreignPage() : undefined;
}

/** `--request-timeout` adds `timeout` to every URL. An unreadable value is refused; watches ignore it. */
export function timeoutProblem({ path, rawQuery, query }: RequestUrl): Status | undefined {
  if (!rawQuery.includes("timeout=")) return undefined;
  const timeout = parseTimeout(query);
  return timeout.ok || queryBool(query, "watch") || path.includes("/watch/") ? undefined : timeout.error;
}
