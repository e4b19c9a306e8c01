/** Answers of kinds that have no objects (../routing/empty-resources.ts). A request is judged as for any other kind. */
import { decodeContinue } from "../../../api/meta/continue-token";
import { badRequest, noRepresentation, notAcceptable, notFound, type Status } from "../../../api/meta/status";
import { parseIncludeObject } from "../../../api/meta/table";
import { apiVersionOf } from "../../../api/meta/type-meta";
import { NAME_COLUMN } from "../../../api/registry/common-columns";
import { COMMON } from "../../../api/registry/common-definition";
import { filterOf } from "../../../api/store/hub/collection-filter";
import { invalidResourceVersion, parseCollectionOptions, resourceVersionProblem } from "../../http/read/collection-options";
import {
  DOCUMENT_TYPES,
  type DocumentEncoding,
  namesMediaType,
  negotiate,
  negotiateStatus,
  type Transform,
} from "../../http/negotiate/negotiate";
import { queryBool } from "../../http/read/query";
import { urlOf } from "../../http/read/request-url";
import { jsonResponse, type Rendering, renderingOf, statusResponse } from "../../http/answer/respond";
import type { EmptyResource } from "../../routing/empty-resources";

/** The answer to a GET of the collection; undefined for a watch, which is not served. There is no protobuf form. */
export function emptyListResponse(resource: EmptyResource, request: Request): Response | undefined {
  const { headers } = request;
  const { query } = urlOf(request);
  if (queryBool(query, "watch")) return undefined;
  const [accept, userAgent] = [headers.get("Accept"), headers.get("User-Agent") ?? ""];
  const refuse = (status: Status): Response => statusResponse(status, refusalRendering(accept, query, userAgent));
  const accepted = acceptedOf(accept);
  if (!accepted) return refuse(namesMediaType(accept) ? notAcceptable(DOCUMENT_TYPES) : noRepresentation(DOCUMENT_TYPES));
  const problem = problemOf(resource, query, accepted.transform);
  if (problem) return refuse(problem);
  const list = { ...shownAs(resource, accepted.transform), metadata: { resourceVersion: "1" } };
  return jsonResponse(200, JSON.stringify(list), renderingOf(accepted.encoding, query, userAgent));
}

/** The answer to a GET of an object. */
export function emptyResourceResponse(resource: EmptyResource, name: string): Response {
  return statusResponse(notFound(resource, name));
}

function refusalRendering(accept: string | null, query: URLSearchParams, userAgent: string): Rendering {
  return renderingOf(negotiateStatus(accept), query, userAgent);
}

/** The first clause that is no protobuf. */
function acceptedOf(accept: string | null): { encoding: DocumentEncoding; transform: Transform } | undefined {
  const accepted = negotiate(accept, "list");
  if (accepted && accepted.encoding !== "protobuf") return { encoding: accepted.encoding, transform: accepted.transform };
  const document = negotiate(accept, "document")?.encoding;
  return document === undefined || document === "protobuf" ? undefined : { encoding: document, transform: { as: "object" } };
}

/** In the order of list (../handlers/list.ts) and of the store. */
function problemOf({ group, namespaced }: EmptyResource, query: URLSearchParams, transform: Transform): Status | undefined {
  const options = parseCollectionOptions(query, false);
  if (!options.ok) return options.error;
  const { resourceVersion, continueToken } = options.value;
  const problem = resourceVersionProblem(resourceVersion);
  if (problem) return invalidResourceVersion(problem);
  const include = transform.as === "table" ? parseIncludeObject(query.get("includeObject") ?? "") : undefined;
  if (include && !include.ok) return badRequest(include.error);
  const filter = filterOf({ ...options.value, namespace: "" }, { ...COMMON, group, namespaced });
  if (!filter.ok) return filter.error;
  const token = continueToken === "" ? undefined : decodeContinue(continueToken);
  return token && !token.ok ? badRequest(token.error) : undefined;
}

function shownAs({ group, version, kind }: EmptyResource, transform: Transform): object {
  if (transform.as === "object") return { kind: `${kind}List`, apiVersion: apiVersionOf(group, version), items: [] };
  const apiVersion = `meta.k8s.io/${transform.version}`;
  return transform.as === "table"
    ? { kind: "Table", apiVersion, columnDefinitions: [NAME_COLUMN], rows: [] }
    : { kind: "PartialObjectMetadataList", apiVersion, items: [] };
}
