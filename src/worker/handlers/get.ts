/** GET of one object or its status. Upstream: apiserver endpoints/handlers/get.go. */
import { objectResponse } from "../answer";
import { invalidResourceVersion, resourceVersionProblem } from "../options";
import { refuse, type ResourceRequest } from "../resource-request";
import { read } from "./read";

export async function get(request: ResourceRequest): Promise<Response> {
  const resourceVersion = request.query.get("resourceVersion") ?? "";
  const problem = resourceVersionProblem(resourceVersion);
  if (problem) return refuse(request, invalidResourceVersion(problem));
  const stored = await read(request, resourceVersion);
  return stored.ok ? objectResponse(request, 200, stored.value) : refuse(request, stored.error);
}
