import { expect, it } from "vitest";
import { type ResourceAttributes, resourceAttributes } from "../../../../src/access/authorization/attributes";
import { AGENTS, MASTERS, NODES, type User } from "../../../../src/access/identity/user";
import { restrictNodeWrite } from "../../../../src/access/nodes/restrict-node-write";
import type { KubeObject, OwnerReference, Pod } from "../../../../src/api/meta/kubernetes";

const NODE: User = { name: "system:node:n", uid: "", groups: [NODES], extra: {} };
const AGENT: User = { name: "servicenet:agent:n", uid: "", groups: [AGENTS], extra: {} };
const OTHER: User = { name: "alice", uid: "", groups: [MASTERS], extra: {} };

type Asked = Partial<ResourceAttributes> & Pick<ResourceAttributes, "verb">;
interface Row {
  readonly title: string;
  readonly asked: Asked;
  readonly before?: KubeObject;
  readonly after?: KubeObject;
  /** undefined = it may */
  readonly node: string | undefined;
  /** absent: the same expectation as for the node */
  readonly agent?: string | null;
}

const nodeObject = (labels: Record<string, string> = {}, spec: object = {}, ownerReferences?: OwnerReference[]): KubeObject =>
  ({ metadata: { name: "n", labels, ...(ownerReferences && { ownerReferences }) }, spec }) as KubeObject;
const OWNER: OwnerReference = { apiVersion: "v1", kind: "Node", name: "n", uid: "u", controller: true };
const pod = (nodeName: string, spec: object = {}, metadata: object = {}): Pod =>
  ({ metadata: { name: "p", namespace: "default", ...metadata }, spec: { nodeName, containers: [], ...spec } }) as Pod;
const mirror = (spec: object = {}, ownerReferences: OwnerReference[] = [OWNER], nodeName = "n"): Pod =>
  pod(nodeName, spec, { annotations: { "kubernetes.io/config.mirror": "hash" }, ownerReferences });
const lease = (name: string): KubeObject => ({ metadata: { name, namespace: "kube-node-lease" } });

const nodes = (verb: string, name = "n", subresource = ""): Asked => ({ verb, resource: "nodes", name, subresource });
const pods = (verb: string, subresource = ""): Asked => ({ verb, resource: "pods", namespace: "default", name: "p", subresource });
const leases = (verb: string, name = "n", namespace = "kube-node-lease"): Asked => ({
  verb,
  group: "coordination.k8s.io",
  resource: "leases",
  namespace,
  name,
});

const ONLY_MIRROR = 'pod does not have "kubernetes.io/config.mirror" annotation, node "n" can only create mirror pods';
const BIND = 'node "n" can only create pods with spec.nodeName set to itself';
const OWN = 'node "n" can only create pods with an owner reference set to itself';
const NO_OWNER = 'node "n" can only create pods without an owner reference';
const LEASE_NAME = "can only access node lease with the same name as the requesting node";
const noMirrorUpdate = 'unexpected operation "UPDATE", node "n" can only create and delete mirror pods';
const referring = (what: string): string => `node "n" can not create pods that reference ${what}`;
const container = (members: object): object => ({ containers: [{ name: "c", ...members }] });
const volume = (members: object): object => ({ volumes: [{ name: "v", ...members }] });
/** A creation of such a Pod, as a mirror Pod by the node and as a plain one by the agent. */
const createPods = (title: string, spec: object, problem: string | undefined): Row[] => [
  { title: `${title}, mirror`, asked: pods("create"), after: mirror(spec), node: problem, agent: NO_OWNER },
  { title: `${title}, plain`, asked: pods("create"), after: pod("n", spec), node: ONLY_MIRROR, agent: problem ?? null },
];

