/**
 * OpenAPI v3: an index with a hash per document, and the documents, which may be kept for ever under their hash.
 * OpenAPI v2: one document, as JSON or in the protobuf form that client-go alone asks for (upstream kube-openapi pkg/handler).
 * Sources: upstream kube-openapi pkg/handler3 and pkg/handler.
 */
import { GIT_VERSION } from "../../../core/config/version";
import { type OpenApiDocument, openApiDocument, type OpenApiResource } from "../../../api/schema/openapi/openapi";
import { openApiV2Document } from "../../../api/schema/openapi/openapi-v2";
import { encodeOpenApiV2 } from "../../../api/schema/openapi/openapi-v2-protobuf";
import { gzipped } from "../../http/answer/compress";
import { hashOf } from "../../http/hash";
import { jsonResponse, pageNotFound, textResponse } from "../../http/answer/respond";
import type { ServedApis, ServedVersion } from "../../routing/served";

const JSON_TYPE = "application/json";
const V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/** The form of v2 that Accept names first. The protobuf form has two names, because the second one is no valid media type. */
const V2_FORMS: Readonly<Record<string, "json" | "protobuf">> = {
  "*/*": "json",
  "application/*": "json",
  [JSON_TYPE]: "json",
  [V2_PROTOBUF]: "protobuf",
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf": "protobuf",
};
/** A year, the longest age of HTTP caches. */
const FOREVER = "public, max-age=31536000, immutable";

interface Document {
  text: string;
  hash: string;
}

interface V2Document {
  body: string | Uint8Array<ArrayBuffer>;
  type: string;
  etag: string;
}

/** `api/v1`, `apis/networking.k8s.io/v1` */
function pathOf({ group, version }: ServedVersion): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

/** Built on first use: plain data that requests share. */
const v3Documents = new WeakMap<ServedApis, ReadonlyMap<string, Document>>();
const v2Documents = new WeakMap<ServedApis, Partial<Record<"json" | "protobuf", V2Document>>>();

async function allDocuments(apis: ServedApis): Promise<ReadonlyMap<string, Document>> {
  const there = v3Documents.get(apis);
  if (there) return there;
  const made = new Map<string, Document>();
  for (const served of documented(apis)) {
    const text = JSON.stringify(documentOf(served));
    made.set(pathOf(served), { text, hash: await hashOf(text) });
  }
  v3Documents.set(apis, made);
  return made;
}

/** Versions with nothing but kinds that have no objects have no document: kubectl shall go on to look for those kinds among the definitions. */
function documented(apis: ServedApis): ServedVersion[] {
  return apis.versions.filter(({ resources, reviews }) => resources.size + reviews.size > 0);
}

/** What follows `/openapi/v3/` of each document. */
export function openApiV3Paths(apis: ServedApis): string[] {
  return documented(apis).map(pathOf);
}

function documentOf(served: ServedVersion): OpenApiDocument {
  return openApiDocument({ title: "Servicenet", version: GIT_VERSION, resources: resourcesOf(served) });
}

function resourcesOf({ group, version, resources, reviews }: ServedVersion): OpenApiResource[] {
  return [
    ...[...resources.values()].map((definition) => ({ ...definition, group, version })),
    ...[...reviews.values()].map((review) => ({ ...review, verbs: ["create"], subresources: [] })),
  ];
}

/** The URLs have no cluster prefix: clients add it themselves. */
export async function openApiV3IndexResponse(apis: ServedApis): Promise<Response> {
  const paths: Record<string, { serverRelativeURL: string }> = {};
  for (const [path, { hash }] of await allDocuments(apis)) paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
  return jsonResponse(200, JSON.stringify({ paths }), "compact");
}

/** `path` is what follows `/openapi/v3/`. */
export async function openApiV3DocumentResponse(
  request: Request,
  { apis, path, query }: { apis: ServedApis; path: string; query: URLSearchParams },
): Promise<Response> {
  const document = (await allDocuments(apis)).get(path);
  if (!document) return pageNotFound();
  const etag = `"${document.hash}"`;
  const asked = query.get("hash");
  // Relative to its own URL, so that it works under every cluster's prefix.
  if (asked !== null && asked !== document.hash)
    return new Response(null, { status: 301, headers: { Location: `?hash=${document.hash}` } });
  const headers = { ETag: etag, Vary: "Accept", ...(asked === null ? {} : { "Cache-Control": FOREVER }) };
  if (request.headers.get("If-None-Match") === etag) return new Response(null, { status: 304, headers });
  const response = jsonResponse(200, document.text, "compact");
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return gzipped(response, request.headers.get("Accept-Encoding"));
}

/** The whole server in one document, as JSON unless Accept names another form. */
export async function openApiV2Response(request: Request, apis: ServedApis): Promise<Response> {
  const form = v2FormOf(request.headers.get("Accept") || "*/*");
  if (!form) return textResponse(406, `only the following media types are accepted: ${JSON_TYPE}, ${V2_PROTOBUF}\n`);
  const { body, type, etag } = await v2Document(apis, form);
  const headers = { ETag: etag, Vary: "Accept", "Cache-Control": "no-cache, private" };
  if (request.headers.get("If-None-Match") === etag) return new Response(null, { status: 304, headers });
  const response = new Response(body, { status: 200, headers: { ...headers, "Content-Type": type } });
  return gzipped(response, request.headers.get("Accept-Encoding"));
}

function v2FormOf(accept: string): "json" | "protobuf" | undefined {
  for (const clause of accept.split(",")) {
    const form = V2_FORMS[(clause.split(";")[0] ?? "").trim().toLowerCase()];
    if (form) return form;
  }
  return undefined;
}

async function v2Document(apis: ServedApis, form: "json" | "protobuf"): Promise<V2Document> {
  const there = v2Documents.get(apis)?.[form];
  if (there) return there;
  const document = openApiV2Document(documented(apis).map(documentOf));
  const body = form === "json" ? JSON.stringify(document) : encodeOpenApiV2(document);
  const hash = await hashOf(body);
  const made = { body, type: form === "json" ? JSON_TYPE : V2_PROTOBUF, etag: `"${hash}"` };
  v2Documents.set(apis, { ...v2Documents.get(apis), [form]: made });
  return made;
}
