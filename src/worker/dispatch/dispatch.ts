/** A request inside a served group and version -> its one handler. The kind of its target decides (../routing/routes.ts, TARGET_ROUTES). */
import { negotiateStatus } from "../http/negotiate/negotiate";
import { renderingOf } from "../http/answer/respond";
import type { RequestTarget, TargetKind } from "../routing/request-info";
import type { PathRequest } from "../system/path-request";
import { counting, deprecationsOf } from "./counted";
import { TARGETS, type TargetAnswer } from "./targets";

/** `target`: that of the request's path and method. */
export function dispatch<K extends TargetKind>(path: PathRequest, target: RequestTarget<K>): Promise<Response> {
  const { asked, answer }: TargetAnswer<K> = TARGETS[target.kind];
  const { headers } = path.request;
  const { url } = path;
  const userAgent = headers.get("User-Agent") ?? "";
  const accept = headers.get("Accept");
  const refusal = renderingOf(negotiateStatus(accept), url.query, userAgent);
  const count = counting(url, { ...asked(target), headers }, "info" in target ? deprecationsOf(target.info) : []);
  return answer({ ...path, userAgent, accept, refusal, count }, target);
}
