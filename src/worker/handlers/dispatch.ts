/** A request inside a served group and version -> its one handler. */
import type { Verb } from "../../registry/resource";
import { notAcceptable, unknownResource } from "../../meta/status";
import type { Env } from "../../../durable-objects/env";
import { ANSWER_TYPES, negotiate } from "../negotiate";
import { parseTimeout, queryBool } from "../options";
import { requestTarget } from "../request-info";
import { parseQuery } from "../request-url";
import { type Handler, type ResourceRequest, shapeOf } from "../resource-request";
import { renderingOf, statusResponse } from "../respond";
import type { ServedVersion } from "../served";
import { createReview } from "../system/reviews";
import { act } from "./act";
import { create } from "./create";
import { get } from "./get";
import { list } from "./list";
import { patch } from "./patch";
import { remove } from "./remove";
import { removeCollection } from "./remove-collection";
import { update } from "./update";
import { watch } from "./watch";

const HANDLERS: Readonly<Record<Verb, Handler>> = {
  create,
  get,
  list,
  watch,
  update,
  patch,
  delete: remove,
  deletecollection: removeCollection,
};

export interface GroupVersionRequest {
  env: Env;
  request: Request;
  cluster: string;
  served: ServedVersion;
  /** path after the version, percent-encoded, without its leading slash */
  rest: string;
  /** raw */
  query: string;
}

export async function dispatch({ env, request, cluster, served, rest, query: rawQuery }: GroupVersionRequest): Promise<Response> {
  const query = parseQuery(rawQuery);
  const target = requestTarget(cluster, served, rest, request.method, queryBool(query, "watch"));
  if (target.kind === "refused") return statusResponse(target.status);
  if (target.kind === "review") {
    const review = served.reviews.get(target.resource);
    return review ? createReview(request, review, target.namespace, query) : statusResponse(unknownResource());
  }
  const { info } = target;
  const accepted = negotiate(request.headers.get("Accept"), shapeOf(info));
  if (!accepted) return statusResponse(notAcceptable(info.verb === "watch" ? ["application/json;stream=watch"] : ANSWER_TYPES));
  const userAgent = request.headers.get("User-Agent") ?? "";
  const rendering = renderingOf(accepted.encoding, query, userAgent);
  // A watch ends by its timeoutSeconds; upstream ignores `timeout` there.
  const timeout = info.verb === "watch" ? undefined : parseTimeout(query);
  if (timeout && !timeout.ok) return statusResponse(timeout.error, rendering);
  const resourceRequest: ResourceRequest = { env, request, info, query, userAgent, timeoutMs: timeout?.value ?? 0, accepted, rendering };
  return target.kind === "action" ? act(resourceRequest, target.action) : HANDLERS[info.verb](resourceRequest);
}
