/** GET of one object or its status. Upstream: apiserver endpoints/handlers/get.go. */
import type { KubeObject } from "../../api/meta/kubernetes";
import { objectResponse, shownStatus } from "./answer";
import { invalidResourceVersion, resourceVersionProblem } from "../http/read/collection-options";
import { call } from "../routing/call";
import { bootstrapProblem, callName, refuse, type ResourceRequest, store } from "./resource-request";

export async function get(request: ResourceRequest): Promise<Response> {
  const resourceVersion = request.query.get("resourceVersion") ?? "";
  const malformed = resourceVersionProblem(resourceVersion);
  if (malformed) return refuse(request, invalidResourceVersion(malformed));
  const problem = await bootstrapProblem(request);
  if (problem) return refuse(request, problem);
  const { namespace, name } = request.info;
  const answer = await call(() => store(request).get({ namespace, name }, resourceVersion), {
    what: callName(request),
    repeatable: true,
    timeoutMs: request.timeoutMs,
  });
  if (!answer.ok) return refuse(request, answer.error);
  const found = answer.value;
  const hidden = request.access.hides?.(found.ok ? (JSON.parse(found.object) as KubeObject) : undefined);
  if (hidden) return refuse(request, hidden);
  return found.ok ? objectResponse(request, 200, found.object) : refuse(request, shownStatus(request.info, found.status));
}
