/** Discovery endpoints: which document, in which form. The exact Content-Type tells clients that it is the aggregated one. */
import { notAcceptable } from "../../../api/meta/status";
import { authorityOf } from "../../http/read/authority";
import { DOCUMENT_TYPES, negotiateDocument, wantsAggregatedDiscovery } from "../../http/negotiate/negotiate";
import { hashOf } from "../../http/hash";
import { urlOf } from "../../http/read/request-url";
import { jsonResponse, pageNotFound, renderingOf, statusResponse } from "../../http/answer/respond";
import type { ServedApis, ServedVersion } from "../../routing/served";
import { aggregatedDiscovery, apiGroup, apiGroupList, apiResourceList, apiVersions } from "./discovery-documents";

/** Upstream's clients tell the aggregated form by exactly this. */
const AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** ETags of the aggregated documents. */
const etags = new WeakMap<ServedApis, Map<string, string>>();

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
export async function coreVersionsResponse(request: Request, apis: ServedApis): Promise<Response> {
  return (
    (await aggregatedResponse(request, apis, "core")) ?? plainResponse(request, JSON.stringify(apiVersions(apis, authorityOf(request))))
  );
}

/** GET /apis */
export async function groupListResponse(request: Request, apis: ServedApis): Promise<Response> {
  const plain = (): Response =>
    plainResponse(
      request,
      textOf(apis, "groups", () => apiGroupList(apis)),
    );
  return (await aggregatedResponse(request, apis, "named")) ?? plain();
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

/** Source: upstream apiserver endpoints/discovery/aggregated/etag.go. */
async function aggregatedResponse(request: Request, apis: ServedApis, which: "core" | "named"): Promise<Response | undefined> {
  if (!wantsAggregatedDiscovery(request.headers.get("Accept"))) return undefined;
  const text = textOf(apis, `aggregated/${which}`, () => aggregatedDiscovery(apis, which));
  const etag = `"${await etagOf(apis, which, text)}"`;
  const headers = { ETag: etag, Vary: "Accept", "Cache-Control": "public" };
  if (request.headers.get("If-None-Match") === etag) return new Response(null, { status: 304, headers });
  return new Response(text, { headers: { ...headers, "Content-Type": AGGREGATED_TYPE } });
}

async function etagOf(apis: ServedApis, which: string, text: string): Promise<string> {
  const known = etags.get(apis) ?? new Map<string, string>();
  etags.set(apis, known);
  const there = known.get(which);
  if (there !== undefined) return there;
  const etag = await hashOf(text);
  known.set(which, etag);
  return etag;
}

function plainResponse(request: Request, text: string): Response {
  const encoding = negotiateDocument(request.headers.get("Accept"));
  if (!encoding) return statusResponse(notAcceptable(DOCUMENT_TYPES));
  return jsonResponse(200, text, renderingOf(encoding, urlOf(request).query, request.headers.get("User-Agent") ?? ""));
}
