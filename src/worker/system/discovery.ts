/** Discovery endpoints: which document, in which form. The exact Content-Type tells clients that it is the aggregated one. */
import { notAcceptable } from "../../api/meta/status";
import { aggregatedDiscoveryVersion, ANSWER_TYPES, negotiate } from "../http/negotiate";
import { parseQuery, splitRequestUrl } from "../http/request-url";
import { jsonResponse, pageNotFound, renderingOf, statusResponse } from "../http/respond";
import type { ServedApis, ServedVersion } from "../routing/served";
import { aggregatedDiscovery, apiGroup, apiGroupList, apiResourceList, apiVersions } from "./discovery-documents";

/** Texts that never change while an isolate lives. */
const texts = new WeakMap<ServedApis, Map<string, string>>();

function textOf(apis: ServedApis, key: string, make: () => object): string {
  const known = texts.get(apis) ?? new Map<string, string>();
  texts.set(apis, known);
  let text = known.get(key);
  if (text === undefined) known.set(key, (text = JSON.stringify(make())));
  return text;
}

/** GET /api */
export function coreVersionsResponse(request: Request, apis: ServedApis): Response {
  return aggregatedResponse(request, apis, "core") ?? plainResponse(request, JSON.stringify(apiVersions(apis, new URL(request.url).host)));
}

/** GET /apis */
export function groupListResponse(request: Request, apis: ServedApis): Response {
  const plain = (): Response =>
    plainResponse(
      request,
      textOf(apis, "groups", () => apiGroupList(apis)),
    );
  return aggregatedResponse(request, apis, "named") ?? plain();
}

/** GET /apis/{group} */
export function groupResponse(request: Request, apis: ServedApis, name: string): Response {
  const group = apiGroup(apis, name);
  return group ? plainResponse(request, JSON.stringify(group)) : pageNotFound();
}

/** GET /api/v1, /apis/{group}/{version} */
export function resourceListResponse(request: Request, apis: ServedApis, served: ServedVersion): Response {
  return plainResponse(
    request,
    textOf(apis, `${served.group}/${served.version}`, () => apiResourceList(served)),
  );
}

function aggregatedResponse(request: Request, apis: ServedApis, which: "core" | "named"): Response | undefined {
  const version = aggregatedDiscoveryVersion(request.headers.get("Accept"));
  if (!version) return undefined;
  const response = jsonResponse(
    200,
    textOf(apis, `aggregated/${which}/${version}`, () => aggregatedDiscovery(apis, which, version)),
    "compact",
  );
  response.headers.set("Content-Type", `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`);
  response.headers.set("Vary", "Accept");
  return response;
}

function plainResponse(request: Request, text: string): Response {
  const accepted = negotiate(request.headers.get("Accept"), "none");
  if (!accepted) return statusResponse(notAcceptable(ANSWER_TYPES));
  const query = parseQuery(splitRequestUrl(request.url).query);
  return jsonResponse(200, text, renderingOf(accepted.encoding, query, request.headers.get("User-Agent") ?? ""));
}
