/** A request below `/api/{version}` or `/apis/{group}/{version}`: discovery of the version, or a request inside it. */
import { methodNotAllowed, type Status, unknownResource } from "../../api/meta/status";
import { negotiateStatus } from "../http/negotiate/negotiate";
import { queryBool } from "../http/read/query";
import { pageNotFound, renderingOf, statusResponse } from "../http/answer/respond";
import { emptyTarget } from "../routing/empty-resources";
import { inCluster } from "../routing/known-clusters";
import { requestTarget, unservedTarget } from "../routing/request-info";
import { isRead, verbOn } from "../routing/routes";
import { type ServedApis, servedApis, servedVersion } from "../routing/served";
import { resourceListResponse } from "../system/discovery/discovery";
import { emptyListResponse, emptyResourceResponse } from "../system/discovery/empty-lists";
import type { PathRequest } from "../system/path-request";
import { dispatch } from "./dispatch";

/** `/api/{version}[/{rest}]` */
export function coreVersionResponse(asked: PathRequest): Response | Promise<Response> {
  return versionResponse(asked, "", asked.url.path.slice("/api/".length));
}

/** `/apis/{group}/{version}[/{rest}]` */
export function groupVersionResponse(asked: PathRequest): Response | Promise<Response> {
  const tail = asked.url.path.slice("/apis/".length);
  const slash = tail.indexOf("/");
  return versionResponse(asked, tail.slice(0, slash), tail.slice(slash + 1));
}

/** `tail` is `{version}[/{rest}]`. */
function versionResponse(asked: PathRequest, group: string, tail: string): Response | Promise<Response> {
  const slash = tail.indexOf("/");
  const version = slash < 0 ? tail : tail.slice(0, slash);
  const rest = slash < 0 ? "" : tail.slice(slash + 1);
  const { request, url } = asked;
  const apis = servedApis(asked.config, url.cluster);
  const served = servedVersion(apis, group, version);
  if (served && rest === "")
    return isRead(request.method) ? resourceListResponse(request, apis, served) : statusResponse(methodNotAllowed());
  const target = served && requestTarget(url.cluster, served, rest, request.method, queryBool(url.query, "watch"));
  if (target && target.kind !== "refused") return dispatch(asked, target);
  return emptyAnswer(asked, group, version, rest) ?? (target ? refused(asked, target.status) : unserved(apis, group, rest));
}

/** The answer of a kind that has no objects; undefined = the path asks for none, or for what is not answered. */
function emptyAnswer({ env, request, url }: PathRequest, group: string, version: string, rest: string): Promise<Response> | undefined {
  const target = verbOn("empty", request.method) && emptyTarget(group, version, rest);
  if (!target) return undefined;
  const { resource, name } = target;
  const answer = name === "" ? emptyListResponse(resource, request) : emptyResourceResponse(resource, name);
  return answer && inCluster({ env, name: url.cluster }, () => answer);
}

function unserved(apis: ServedApis, group: string, rest: string): Response {
  const named = unservedTarget(group, rest);
  if (named) return statusResponse(named);
  // Upstream has a handler for each group that it serves, and its page for none.
  return apis.versions.some((one) => one.group === group) ? statusResponse(unknownResource()) : pageNotFound();
}

function refused({ request: { headers }, url }: PathRequest, status: Status): Response {
  return statusResponse(status, renderingOf(negotiateStatus(headers.get("Accept")), url.query, headers.get("User-Agent") ?? ""));
}
