/** Labels that a node may not give itself: they would steer workloads to it. Source: upstream plugin/pkg/admission/noderestriction, k8s.io/kubelet pkg/apis. */

const OWN_LABELS = [
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
  "beta.kubernetes.io/instance-type",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
];
const OWN_DOMAINS = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const KUBERNETES_DOMAINS = ["kubernetes.io", "k8s.io"];
const RESTRICTED_DOMAIN = "node-restriction.kubernetes.io";

type Labels = Readonly<Record<string, string>>;

/** The keys, sorted, that the change adds, removes or changes although they are not the node's. */
export function forbiddenLabels(before: Labels, after: Labels): string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.filter((key) => valueOf(before, key) !== valueOf(after, key) && isForbidden(key)).sort();
}

function isForbidden(key: string): boolean {
  const slash = key.indexOf("/");
  const domain = slash < 0 ? "" : key.slice(0, slash);
  const isIn = (domains: readonly string[]): boolean => domains.some((one) => domain === one || domain.endsWith(`.${one}`));
  if (isIn([RESTRICTED_DOMAIN])) return true;
  return isIn(KUBERNETES_DOMAINS) && !OWN_LABELS.includes(key) && !isIn(OWN_DOMAINS);
}

function valueOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
