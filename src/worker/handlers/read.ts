/** The call that get and the read half of a translated patch have in common. */
import { err, type Result } from "../../base/result";
import type { Status } from "../../meta/status";
import { PEER_TIMEOUT_MS } from "../limits";
import { call } from "../peers";
import { bootstrapProblem, callName, type ResourceRequest, store } from "../resource-request";
import { shownStatus } from "../answer";

/** The stored text of the named object; `resourceVersion` as in StoreRpc.get. */
export async function read(request: ResourceRequest, resourceVersion: string): Promise<Result<string, Status>> {
  const problem = await bootstrapProblem(request);
  if (problem) return err(problem);
  const { namespace, name } = request.info;
  const answer = await call(() => store(request).get({ namespace, name }, resourceVersion), {
    what: callName(request),
    repeatable: true,
    timeoutMs: request.timeoutMs || PEER_TIMEOUT_MS,
  });
  if (!answer.ok) return answer;
  return answer.value.ok ? { ok: true, value: answer.value.object } : err(shownStatus(request.info, answer.value.status));
}
