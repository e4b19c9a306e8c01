/** The call that create, update, patch and delete have in common. */
import { err, ok, type Result } from "../../core/base/result";
import type { Status } from "../../api/meta/status";
import type { WriteRequest, WriteResult } from "../../api/rpc/store";
import { call } from "../routing/call";
import { bootstrapProblem, callName, type ResourceRequest, store } from "./resource-request";
import { shownStatus } from "./answer";

export interface Refusal {
  status: Status;
  warnings: readonly string[];
}

export type Written = Extract<WriteResult, { ok: true }>;

/**
 * One write at the request's store. Only a dry run may be sent twice: the repetition of a write that succeeded unheard would be answered as a
 * conflict.
 */
export async function write(request: ResourceRequest, wanted: WriteRequest): Promise<Result<Written, Refusal>> {
  const problem = await bootstrapProblem(request);
  if (problem) return err({ status: problem, warnings: [] });
  const answer = await call(() => store(request).write(wanted), {
    what: callName(request),
    repeatable: wanted.options.dryRun,
    timeoutMs: request.timeoutMs,
  });
  if (!answer.ok) return err({ status: answer.error, warnings: [] });
  const result = answer.value;
  return result.ok ? ok(result) : err({ status: shownStatus(request.info, result.status), warnings: result.warnings });
}
