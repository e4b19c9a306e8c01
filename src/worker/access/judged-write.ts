/**
 * Writes that are judged by the object that they would make. Only the store applies patches and defaults, so it is called twice: a dry run shows the
 * object, and the write names the revision that was judged. A change in between is a conflict, and the judgement begins again. Upstream judges in the
 * turn of the write: admission plugins, pkg/registry/rbac policybased.
 */
import { parseJson } from "../../core/encoding/exact-json";
import { err, ok, type Result } from "../../core/base/result";
import type { KubeObject, ObjectMeta } from "../../api/meta/kubernetes";
import { conflict, type ResourceName, type Status } from "../../api/meta/status";
import type { ObjectKey, WriteRequest, WriteResult } from "../../api/rpc/store";

export type SuccessfulWrite = Extract<WriteResult, { ok: true }>;

export interface RefusedWrite {
  status: Status;
  warnings: readonly string[];
}

export type JudgedResult = Result<SuccessfulWrite, RefusedWrite>;

/** Why the write must not be; `before` undefined = it creates, `after` undefined = it deletes. */
export type WriteJudge = (
  before: KubeObject | undefined,
  after: KubeObject | undefined,
) => Promise<Status | undefined> | Status | undefined;

/** The store, as a judged write asks it. */
export interface JudgedStore {
  /** undefined = there is none */
  read(key: ObjectKey): Promise<Result<KubeObject | undefined, Status>>;
  write(wanted: WriteRequest): Promise<JudgedResult>;
}

/** Changes by others between the judgement and the write; then the client hears of the conflict. */
const ATTEMPTS_MAX = 5;

/** The written object, or the first refusal of a judge or of the store. */
export async function judgedWrite(
  wanted: WriteRequest,
  store: JudgedStore,
  judges: readonly WriteJudge[],
  of: ResourceName,
): Promise<JudgedResult> {
  let before = await objectOf(wanted, store);
  for (let attempt = 1; ; attempt++) {
    if (!before.ok) return err({ status: before.error, warnings: [] });
    const shown = await shownBy(wanted, store);
    if (!shown.ok) return shown;
    for (const judge of judges) {
      const problem = await judge(before.value, shown.value);
      if (problem) return err({ status: problem, warnings: [] });
    }
    const named = before.value ? revisionIn(wanted) : "";
    // Otherwise the object of a later revision, which nobody has judged, might be the one that the client names.
    if (named !== "" && named !== before.value?.metadata?.resourceVersion) {
      return err({ status: conflict(of, before.value?.metadata?.name ?? ""), warnings: [] });
    }
    const written = await store.write(before.value ? pinnedTo(wanted, before.value) : wanted);
    // A revision that the client itself named is the client's to mend.
    if (written.ok || named !== "" || !before.value || attempt === ATTEMPTS_MAX) return written;
    const now = await objectOf(wanted, store);
    if (now.ok && now.value?.metadata?.resourceVersion === before.value?.metadata?.resourceVersion) return written;
    before = now;
  }
}

function objectOf(wanted: WriteRequest, store: JudgedStore): Promise<Result<KubeObject | undefined, Status>> {
  return wanted.verb === "create" ? Promise.resolve(ok(undefined)) : store.read(wanted.key);
}

/** The object that the write would make; undefined = it deletes. */
async function shownBy(wanted: WriteRequest, store: JudgedStore): Promise<Result<KubeObject | undefined, RefusedWrite>> {
  if (wanted.verb === "delete" || wanted.verb === "act") return ok(undefined);
  const tried = await store.write({ ...wanted, options: { ...wanted.options, dryRun: true } });
  return tried.ok ? ok(JSON.parse(tried.value.object) as KubeObject) : tried;
}

/** The same write for this object and this revision of it alone. */
function pinnedTo(wanted: WriteRequest, before: KubeObject): WriteRequest {
  const { resourceVersion = "", uid = "" } = before.metadata ?? {};
  switch (wanted.verb) {
    case "update":
      return { ...wanted, object: withIdentity(wanted.object, { uid, resourceVersion }) };
    case "patch":
      if (wanted.patchType === "json") return { ...wanted, patch: withTest(wanted.patch, resourceVersion) };
      return { ...wanted, patch: withIdentity(wanted.patch, { uid, resourceVersion }) };
    case "delete": {
      const { options } = wanted;
      return { ...wanted, options: { ...options, preconditions: { uid, resourceVersion, ...options.preconditions } } };
    }
    default:
      return wanted;
  }
}

/** The revision that the client itself names, ""  = none. A JSON patch names one by a test, which the store makes. */
function revisionIn(wanted: WriteRequest): string {
  switch (wanted.verb) {
    case "update":
      return metadataIn(wanted.object).resourceVersion ?? "";
    case "patch":
      return wanted.patchType === "json" ? "" : (metadataIn(wanted.patch).resourceVersion ?? "");
    case "delete":
      return wanted.options.preconditions.resourceVersion ?? "";
    default:
      return "";
  }
}

function metadataIn(text: string): ObjectMeta {
  return (parseJson(text) as KubeObject).metadata ?? {};
}

/** What the client says of the object's identity stays. */
function withIdentity(text: string, identity: ObjectMeta): string {
  const object = parseJson(text) as KubeObject;
  const { uid = "", resourceVersion = "" } = object.metadata ?? {};
  const own = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
  return JSON.stringify({ ...object, metadata: { ...object.metadata, ...identity, ...own } });
}

function withTest(patch: string, resourceVersion: string): string {
  const test = { op: "test", path: "/metadata/resourceVersion", value: resourceVersion };
  return JSON.stringify([test, ...(parseJson(patch) as unknown[])]);
}
