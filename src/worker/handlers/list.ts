/** GET of a collection: the store streams the final text. Upstream: apiserver endpoints/handlers/get.go (ListResource). */
import { invalidResourceVersion, parseCollectionOptions, resourceVersionProblem } from "../http/read/collection-options";
import { listSizes } from "../http/answer/list-sizes";
import { refuse, type ResourceRequest } from "./resource-request";
import { askCollection, collectionResponse, representationOf, wantedCollection } from "./collection";

export async function list(request: ResourceRequest): Promise<Response> {
  const options = parseCollectionOptions(request.query, false);
  if (!options.ok) return refuse(request, options.error);
  const problem = resourceVersionProblem(options.value.resourceVersion);
  if (problem) return refuse(request, invalidResourceVersion(problem));
  const representation = representationOf(request);
  if (!representation.ok) return refuse(request, representation.error);
  const answer = await askCollection(request, wantedCollection(request, options.value, representation.value));
  if (answer.ok) {
    const { namespace, definition } = request.info;
    const { cluster } = request.url;
    listSizes.note({ cluster, group: definition.group, resource: definition.resource, namespace }, request.query, answer.value);
  }
  return answer.ok ? collectionResponse(request, answer.value) : refuse(request, answer.error);
}
