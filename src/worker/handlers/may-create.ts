/** Which requests may make an object. */
import type { PatchType } from "../../api/rpc/store";
import type { RequestInfo } from "../routing/request-info";

/** Whether the request may make an object that is not there: by its verb, a PUT of some kinds, or an apply. Upstream: apiserver registry/rest/update.go. */
export function mayCreate({ verb, definition, subresource }: RequestInfo, patchType: PatchType | undefined): boolean {
  if (subresource !== "") return false;
  if (verb === "update") return definition.allowCreateOnUpdate;
  return verb === "create" || (verb === "patch" && patchType === "apply");
}
