/** The call that create, update, patch and delete have in common. */
import { err, ok, type Result } from "../../core/base/result";
import type { Status } from "../../api/meta/status";
import type { KubeObject } from "../../api/meta/kubernetes";
import type { ObjectKey, WriteRequest } from "../../api/rpc/store";
import { judgedWrite, type RefusedWrite, type SuccessfulWrite } from "../access/judged-write";
import { judgesOf } from "./judges";
import { call } from "../routing/call";
import { bootstrapProblem, callName, type ResourceRequest, store } from "./resource-request";
import { shownStatus } from "./answer";

/**
 * One write at the request's store. Only a dry run may be sent twice: the repetition of a write that succeeded unheard would be answered as a
 * conflict.
 */
export async function write(request: ResourceRequest, wanted: WriteRequest): Promise<Result<SuccessfulWrite, RefusedWrite>> {
  const problem = await bootstrapProblem(request);
  if (problem) return err({ status: problem, warnings: [] });
  const judges = judgesOf(request, wanted);
  if (judges.all.length === 0) return send(request, wanted);
  const asked = { read: (key: ObjectKey) => read(request, key), write: (one: WriteRequest) => send(request, one) };
  try {
    return await judgedWrite(wanted, asked, judges.all, request.info.definition);
  } finally {
    judges.end();
  }
}

async function read(request: ResourceRequest, key: ObjectKey): Promise<Result<KubeObject | undefined, Status>> {
  const what = `${request.info.definition.resource}.get`;
  const answer = await call(() => store(request).get(key, ""), { what, repeatable: true, timeoutMs: request.timeoutMs });
  if (!answer.ok) return answer;
  const { value: found } = answer;
  if (found.ok) return ok(JSON.parse(found.object) as KubeObject);
  return found.status.code === 404 ? ok(undefined) : err(found.status);
}

async function send(request: ResourceRequest, wanted: WriteRequest): Promise<Result<SuccessfulWrite, RefusedWrite>> {
  const answer = await call(() => store(request).write(wanted), {
    what: callName(request),
    repeatable: wanted.options.dryRun,
    timeoutMs: request.timeoutMs,
  });
  if (!answer.ok) return err({ status: answer.error, warnings: [] });
  const result = answer.value;
  return result.ok ? ok(result) : err({ status: shownStatus(request.info, result.status), warnings: result.warnings });
}
