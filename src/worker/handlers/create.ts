/** POST of a collection. Upstream: apiserver endpoints/handlers/create.go. */
import type { Cluster } from "../../api/registry/clusters/cluster";
import { clustersDefinition } from "../../api/registry/clusters/definition";
import { nearSender } from "../routing/known-clusters";
import { objectResponse, storedForm } from "./answer";
import { missingNamespace, namespaceMismatch } from "../http/read/body-names";
import { readObject } from "../http/read/read-object";
import { parseWriteOptions } from "../http/read/write-options";
import { refuse, type ResourceRequest } from "./resource-request";
import { write } from "./write";

export async function create(request: ResourceRequest): Promise<Response> {
  const { definition, namespace, version } = request.info;
  const { kind, group, schema } = definition;
  const options = parseWriteOptions("CreateOptions", request.query, { userAgent: request.userAgent, group, version });
  if (!options.ok) return refuse(request, options.error);
  const body = await readObject(request, { kind, group, schema, version }, options.value.fieldValidation);
  if (!body.ok) return refuse(request, body.error);
  const { object, warnings } = body.value;
  const mismatch = missingNamespace(object, namespace, definition) ?? namespaceMismatch(object, namespace);
  if (mismatch) return refuse(request, mismatch, warnings);
  if (definition === clustersDefinition) placeNear(object, request.request);
  const text = JSON.stringify(storedForm(definition, object));
  const written = await write(request, { verb: "create", namespace, object: text, options: options.value });
  if (!written.ok) return refuse(request, written.error.status, [...warnings, ...written.error.warnings]);
  return objectResponse(request, written.value.code, written.value.object, warnings.concat(written.value.warnings));
}

/** A cluster without a wish is near who makes it, as one that PUT makes. */
function placeNear(object: Cluster, sender: Request): void {
  const { location } = nearSender(sender);
  if (location !== undefined && !object.spec?.location) object.spec = { ...object.spec, location };
}
