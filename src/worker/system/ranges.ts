/** GET /ranges of one cluster: the merged Service ranges and their reverse zones, for DNS servers and routers. */
import type { Env } from "../../../durable-objects/platform/env";
import { coordinator } from "../../../durable-objects/peers/peers";
import { notAcceptable } from "../../api/meta/status";
import { type RangesView, serviceRanges } from "../../addresses/ranges/service-ranges";
import { DOCUMENT_TYPES, negotiateDocument } from "../http/negotiate/negotiate";
import { call } from "../routing/call";
import { urlOf } from "../http/read/request-url";
import { jsonResponse, renderingOf, statusResponse } from "../http/answer/respond";

export async function rangesResponse(env: Env, cluster: string, request: Request): Promise<Response> {
  const encoding = negotiateDocument(request.headers.get("Accept"));
  if (!encoding) return statusResponse(notAcceptable(DOCUMENT_TYPES));
  const rendering = renderingOf(encoding, urlOf(request).query, request.headers.get("User-Agent") ?? "");
  const reading = await call(() => coordinator(env, cluster).ranges(), { what: "coordinator.ranges", repeatable: true });
  if (!reading.ok) return statusResponse(reading.error, rendering);
  const { revision, epoch, sources, claims } = reading.value;
  const view: RangesView = { resourceVersion: String(revision), epoch, ...serviceRanges(sources, claims) };
  return jsonResponse(200, JSON.stringify(view), rendering);
}
