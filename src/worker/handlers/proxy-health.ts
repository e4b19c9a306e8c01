/**
 * PUT or POST of `/api/v1/nodes/{node}/proxy-health`: what an agent says about the Service proxy of its node (src/proxy-health/report.ts). Not of
 * Kubernetes; the page is docs/load-balancer-health-checks.md. Every report passes here.
 */
import { nodeProxy } from "../../../durable-objects/peers/peers";
import {
  badRequest,
  invalid,
  notFound,
  requestTooLarge,
  serviceUnavailable,
  type Status,
  succeeded,
  unsupportedMediaType,
} from "../../api/meta/status";
import { isJsonObject, type JsonValue } from "../../api/schema/json/json-value";
import { err, ok, type Result } from "../../core/base/result";
import { parseReport, REPORT_MAX_BYTES, type Report } from "../../proxy-health/report";
import { RETRY_AFTER_SECONDS } from "../http/limits";
import { readText } from "../http/read/read-body";
import { JSON_TYPE, saysJson } from "../http/read/read-json";
import { call } from "../routing/call";
import { refuse, type ResourceRequest, succeed } from "./resource-request";

const REPORT = { group: "", resource: "nodes", kind: "ProxyHealth" };

/** Such a report is no mutating request for the limit of those under way: while writes are refused, no agent may seem silent for that. */
export function isSmallReport(headers: Headers): boolean {
  const length = headers.get("Content-Length");
  return length !== null && Number(length) <= REPORT_MAX_BYTES;
}

export async function reportProxyHealth(request: ResourceRequest): Promise<Response> {
  const { env, info } = request;
  const report = await readReport(request);
  if (!report.ok) return refuse(request, report.error);
  const attempt = () => nodeProxy(env, info.cluster, info.name).report(info.name, report.value);
  const kept = await call(attempt, { what: "nodeProxy.report", repeatable: true, timeoutMs: request.timeoutMs });
  if (!kept.ok) return refuse(request, kept.error);
  if (kept.value.ok) return succeed(request, succeeded(200, "the report is kept"), []);
  const unanswered = "the store of Nodes does not answer, try again";
  const isUnknown = kept.value.reason === "unknownNode";
  return refuse(request, isUnknown ? notFound(info.definition, info.name) : serviceUnavailable(unanswered, RETRY_AFTER_SECONDS));
}

async function readReport(request: ResourceRequest): Promise<Result<Report, Status>> {
  const tooLarge = requestTooLarge(`a report has at most ${REPORT_MAX_BYTES} bytes`);
  if (Number(request.request.headers.get("Content-Length")) > REPORT_MAX_BYTES) return err(tooLarge);
  if (!saysJson(request.request.headers)) return err(unsupportedMediaType(JSON_TYPE));
  const text = await readText(request);
  if (!text.ok) return text;
  if (text.value.length > REPORT_MAX_BYTES) return err(tooLarge);
  const body = parsed(text.value);
  if (!isJsonObject(body)) return err(badRequest("the body is no JSON object"));
  const report = parseReport(body);
  return report.ok ? ok(report.value) : err(invalid(REPORT, request.info.name, report.error));
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
