/**
 * Watch. The store's stream is passed on unchanged: an event costs the Worker nothing.
 * Upstream: apiserver endpoints/handlers/get.go and watch.go.
 */
import { invalid } from "../../api/meta/status";
import { parseCollectionOptions, resourceVersionProblem } from "../http/read/collection-options";
import { socketHeaders } from "../http/connection/web-socket";
import type { CollectionRequest } from "../../api/rpc/store";
import { senderOf } from "../access/access";
import { refuse, type ResourceRequest } from "./resource-request";
import { endedWatch, waits } from "../routing/waits";
import { askCollection, collectionResponse, representationOf } from "./collection";

export async function watch(request: ResourceRequest): Promise<Response> {
  const { cluster, definition, name } = request.info;
  const options = parseCollectionOptions(request.query, true);
  if (!options.ok) return refuse(request, options.error);
  const problem = resourceVersionProblem(options.value.resourceVersion);
  if (problem) return refuse(request, invalid({ ...definition, kind: definition.resource }, "", [problem]));
  const representation = representationOf(request);
  if (!representation.ok) return refuse(request, representation.error);
  // The deprecated path /watch/…/{name} is a watch of one object.
  const own = name === "" ? "" : `metadata.name=${name.replace(/[\\,=]/g, "\\$&")}`;
  const fieldSelector = [options.value.fieldSelector, own].filter((part) => part !== "").join(",");
  const overBefore = options.value.timeoutSeconds < 0 && !socketHeaders(request.request.headers);
  if (waits.isStopping || overBefore) return endedWatch(request.rendering);
  const { env } = request;
  const open = () => askCollection(request, { ...options.value, fieldSelector }, representation.value, watcherOf(request));
  const answer = await waits.openWatch({ env, cluster, definition }, open);
  if (!answer.ok) return refuse(request, answer.error);
  return answer.value.status < 400 ? answer.value : collectionResponse(request, answer.value);
}

/** Administrators of all clusters have any number of watches: they look at what others do. */
function watcherOf({ config, access }: ResourceRequest): Pick<CollectionRequest, "watchedBy"> {
  if (access.makesClusters) return {};
  return { watchedBy: { user: senderOf(access), max: config.maxWatchesPerUser } };
}
