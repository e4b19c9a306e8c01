/** DELETE of one object. Upstream: apiserver endpoints/handlers/delete.go. */
import type { KubeObject } from "../../api/meta/kubernetes";
import { deleted } from "../../api/meta/status";
import { objectResponse } from "./answer";
import { readDeleteOptions } from "./delete-options";
import { refuse, type ResourceRequest, succeed } from "./resource-request";
import { write } from "./write";

export async function remove(request: ResourceRequest): Promise<Response> {
  const { definition, namespace, name } = request.info;
  const options = await readDeleteOptions(request);
  if (!options.ok) return refuse(request, options.error);
  const written = await write(request, { verb: "delete", key: { namespace, name }, options: options.value.options });
  if (!written.ok) return refuse(request, written.error.status, written.error.warnings);
  const { object, gone, warnings } = written.value;
  if (!gone) return objectResponse(request, options.value.cascades ? 202 : 200, object, warnings);
  if (definition.returnsDeletedObject) return objectResponse(request, 200, object, warnings);
  const uid = (JSON.parse(object) as KubeObject).metadata?.uid ?? "";
  return succeed(request, deleted(definition, name, uid), warnings);
}
