/** Which form a body has, by its Content-Type. Source: upstream apiserver endpoints/handlers/negotiation. */
import type { PatchType } from "../../../api/rpc/store";

/** The text of 415 as upstream prints it. */
export const BODY_TYPES = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"] as const;

export type BodyType = "json" | "yaml" | "protobuf";

/** Parameters of a media type as Go's mime.ParseMediaType takes them; one semicolon may stand at the end. Those of patches are not looked at. */
const PARAMETERS = /^(?:;\s*[^\s;=",]+\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;=",]+)\s*)*(?:;\s*)?$/;

/** The form of a POST, PUT or DELETE body; undefined = 415. No header means JSON, as upstream. */
export function bodyTypeOf(contentType: string | null): BodyType | undefined {
  if (contentType?.includes(";") && !PARAMETERS.test(contentType.slice(contentType.indexOf(";")))) return undefined;
  switch (mediaType(contentType)) {
    case "":
    case "application/json":
      return "json";
    case "application/yaml":
      return "yaml";
    case "application/vnd.kubernetes.protobuf":
      return "protobuf";
    default:
      return undefined;
  }
}

/** The kind of a PATCH body; undefined = 415. */
export function patchTypeOf(contentType: string | null): PatchType | undefined {
  switch (mediaType(contentType)) {
    case "application/json-patch+json":
      return "json";
    case "application/merge-patch+json":
      return "merge";
    case "application/strategic-merge-patch+json":
      return "strategic";
    case "application/apply-patch+yaml":
      return "apply";
    default:
      return undefined;
  }
}

function mediaType(contentType: string | null): string {
  if (contentType === null) return "";
  const end = contentType.indexOf(";");
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}