const TAINTED = { taints: [{ key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" }] };
const ROWS: readonly Row[] = [
  { title: "creates its Node", asked: nodes("create"), after: nodeObject({ "kubernetes.io/os": "linux", a: "b" }), node: undefined },
  { title: "creates its Node without a name in the attributes", asked: nodes("create", ""), after: nodeObject(), node: undefined },
  {
    title: "creates another Node",
    asked: nodes("create", ""),
    after: { metadata: { name: "m" } },
    node: 'node "n" is not allowed to modify node "m"',
  },
  {
    title: "creates its Node with a label of others",
    asked: nodes("create"),
    after: nodeObject({ "node-role.kubernetes.io/master": "", "x.k8s.io/a": "1", "kubelet.kubernetes.io/a": "1" }),
    node: 'node "n" is not allowed to set the following labels: node-role.kubernetes.io/master, x.k8s.io/a',
  },
  {
    title: "creates its Node with a configSource",
    asked: nodes("create"),
    after: nodeObject({}, { configSource: { configMap: { name: "c" } } }),
    node: 'node "n" is not allowed to create pods with a non-nil configSource',
  },
  { title: "creates its Node with taints", asked: nodes("create"), after: nodeObject({}, TAINTED), node: undefined },
  {
    title: "updates another Node",
    asked: nodes("update", "m"),
    before: { metadata: { name: "m" } },
    after: { metadata: { name: "m" } },
    node: 'node "n" is not allowed to modify node "m"',
  },
  {
    title: "updates the status of another Node",
    asked: nodes("patch", "m", "status"),
    before: { metadata: { name: "m" } },
    after: { metadata: { name: "m" } },
    node: 'node "n" is not allowed to modify node "m"',
  },
  { title: "reports of its Node", asked: nodes("update", "n", "proxy-health"), node: undefined },
  {
    title: "reports of another Node",
    asked: nodes("update", "m", "proxy-health"),
    node: 'node "n" is not allowed to modify node "m"',
  },
  {
    title: "updates labels of its own",
    asked: nodes("update"),
    before: nodeObject({ a: "1" }),
    after: nodeObject({ b: "1" }),
    node: undefined,
  },
  {
    title: "updates a label of others",
    asked: nodes("update"),
    before: nodeObject({ "node-restriction.kubernetes.io/a": "1", "kubernetes.io/b": "1" }),
    after: nodeObject({ "node-restriction.kubernetes.io/a": "2", "topology.kubernetes.io/zone": "z" }),
    node: "is not allowed to modify labels: kubernetes.io/b, node-restriction.kubernetes.io/a",
  },
  {
    title: "keeps labels and taints of others",
    asked: nodes("update"),
    before: nodeObject({ "kubernetes.io/b": "1" }, TAINTED, [OWNER]),
    after: nodeObject({ "kubernetes.io/b": "1", c: "1" }, TAINTED, [OWNER]),
    node: undefined,
  },
  {
    title: "adds a taint",
    asked: nodes("update"),
    before: nodeObject(),
    after: nodeObject({}, TAINTED),
    node: 'node "n" is not allowed to modify taints',
    agent: null,
  },
  {
    title: "adds an owner",
    asked: nodes("update"),
    before: nodeObject(),
    after: nodeObject({}, {}, [OWNER]),
    node: 'node "n" is not allowed to modify ownerReferences',
  },
  {
    title: "adds a configSource",
    asked: nodes("update"),
    before: nodeObject(),
    after: nodeObject({}, { configSource: { configMap: { name: "c" } } }),
    node: 'node "n" is not allowed to update configSource to a new non-nil configSource',
  },
  { title: "deletes its Node", asked: nodes("delete"), before: nodeObject(), node: undefined },
  {
    title: "deletes another Node with all",
    asked: nodes("deletecollection", ""),
    before: { metadata: { name: "m" } },
    node: 'node "n" is not allowed to modify node "m"',
  },

  ...createPods("creates a Pod", { automountServiceAccountToken: false, nodeSelector: { secret: "yes" } }, undefined),
  ...createPods("creates a Pod with a service account", { serviceAccountName: "default" }, referring("a service account")),
  ...createPods("creates a Pod with a secret volume", volume({ secret: { secretName: "s" } }), referring("secrets")),
  ...createPods(
    "creates a Pod with a CSI secret",
    volume({ csi: { driver: "d", nodePublishSecretRef: { name: "s" } } }),
    referring("secrets"),
  ),
  ...createPods("creates a Pod with pull secrets", { imagePullSecrets: [{ name: "s" }] }, referring("secrets")),
  ...createPods("creates a Pod without pull secrets", { imagePullSecrets: [] }, undefined),
  ...createPods(
    "creates a Pod with a variable of a Secret",
    container({ env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }] }),
    referring("secrets"),
  ),
  ...createPods(
    "creates a Pod with variables of a ConfigMap",
    container({ envFrom: [{ configMapRef: { name: "c" } }] }),
    referring("configmaps"),
  ),
  ...createPods(
    "creates a Pod with a projected ConfigMap",
    volume({ projected: { sources: [{ configMap: { name: "c" } }] } }),
    referring("configmaps"),
  ),
  ...createPods("creates a Pod with a claim", volume({ persistentVolumeClaim: { claimName: "c" } }), referring("persistentvolumeclaims")),
  ...createPods(
    "creates a Pod with a trust bundle",
    volume({ projected: { sources: [{ clusterTrustBundle: { path: "p" } }] } }),
    referring("clustertrustbundles"),
  ),
  { title: "creates a plain Pod elsewhere", asked: pods("create"), after: pod("m"), node: ONLY_MIRROR, agent: BIND },
  { title: "creates a Pod on no node", asked: pods("create"), after: pod(""), node: ONLY_MIRROR, agent: BIND },
  { title: "creates a mirror Pod elsewhere", asked: pods("create"), after: mirror({}, [OWNER], "m"), node: BIND },
  { title: "creates a mirror Pod without an owner", asked: pods("create"), after: mirror({}, []), node: OWN, agent: null },
  {
    title: "creates a mirror Pod with two owners",
    asked: pods("create"),
    after: mirror({}, [OWNER, OWNER]),
    node: 'node "n" can only create pods with a single owner reference set to itself',
    agent: NO_OWNER,
  },
  {
    title: "creates a mirror Pod of another node",
    asked: pods("create"),
    after: mirror({}, [{ ...OWNER, name: "m" }]),
    node: OWN,
    agent: NO_OWNER,
  },
  {
    title: "creates a mirror Pod of a Pod",
    asked: pods("create"),
    after: mirror({}, [{ ...OWNER, kind: "Pod" }]),
    node: OWN,
    agent: NO_OWNER,
  },
  {
    title: "creates a mirror Pod that its node does not control",
    asked: pods("create"),
    after: mirror({}, [{ ...OWNER, controller: false }]),
    node: 'node "n" can only create pods with a controller owner reference set to itself',
    agent: NO_OWNER,
  },
  {
    title: "creates a mirror Pod that blocks the deletion of its node",
    asked: pods("create"),
    after: mirror({}, [{ ...OWNER, blockOwnerDeletion: true }]),
    node: 'node "n" must not set blockOwnerDeletion on an owner reference',
    agent: NO_OWNER,
  },
  { title: "changes a Pod of its node", asked: pods("patch"), before: pod("n"), after: pod("n"), node: noMirrorUpdate, agent: null },
  {
    title: "changes a Pod of another node",
    asked: pods("patch"),
    before: pod("m"),
    after: pod("m"),
    node: noMirrorUpdate,
    agent: 'node "n" can only update pods with spec.nodeName set to itself',
  },
  {
    title: "takes a Pod of no node",
    asked: pods("update"),
    before: pod(""),
    after: pod("n"),
    node: noMirrorUpdate,
    agent: 'node "n" can only update pods with spec.nodeName set to itself',
  },
  { title: "applies a Pod that is not there", asked: pods("patch"), after: pod("n"), node: ONLY_MIRROR, agent: null },
  { title: "writes the status of a Pod of its node", asked: pods("patch", "status"), before: pod("n"), after: pod("n"), node: undefined },
  {
    title: "writes the status of a Pod of another node",
    asked: pods("patch", "status"),
    before: pod("m"),
    after: pod("m"),
    node: 'node "n" can only update pod status for pods with spec.nodeName set to itself',
  },
  {
    title: "writes labels with a status",
    asked: pods("update", "status"),
    before: pod("n"),
    after: pod("n", {}, { labels: { app: "db" } }),
    node: 'node "n" cannot update labels through pod status',
  },
  { title: "deletes a Pod of its node", asked: pods("delete"), before: pod("n"), node: undefined },
  {
    title: "deletes a Pod of another node",
    asked: pods("delete"),
    before: pod("m"),
    node: 'node "n" can only delete pods with spec.nodeName set to itself',
  },
  {
    title: "deletes a Pod of no node with all",
    asked: pods("deletecollection"),
    before: pod(""),
    node: 'node "n" can only delete pods with spec.nodeName set to itself',
  },
  { title: "evicts a Pod of its node", asked: pods("create", "eviction"), before: pod("n"), node: undefined },
  {
    title: "evicts a Pod of another node",
    asked: pods("create", "eviction"),
    before: pod("m"),
    node: "node n can only evict pods with spec.nodeName set to itself",
  },
  {
    title: "binds a Pod",
    asked: pods("create", "binding"),
    before: pod(""),
    node: "unexpected pod subresource \"binding\", only 'status' and 'eviction' are allowed",
  },

  { title: "creates its Lease", asked: leases("create", ""), after: lease("n"), node: undefined },
  { title: "creates the Lease of another", asked: leases("create", ""), after: lease("m"), node: LEASE_NAME },
  { title: "renews its Lease", asked: leases("update"), before: lease("n"), after: lease("n"), node: undefined },
  { title: "renews the Lease of another", asked: leases("update", "m"), before: lease("m"), after: lease("m"), node: LEASE_NAME },
  { title: "deletes its Lease", asked: leases("delete"), before: lease("n"), node: undefined },
  {
    title: "writes a Lease elsewhere",
    asked: leases("update", "n", "kube-system"),
    before: lease("n"),
    after: lease("n"),
    node: 'can only access leases in the "kube-node-lease" system namespace',
  },
  {
    title: "writes an Event",
    asked: { verb: "create", resource: "events", namespace: "default" },
    after: { metadata: { name: "e" } },
    node: undefined,
  },
];

const problem = (user: User, { asked, before, after }: Row): string | undefined =>
  restrictNodeWrite(user, resourceAttributes({ resource: "", ...asked }), before, after);
const outcome = (text: string | null | undefined): string => (text ? "refused" : "allowed");
const byWriter = ROWS.flatMap((row) => [
  [`a node ${row.title}: ${outcome(row.node)}`, NODE, row, row.node] as const,
  [
    `an agent ${row.title}: ${outcome(row.agent === undefined ? row.node : row.agent)}`,
    AGENT,
    row,
    row.agent === undefined ? row.node : (row.agent ?? undefined),
  ] as const,
]);

it.each(byWriter)("%s", (_, user, row, expected) => {
  expect(problem(user, row)).toBe(expected);
});

it("a user who is no node: nothing is forbidden to him here", () => {
  for (const row of ROWS) expect(problem(OTHER, row)).toBeUndefined();
});

it("a node without a name: every write is refused", () => {
  const nameless = { ...NODE, name: "system:node:" };
  expect(restrictNodeWrite(nameless, resourceAttributes({ verb: "create", resource: "events" }))).toBe(
    'could not determine node from user "system:node:"',
  );
});
