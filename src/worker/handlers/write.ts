/** The call that create, update, patch and delete have in common. */
import { err, ok, type Result } from "../../core/base/result";
import type { Status } from "../../api/meta/status";
import type { KubeObject } from "../../api/meta/kubernetes";
import { ROOT_CLUSTER } from "../../api/registry/clusters/cluster";
import { clustersDefinition } from "../../api/registry/clusters/definition";
import type { ObjectKey, WriteRequest } from "../../api/rpc/store";
import { judgedWrite, type RefusedWrite, type SuccessfulWrite } from "../access/judged-write";
import { judgesOf } from "./judges";
import { mayCreate } from "./may-create";
import { call } from "../routing/call";
import { bootstrapProblem, callName, type ResourceRequest, store } from "./resource-request";
import { shownStatus } from "./answer";

/**
 * One write at the request's store. Only a dry run may be sent twice: the repetition of a write that succeeded unheard would be answered as a
 * conflict.
 */
export async function write(request: ResourceRequest, wanted: WriteRequest): Promise<Result<SuccessfulWrite, RefusedWrite>> {
  const problem = (await bootstrapProblem(request)) ?? (await firstReadProblem(request, wanted));
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

/**
 * Clusters of an earlier release get their objects before somebody reads Clusters. A create waits for that as a read does: otherwise it made an object
 * for a cluster that is there, and took that over. The store cannot make its own controller wait, whose writes these objects are.
 */
async function firstReadProblem(request: ResourceRequest, wanted: WriteRequest): Promise<Status | undefined> {
  const { info } = request;
  if (info.definition !== clustersDefinition || !mayCreate(info, wanted.verb === "patch" ? wanted.patchType : undefined)) return undefined;
  const found = await read(request, { namespace: "", name: ROOT_CLUSTER });
  return found.ok ? undefined : found.error;
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
