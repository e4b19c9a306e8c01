/** GET of `/api/v1/nodes/{node}/proxy-config`: the configuration of a data plane on one node. Not of Kubernetes; the page is docs/proxies.md. */
import { proxyView } from "../../../durable-objects/peers/peers";
import type { Node } from "../../api/meta/kubernetes";
import { LABEL_ZONE } from "../../api/meta/endpoint-keys";
import type { Result } from "../../core/base/result";
import type { Status } from "../../api/meta/status";
import { encodePoll, type Poll, POLL_HEADER } from "../../endpoints/proxy-config/poll";
import { POLL_MAX_MS, POLL_STEP_MS } from "../http/limits";
import { queryInt } from "../http/read/query";
import { call } from "../routing/call";
import { waits } from "../routing/waits";
import { collectionResponse } from "./collection";
import { bootstrapProblem, refuse, type ResourceRequest, store } from "./resource-request";

const VIEW_URL = "http://view/proxy-config";

/** Whether the request may take its time: it then counts as little as a watch. */
export function mayWait(query: URLSearchParams): boolean {
  return Number(query.get("timeoutSeconds")) > 0;
}

export async function proxyConfig(request: ResourceRequest): Promise<Response> {
  const begunMs = Date.now();
  const seconds = queryInt(request.query, "timeoutSeconds");
  if (!seconds.ok) return refuse(request, seconds.error);
  const problem = await bootstrapProblem(request);
  if (problem) return refuse(request, problem);
  const { namespace, name } = request.info;
  const found = await call(() => store(request).get({ namespace, name }, ""), { what: "nodes.get", repeatable: true });
  if (!found.ok) return refuse(request, found.error);
  if (!found.value.ok) return refuse(request, found.value.status);
  const zone = (JSON.parse(found.value.object) as Node).metadata?.labels?.[LABEL_ZONE];
  const endMs = begunMs + Math.min(seconds.value * 1000, POLL_MAX_MS, request.timeoutMs || Infinity);
  const etag = request.request.headers.get("If-None-Match");
  const polled = { node: { name, zone }, ...(etag ? { etag } : {}) };
  waits.notePoll(request.info.cluster);
  const answer = await longPoll(request, polled, endMs);
  return answer.ok ? collectionResponse(request, answer.value) : refuse(request, answer.error);
}

/** One call after the other until the view has news, or the time is over: none of them lasts as long as a call may. */
async function longPoll(request: ResourceRequest, polled: Omit<Poll, "waitMs">, endMs: number): Promise<Result<Response, Status>> {
  const { env, info } = request;
  const { signal } = request.request;
  for (;;) {
    const askedMs = Date.now();
    const leftMs = waits.isStopping ? 0 : endMs - askedMs;
    const waitMs = Math.min(leftMs, POLL_STEP_MS);
    const headers = { [POLL_HEADER]: encodePoll({ ...polled, waitMs }) };
    const attempt = () => proxyView(env, info.cluster).fetch(new Request(VIEW_URL, { headers, signal }));
    const answer = await call(attempt, { what: "proxyView.poll", repeatable: true });
    // A view that is closed answers before the time is over.
    const isOver = leftMs <= POLL_STEP_MS || Date.now() - askedMs < waitMs / 2 || signal.aborted;
    if (!answer.ok || answer.value.status !== 304 || isOver) return answer;
  }
}
