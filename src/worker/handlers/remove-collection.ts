/** DELETE of a collection: answers the List of what was deleted. Upstream: apiserver endpoints/handlers/delete.go (DeleteCollection). */
import { readDeleteOptions } from "./delete-options";
import { invalidResourceVersion, parseCollectionOptions, resourceVersionProblem } from "../http/read/collection-options";
import { refuse, type ResourceRequest } from "./resource-request";
import { askCollection, collectionResponse, representationOf, wantedCollection } from "./collection";

export async function removeCollection(request: ResourceRequest): Promise<Response> {
  const options = parseCollectionOptions(request.query, false);
  if (!options.ok) return refuse(request, options.error);
  const problem = resourceVersionProblem(options.value.resourceVersion);
  if (problem) return refuse(request, invalidResourceVersion(problem));
  const deleteOptions = await readDeleteOptions(request);
  if (!deleteOptions.ok) return refuse(request, deleteOptions.error);
  const representation = representationOf(request);
  if (!representation.ok) return refuse(request, representation.error);
  const wanted = wantedCollection(request, options.value, representation.value, { deleteOptions: deleteOptions.value.options });
  const answer = await askCollection(request, wanted);
  return answer.ok ? collectionResponse(request, answer.value) : refuse(request, answer.error);
}
