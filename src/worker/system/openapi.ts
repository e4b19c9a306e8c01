/**
 * OpenAPI v3: an index with a hash per document, and the documents, which may be kept for ever under their hash.
 * Version 2 is asked for as protobuf alone, where an empty body is a valid empty document (api-machinery §0.2).
 * Source: upstream kube-openapi pkg/handler3.
 */
import { openApiDocument, type OpenApiResource } from "../../schema/openapi";
import { jsonResponse, pageNotFound } from "../respond";
import { type ServedVersion, servedVersions } from "../served";
import { GIT_VERSION } from "./version";

const V2_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/** As long as HTTP knows how to say: a year. */
const FOREVER = "public, max-age=31536000, immutable";

interface Document {
  text: string;
  hash: string;
}

/** `api/v1`, `apis/networking.k8s.io/v1` */
function pathOf({ group, version }: ServedVersion): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

/** Made on first use: plain data that requests may share. */
let documents: ReadonlyMap<string, Document> | undefined;

async function allDocuments(): Promise<ReadonlyMap<string, Document>> {
  if (documents) return documents;
  const made = new Map<string, Document>();
  for (const served of servedVersions()) {
    const text = JSON.stringify(openApiDocument({ title: "Servicenet", version: GIT_VERSION, resources: resourcesOf(served) }));
    made.set(pathOf(served), { text, hash: await hashOf(text) });
  }
  documents = made;
  return made;
}

function resourcesOf({ group, version, resources, reviews }: ServedVersion): OpenApiResource[] {
  return [
    ...[...resources.values()].map((definition) => ({ ...definition, group, version })),
    ...[...reviews.values()].map((review) => ({ ...review, verbs: ["create"], subresources: [] })),
  ];
}

async function hashOf(text: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0"))
    .join("")
    .toUpperCase();
}

/** The URLs stay without the cluster's prefix: clients put it in front of them themselves. */
export async function openApiV3IndexResponse(): Promise<Response> {
  const paths: Record<string, { serverRelativeURL: string }> = {};
  for (const [path, { hash }] of await allDocuments()) paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
  return jsonResponse(200, JSON.stringify({ paths }), "compact");
}

/** `path` is what follows `/openapi/v3/`. */
export async function openApiV3DocumentResponse(request: Request, path: string, query: URLSearchParams): Promise<Response> {
  const document = (await allDocuments()).get(path);
  if (!document) return pageNotFound();
  const etag = `"${document.hash}"`;
  const asked = query.get("hash");
  // Relative to itself, so that it holds under every cluster's prefix.
  if (asked !== null && asked !== document.hash)
    return new Response(null, { status: 301, headers: { Location: `?hash=${document.hash}` } });
  const headers = { ETag: etag, Vary: "Accept", ...(asked === null ? {} : { "Cache-Control": FOREVER }) };
  if (request.headers.get("If-None-Match") === etag) return new Response(null, { status: 304, headers });
  const response = jsonResponse(200, document.text, "compact");
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

export function openApiV2Response(): Response {
  return new Response("", { status: 200, headers: { "Content-Type": V2_TYPE } });
}
