/**
 * Which controllers run: kube-controller-manager's flag `--controllers`, its names and its aliases
 * (upstream 1.36: cmd/kube-controller-manager/names, the descriptors in cmd/kube-controller-manager/app, controller-manager/app/helper.go).
 */
import { err, ok, type Result } from "../base/result";

/** Every controller of upstream -> its older name, "" where it has none. What of them this server runs is in durable-objects/platform/controllers.ts. */
const ALIASES = {
  "serviceaccount-token-controller": "serviceaccount-token",
  "endpoints-controller": "endpoint",
  "endpointslice-controller": "endpointslice",
  "endpointslice-mirroring-controller": "endpointslicemirroring",
  "replicationcontroller-controller": "replicationcontroller",
  "pod-garbage-collector-controller": "podgc",
  "resourcequota-controller": "resourcequota",
  "namespace-controller": "namespace",
  "serviceaccount-controller": "serviceaccount",
  "garbage-collector-controller": "garbagecollector",
  "daemonset-controller": "daemonset",
  "job-controller": "job",
  "podgroup-protection-controller": "",
  "deployment-controller": "deployment",
  "replicaset-controller": "replicaset",
  "horizontal-pod-autoscaler-controller": "horizontalpodautoscaling",
  "disruption-controller": "disruption",
  "statefulset-controller": "statefulset",
  "cronjob-controller": "cronjob",
  "certificatesigningrequest-signing-controller": "csrsigning",
  "certificatesigningrequest-approving-controller": "csrapproving",
  "certificatesigningrequest-cleaner-controller": "csrcleaner",
  "podcertificaterequest-cleaner-controller": "",
  "ttl-controller": "ttl",
  "bootstrap-signer-controller": "bootstrapsigner",
  "token-cleaner-controller": "tokencleaner",
  "node-ipam-controller": "nodeipam",
  "node-lifecycle-controller": "nodelifecycle",
  "service-lb-controller": "service",
  "node-route-controller": "route",
  "cloud-node-lifecycle-controller": "cloud-node-lifecycle",
  "persistentvolume-binder-controller": "persistentvolume-binder",
  "persistentvolume-attach-detach-controller": "attachdetach",
  "persistentvolume-expander-controller": "persistentvolume-expander",
  "clusterrole-aggregation-controller": "clusterrole-aggregation",
  "persistentvolumeclaim-protection-controller": "pvc-protection",
  "persistentvolume-protection-controller": "pv-protection",
  "volumeattributesclass-protection-controller": "",
  "ttl-after-finished-controller": "ttl-after-finished",
  "root-ca-certificate-publisher-controller": "root-ca-cert-publisher",
  "kube-apiserver-serving-clustertrustbundle-publisher-controller": "",
  "ephemeral-volume-controller": "ephemeral-volume",
  "storageversion-garbage-collector-controller": "storage-version-gc",
  "resourceclaim-controller": "resource-claim-controller",
  "resourcepoolstatusrequest-controller": "",
  "device-taint-eviction-controller": "",
  "legacy-serviceaccount-token-cleaner-controller": "legacy-service-account-token-cleaner",
  "validatingadmissionpolicy-status-controller": "",
  "taint-eviction-controller": "",
  "service-cidr-controller": "",
  "storage-version-migrator-controller": "svm",
  "selinux-warning-controller": "",
} as const satisfies Readonly<Record<string, string>>;

/** The name of a controller as upstream has it. */
export type UpstreamController = keyof typeof ALIASES;

/**
 * It has no switch. The Ready condition and the finalizer of a ServiceCIDR are steps of how its addresses are given out (docs/internals/protocol.md, rules 14
 * and 16), in the transactions of the Coordinator.
 */
export const SERVICE_CIDR_CONTROLLER: UpstreamController = "service-cidr-controller";

/** `*`, names, and names behind a `-`; no aliases. */
export type ControllerList = readonly string[];

/** What the objects of a cluster are told. `version` grows with each change. */
export interface ControllersSetting {
  version: number;
  /** the cluster's own; null = that of the variable */
  list: ControllerList | null;
}

/** The list that runs every controller. */
export const ALL_CONTROLLERS: ControllerList = ["*"];

/** The text of the variable: entries with commas between them. */
export function parseControllers(text: string): Result<ControllerList, string[]> {
  return checkControllers(text.split(",").map((entry) => entry.trim()));
}

/**
 * The entries with names in place of aliases, or all mistakes. A mistake is a name that upstream does not know, in upstream's words, and a list
 * that leaves out service-cidr-controller.
 */
export function checkControllers(entries: readonly string[]): Result<ControllerList, string[]> {
  const errors: string[] = [];
  const list = entries.map((entry) => {
    if (entry === "*") return entry;
    const isOff = entry.startsWith("-");
    const given = isOff ? entry.slice(1) : entry;
    const name = nameOf(given);
    if (name === undefined) errors.push(`${JSON.stringify(given)} is not in the list of known controllers`);
    return (isOff ? "-" : "") + (name ?? given);
  });
  if (errors.length === 0 && !isControllerEnabled(list, SERVICE_CIDR_CONTROLLER)) {
    errors.push(
      `${SERVICE_CIDR_CONTROLLER} has no switch: the Ready condition and the finalizer of a ServiceCIDR are part of how its addresses are given out; ` +
        "list it, or *. That of kube-controller-manager may run beside it",
    );
  }
  return errors.length > 0 ? err(errors) : ok(list);
}

/** Whether the list runs the controller: its first entry that names it decides, otherwise a `*` anywhere. */
export function isControllerEnabled(list: ControllerList, name: UpstreamController): boolean {
  const own = list.find((entry) => entry === name || entry === `-${name}`);
  return own === undefined ? list.includes("*") : own === name;
}

function nameOf(given: string): string | undefined {
  if (Object.hasOwn(ALIASES, given)) return given;
  if (given === "") return undefined;
  return Object.entries(ALIASES).find(([, alias]) => alias === given)?.[0];
}
