/** The refusals of access control, in upstream's words (apiserver pkg/endpoints/handlers/responsewriters/errors.go, apimachinery pkg/api/errors). */
import { forbidden, forbiddenPath, type Status } from "../../api/meta/status";
import type { User } from "../identity/user";
import type { Attributes, ResourceAttributes } from "./attributes";

/** 403 of a request that nobody allows; `reason` is what the authorizers said, "" = nothing. */
export function notAllowed({ name: userName }: User, attributes: Attributes, reason: string): Status {
  const why = reason === "" ? "" : `: ${reason}`;
  if (attributes.kind === "path") {
    return forbiddenPath(`User ${JSON.stringify(userName)} cannot ${attributes.verb} path ${JSON.stringify(attributes.path)}${why}`);
  }
  const { group, resource, name } = attributes;
  return forbidden({ group, resource, kind: resource }, name, `User ${JSON.stringify(userName)} cannot ${asked(attributes)}${why}`);
}

/** `VERB resource "r/sub" in API group "g" in the namespace "n"` */
function asked({ verb, group, resource, subresource, namespace }: ResourceAttributes): string {
  const what = JSON.stringify(subresource === "" ? resource : `${resource}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return `${verb} resource ${what} in API group ${JSON.stringify(group)} ${where}`;
}
