/** The names in a body agree with those of the URL. Source: upstream apiserver endpoints/handlers/rest.go, registry/rest/create.go. */
import { required } from "../../../api/meta/field-errors";
import type { KubeObject } from "../../../api/meta/kubernetes";
import { badRequest, invalid, type Status } from "../../../api/meta/status";
import type { ResourceDefinition } from "../../../api/registry/resource";

const OTHER_NAMESPACE = badRequest("the namespace of the provided object does not match the namespace sent on the request");

/** The namespace of the body is that of the URL or absent; cluster-scoped kinds lose theirs in the store. */
export function namespaceMismatch(object: KubeObject, namespace: string): Status | undefined {
  const own = object.metadata?.namespace;
  return !namespace || !own || own === namespace ? undefined : OTHER_NAMESPACE;
}

/** The path of a create names the empty namespace, which means all: `/api/v1/namespaces//services`. */
export function missingNamespace(object: KubeObject, namespace: string, definition: ResourceDefinition): Status | undefined {
  if (!definition.namespaced || namespace !== "") return undefined;
  const { name = "", namespace: own } = object.metadata ?? {};
  return own ? OTHER_NAMESPACE : invalid(definition, name, [required("metadata.namespace")]);
}

/** A PUT names the object in its body too. */
export function nameMismatch(object: KubeObject, name: string): Status | undefined {
  const own = object.metadata?.name;
  if (own === name) return undefined;
  if (!own) return badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  return badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
}
