/** The pass of the controller "namespaces": empties namespaces that are being deleted and lets them go. */
import { withTimeout } from "../src/core/base/timeout";
import {
  deleteNamespaces,
  type NamespaceDeletionPorts,
  type TerminatingNamespace,
  withoutFinalizer,
} from "../src/controllers/namespaces/namespace-deletion";
import { conditionsAfter } from "../src/controllers/namespaces/namespace-conditions";
import type { Namespace } from "../src/api/meta/kubernetes";
import type { CollectionRequest, WriteOptions } from "../src/api/rpc/store";
import { COLLECTION_HEADER, encodeCollection } from "../src/api/store/collection-header";
import type { ControllerPass, ControllerSetting } from "./controller";
import { contentStores, namespacesStore } from "./peers";
import { systemClock } from "./ports";

/** Emptying a namespace of many objects takes longer than a usual call; what comes late does no harm. */
const CALL_TIMEOUT_MS = 60_000;

const OPTIONS: WriteOptions = {
  dryRun: false,
  fieldManager: "namespace-controller",
  fieldValidation: "Ignore",
  force: false,
  group: "",
  version: "v1",
};

const TERMINATING: CollectionRequest = {
  verb: "list",
  namespace: "",
  labelSelector: "",
  fieldSelector: "status.phase=Terminating",
  limit: 0,
  continueToken: "",
  resourceVersion: "",
  resourceVersionMatch: "",
  allowWatchBookmarks: false,
  sendInitialEvents: false,
  timeoutSeconds: 0,
  group: "",
  version: "v1",
  resource: "namespaces",
  representation: { as: "object" },
};

/** What is not finished is left for the next pass. */
export function namespaceDeletionPass(setting: ControllerSetting): ControllerPass {
  return async () => {
    const status = await deleteNamespaces(portsOf(setting));
    return { left: status.seen > status.finished };
  };
}

function portsOf(setting: ControllerSetting): NamespaceDeletionPorts {
  return {
    recorder: setting.recorder,
    terminating: () => terminating(setting),
    content: contentStores(setting.env, setting.cluster).map(({ group, resource, store }) => ({
      group,
      resource,
      close: (name, uid) => answered(store().closeNamespace(name, uid)),
      empty: (name, uid) => answered(store().emptyNamespace(name, uid)),
    })),
    report: (namespace, progress) =>
      change(setting, namespace, "status", (stored) => {
        const conditions = conditionsAfter(progress, stored.status?.conditions ?? [], systemClock.now());
        return conditions && { ...stored, status: { ...stored.status, conditions } };
      }),
    finalize: (namespace) => change(setting, namespace, "finalize", withoutFinalizer),
  };
}

/** Writes what `changed` makes of the namespace, unless that is undefined. Conflicts reject: the next pass looks at the namespace anew. */
async function change(
  { env, cluster }: ControllerSetting,
  { name, uid }: TerminatingNamespace,
  subresource: "status" | "finalize",
  changed: (stored: Namespace) => Namespace | undefined,
): Promise<void> {
  const key = { namespace: "", name };
  const found = await answered(namespacesStore(env, cluster).get(key, ""));
  if (!found.ok) {
    if (found.status.code === 404) return;
    throw new Error(found.status.message);
  }
  const namespace = JSON.parse(found.object) as Namespace;
  if (namespace.metadata?.uid !== uid) return;
  const wanted = changed(namespace);
  if (!wanted) return;
  const object = JSON.stringify(wanted);
  const request = { verb: "update", key, subresource, object, options: OPTIONS } as const;
  const result = await answered(namespacesStore(env, cluster).write(request));
  if (!result.ok && result.status.code !== 404) throw new Error(result.status.message);
}

async function terminating({ env, cluster }: ControllerSetting): Promise<TerminatingNamespace[]> {
  const headers = { [COLLECTION_HEADER]: encodeCollection(TERMINATING) };
  const response = await answered(namespacesStore(env, cluster).fetch(new Request("http://store/collection", { headers })));
  if (!response.ok) throw new Error(`the namespaces store answered ${response.status}`);
  const list = await response.json<{ items?: Namespace[] }>();
  return (list.items ?? []).map(({ metadata }) => ({ name: metadata?.name ?? "", uid: metadata?.uid ?? "" }));
}

function answered<T>(call: Promise<T>): Promise<T> {
  return withTimeout(systemClock, CALL_TIMEOUT_MS, call);
}
