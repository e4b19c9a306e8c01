/** DELETE of a collection: answers the List of what was deleted. Upstream: apiserver endpoints/handlers/delete.go (DeleteCollection). */
import { compressed } from "../compress";
import { readDeleteOptions } from "../delete-options";
import { invalidResourceVersion, parseCollectionOptions, resourceVersionProblem } from "../options";
import { refuse, type ResourceRequest } from "../resource-request";
import { rerendered } from "../respond";
import { askCollection, representationOf } from "./collection";

export async function removeCollection(request: ResourceRequest): Promise<Response> {
  const options = parseCollectionOptions(request.query, false);
  if (!options.ok) return refuse(request, options.error);
  const problem = resourceVersionProblem(options.value.resourceVersion);
  if (problem) return refuse(request, invalidResourceVersion(problem));
  const deleteOptions = await readDeleteOptions(request);
  if (!deleteOptions.ok) return refuse(request, deleteOptions.error);
  const representation = representationOf(request);
  if (!representation.ok) return refuse(request, representation.error);
  const answer = await askCollection(request, options.value, representation.value, { deleteOptions: deleteOptions.value });
  if (!answer.ok) return refuse(request, answer.error);
  return compressed(await rerendered(answer.value, request.rendering), request.request.headers.get("Accept-Encoding"));
}
