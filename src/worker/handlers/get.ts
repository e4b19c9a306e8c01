/** GET of one object or its status. Upstream: apiserver endpoints/handlers/get.go. */
import type { KubeObject } from "../../api/meta/kubernetes";
import { notFound, type Status } from "../../api/meta/status";
import { storedNamespace } from "../../api/registry/all";
import type { GetResult } from "../../api/rpc/store";
import type { Result } from "../../core/base/result";
import { objectResponse, shownStatus } from "./answer";
import { invalidResourceVersion, resourceVersionProblem } from "../http/read/collection-options";
import { isBootstrapped, noteInUse } from "../routing/bootstrap";
import { call } from "../routing/call";
import { bootstrapProblem, callName, refuse, type ResourceRequest, store } from "./resource-request";

export async function get(request: ResourceRequest): Promise<Response> {
  const resourceVersion = request.query.get("resourceVersion") ?? "";
  const malformed = resourceVersionProblem(resourceVersion);
  if (malformed) return refuse(request, invalidResourceVersion(malformed));
  const { name, definition } = request.info;
  const namespace = storedNamespace(definition, request.info.namespace);
  if (namespace === undefined) return refuse(request, notFound(definition, name));
  const read = (): Promise<Result<GetResult, Status>> =>
    call(() => store(request).get({ namespace, name }, resourceVersion), {
      what: callName(request),
      repeatable: true,
      timeoutMs: request.timeoutMs,
    });
  let answer = await read();
  // What a cluster begins with may not be there yet. Where it cannot be made, the answer stays what it is.
  if (answer.ok && !answer.value.ok && !isBootstrapped(request.env, request.info.cluster)) {
    await bootstrapProblem(request);
    answer = await read();
  }
  if (!answer.ok) return refuse(request, answer.error);
  const found = answer.value;
  if (found.ok) noteInUse(request.env, request.info.cluster);
  const hidden = request.access.hides?.(found.ok ? (JSON.parse(found.object) as KubeObject) : undefined);
  if (hidden) return refuse(request, hidden);
  return found.ok ? objectResponse(request, 200, found.object) : refuse(request, shownStatus(request.info, found.status));
}
