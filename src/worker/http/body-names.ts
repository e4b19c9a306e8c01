/** The names in a body agree with those of the URL. Source: upstream apiserver endpoints/handlers/rest.go, registry/rest/create.go. */
import type { KubeObject } from "../../api/meta/kubernetes";
import { badRequest, type Status } from "../../api/meta/status";

/** The namespace of the body is that of the URL or absent; cluster-scoped kinds lose theirs in the store. */
export function namespaceMismatch(object: KubeObject, namespace: string): Status | undefined {
  const own = object.metadata?.namespace;
  if (!namespace || !own || own === namespace) return undefined;
  return badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

/** A PUT names the object in its body too. */
export function nameMismatch(object: KubeObject, name: string): Status | undefined {
  const own = object.metadata?.name;
  if (own === name) return undefined;
  if (!own) return badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  return badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
}
