/** From a changed object and the stored one to what would be stored. Order of checks: upstream registry/generic/registry/store.go (Update). */
import { parseJson } from "../../../core/encoding/exact-json";
import type { KubeObject, ObjectMeta } from "../../meta/kubernetes";
import { isNoRevision, resourceVersionRequired, revisionProblem, uidConflict } from "../../meta/preconditions";
import { conflict, type Status, unclassified } from "../../meta/status";
import { isGone } from "../../registry/delete-order";
import type { ResourceDefinition } from "../../registry/resource";
import type { Subresource, WriteOptions } from "../../rpc/store";
import type { FieldWriter } from "../state/field-tracking";
import { contextOf, type PrepareFacts, type Prepared, putOf, refuse } from "./prepared";
import type { StoredObject } from "../state/store-storage";
import { beforeFinalizeUpdate, beforeStatusUpdate, beforeUpdate } from "./strategy-order";

interface UpdateOrder {
  subresource: Subresource;
  options: WriteOptions;
  /** undefined = managedFields are settled */
  writer: FieldWriter | undefined;
  /** of a PUT a foreign uid is a conflict; of a patch it is a changed field (apiserver registry/rest/update.go) */
  judgesUid: boolean;
  warnings: string[];
}

export function prepareUpdate(after: KubeObject, current: StoredObject, order: UpdateOrder, facts: PrepareFacts): Prepared {
  const { definition } = facts;
  const { subresource, options, writer, judgesUid, warnings } = order;
  const before = parseJson(current.data) as KubeObject;
  const why = checkConcurrency(after.metadata ?? {}, current, definition, judgesUid);
  if (why) return refuse(why, warnings);
  const change = { after, before };
  const rules = subresource === "status" ? beforeStatusUpdate : subresource === "finalize" ? beforeFinalizeUpdate : beforeUpdate;
  const verdict = rules(definition, change, contextOf(options, facts), writer);
  if (!verdict.ok) return refuse(verdict.error, warnings);
  const all = warnings.concat(verdict.value);
  (after.metadata ??= {}).resourceVersion = before.metadata?.resourceVersion;
  if (isGone(definition, after)) return { kind: "remove", key: current.key, before, last: after, dryRun: options.dryRun, warnings: all };
  return putOf(current, { after, before, code: 200, dryRun: options.dryRun, warnings: all });
}

function checkConcurrency(
  metadata: ObjectMeta,
  current: StoredObject,
  definition: ResourceDefinition,
  judgesUid: boolean,
): Status | undefined {
  const name = metadata.name ?? "";
  if (judgesUid && metadata.uid && metadata.uid !== current.uid) {
    return uidConflict(definition, current.key, { given: metadata.uid, stored: current.uid });
  }
  const { resourceVersion = "" } = metadata;
  const problem = revisionProblem(resourceVersion);
  if (problem !== undefined) return unclassified(problem);
  if (isNoRevision(resourceVersion)) {
    return definition.allowUnconditionalUpdate ? undefined : resourceVersionRequired(definition, name);
  }
  return resourceVersion.replace(/^0+/, "") === String(current.revision) ? undefined : conflict(definition, name);
}
