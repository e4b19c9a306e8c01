/** ipam.cluster.x-k8s.io: claims of Cluster API (v1.14), pools of its in-cluster provider (v1alpha2). Upstream they are CRDs, so protobuf has none of them. */
import { Condition, ObjectMeta } from "../meta";
import { always, bool, int32, int64, keyedListOf, kind, listOf, message, plain, pointer, ref, required, string, time } from "../dsl";
import type { MessageSchema } from "../types";

const PREFIX = "io.x-k8s.cluster.ipam";

const PoolReference: MessageSchema = message(
  `${PREFIX}.v1beta2.IPPoolReference`,
  {
    name: required(1, string, "Name of the pool."),
    kind: required(2, string, "Kind of the pool."),
    apiGroup: required(3, string, "API group of the pool."),
  },
  { description: "Names a pool; one of a namespaced kind lies in the namespace of the object." },
);

const ClaimReference: MessageSchema = message(
  `${PREFIX}.v1beta2.IPAddressClaimReference`,
  { name: required(1, string, "Name of the claim.") },
  { description: "Names the claim of an address, in its namespace." },
);

const AddressReference: MessageSchema = message(
  `${PREFIX}.v1beta2.IPAddressReference`,
  { name: required(1, string, "Name of the address.") },
  { description: "Names the address of a claim, in its namespace." },
);

const IPAddressClaimSpec: MessageSchema = message(
  `${PREFIX}.v1beta2.IPAddressClaimSpec`,
  {
    clusterName: plain(1, string, "The cluster that the address is for."),
    poolRef: always(2, ref(PoolReference), "The pool that the address is to come from.", { required: true }),
  },
  { description: "What is claimed. It cannot be changed." },
);

const EarlierCondition: MessageSchema = message(
  `${PREFIX}.v1beta1.Condition`,
  {
    type: required(1, string, "Type of the condition."),
    status: required(2, string, "True, False, or Unknown."),
    severity: plain(3, string, "Error, Warning or Info, where the status is False."),
    lastTransitionTime: always(4, time, "When the status changed last.", { required: true }),
    reason: plain(5, string, "Why, as one word; absent where the status is True."),
    message: plain(6, string, "Why, as a sentence."),
  },
  { description: "What is known of an object, in the form of Cluster API before 1.11." },
);

const EarlierStatus: MessageSchema = message(
  `${PREFIX}.v1beta2.IPAddressClaimV1Beta1DeprecatedStatus`,
  { conditions: plain(1, listOf(ref(EarlierCondition)), "What clients of v1beta1 read as conditions.") },
  { description: "What v1beta1 has in a form of its own." },
);

const DeprecatedStatus: MessageSchema = message(
  `${PREFIX}.v1beta2.IPAddressClaimDeprecatedStatus`,
  { v1beta1: pointer(1, ref(EarlierStatus), "What v1beta1 has in a form of its own.") },
  { description: "What earlier versions have in a form of their own." },
);

const IPAddressClaimStatus: MessageSchema = message(
  `${PREFIX}.v1beta2.IPAddressClaimStatus`,
  {
    conditions: plain(1, keyedListOf(Condition, "type"), "Ready says whether the claim has its address."),
    addressRef: plain(2, ref(AddressReference), "The address of the claim."),
    deprecated: pointer(3, ref(DeprecatedStatus), "What earlier versions have in a form of their own."),
  },
  { description: "What became of a claim." },
);

export const IPAddressClaimSchema: MessageSchema = kind(`${PREFIX}.v1beta2.IPAddressClaim`, "A wish for one address of a pool.", {
  metadata: plain(1, ref(ObjectMeta), "Name, labels, annotations and the other standard metadata of the object."),
  spec: plain(2, ref(IPAddressClaimSpec), "What is claimed.", { required: true }),
  status: plain(3, ref(IPAddressClaimStatus), "What became of it."),
});

const IPAddressSpec: MessageSchema = message(
  `${PREFIX}.v1beta2.IPAddressSpec`,
  {
    claimRef: always(1, ref(ClaimReference), "The claim that has the address.", { required: true }),
    poolRef: always(2, ref(PoolReference), "The pool that the address comes from.", { required: true }),
    address: required(3, string, "The address."),
    prefix: pointer(4, int32, "Length of the prefix of its network.", { required: true }),
    gateway: plain(5, string, "The gateway of its network."),
  },
  { description: "An address of a pool. It cannot be changed." },
);

export const PoolAddressSchema: MessageSchema = kind(`${PREFIX}.v1beta2.IPAddress`, "An address of a pool that a claim has.", {
  metadata: plain(1, ref(ObjectMeta), "Name, labels, annotations and the other standard metadata of the object."),
  spec: plain(2, ref(IPAddressSpec), "The address.", { required: true }),
});

const EarlierPoolReference: MessageSchema = message(
  `${PREFIX}.v1beta1.TypedLocalObjectReference`,
  {
    apiGroup: plain(1, string, "API group of the pool."),
    kind: required(2, string, "Kind of the pool."),
    name: required(3, string, "Name of the pool."),
  },
  { description: "Names a pool; one of a namespaced kind lies in the namespace of the object." },
);

const EarlierClaimSpec: MessageSchema = message(
  `${PREFIX}.v1beta1.IPAddressClaimSpec`,
  {
    clusterName: plain(1, string, "The cluster that the address is for."),
    poolRef: always(2, ref(EarlierPoolReference), "The pool that the address is to come from.", { required: true }),
  },
  { description: "What is claimed. It cannot be changed." },
);

const LaterStatus: MessageSchema = message(
  `${PREFIX}.v1beta1.IPAddressClaimV1Beta2Status`,
  { conditions: plain(1, keyedListOf(Condition, "type"), "What clients of v1beta2 read as conditions.") },
  { description: "What v1beta2 has in a form of its own." },
);

const EarlierClaimStatus: MessageSchema = message(
  `${PREFIX}.v1beta1.IPAddressClaimStatus`,
  {
    addressRef: plain(1, ref(AddressReference), "The address of the claim."),
    conditions: plain(2, listOf(ref(EarlierCondition)), "Ready says whether the claim has its address."),
    v1beta2: pointer(3, ref(LaterStatus), "What v1beta2 has in a form of its own."),
  },
  { description: "What became of a claim." },
);

export const EarlierIPAddressClaimSchema: MessageSchema = kind(`${PREFIX}.v1beta1.IPAddressClaim`, "A wish for one address of a pool.", {
  metadata: plain(1, ref(ObjectMeta), "Name, labels, annotations and the other standard metadata of the object."),
  spec: plain(2, ref(EarlierClaimSpec), "What is claimed.", { required: true }),
  status: plain(3, ref(EarlierClaimStatus), "What became of it."),
});

const EarlierAddressSpec: MessageSchema = message(
  `${PREFIX}.v1beta1.IPAddressSpec`,
  {
    claimRef: always(1, ref(ClaimReference), "The claim that has the address.", { required: true }),
    poolRef: always(2, ref(EarlierPoolReference), "The pool that the address comes from.", { required: true }),
    address: required(3, string, "The address."),
    prefix: pointer(4, int32, "Length of the prefix of its network.", { required: true }),
    gateway: plain(5, string, "The gateway of its network."),
  },
  { description: "An address of a pool. It cannot be changed." },
);

export const EarlierPoolAddressSchema: MessageSchema = kind(`${PREFIX}.v1beta1.IPAddress`, "An address of a pool that a claim has.", {
  metadata: plain(1, ref(ObjectMeta), "Name, labels, annotations and the other standard metadata of the object."),
  spec: plain(2, ref(EarlierAddressSpec), "The address.", { required: true }),
});

const InClusterIPPoolSpec: MessageSchema = message(
  `${PREFIX}.v1alpha2.InClusterIPPoolSpec`,
  {
    addresses: required(
      1,
      listOf(string),
      "The addresses of the pool, of one family. Each entry is an address, a range first-last, or a CIDR.",
    ),
    prefix: pointer(2, int32, "Length of the prefix of the network that all addresses lie in.", { required: true }),
    gateway: plain(3, string, "The gateway of the network. It is never given out."),
    allocateReservedIPAddresses: plain(
      4,
      bool,
      "Whether the first address of the network is given out, too, and of an IPv4 network the last one.",
    ),
    excludedAddresses: plain(5, listOf(string), "What is never given out, in the forms of addresses."),
    addressReuseGracePeriodSeconds: pointer(6, int32, "How long an address is kept behind the deletion of its claim."),
  },
  { description: "What a pool gives out." },
);

const PoolCounts: MessageSchema = message(
  `${PREFIX}.v1alpha2.InClusterIPPoolStatusIPAddresses`,
  {
    total: required(1, int64, "Addresses that the pool gives out, used ones included; at most 2^63-1."),
    free: required(2, int64, "Those of them that nobody has: total less used."),
    used: required(3, int64, "Addresses of the pool that claims have."),
    outOfRange: required(4, int64, "Those of them that the pool gives out no more."),
  },
  { description: "Counts of addresses." },
);

const InClusterIPPoolStatus: MessageSchema = message(
  `${PREFIX}.v1alpha2.InClusterIPPoolStatus`,
  { ipAddresses: plain(1, ref(PoolCounts), "How many addresses there are.") },
  { description: "What a pool has given out." },
);

const InClusterPrefixPoolSpec: MessageSchema = message(
  `${PREFIX}.v1alpha2.InClusterPrefixPoolSpec`,
  {
    prefixes: required(1, listOf(string), "CIDRs of one family that prefixes are given out of, network-aligned."),
    allocationPrefixLength: plain(
      2,
      int32,
      "Length of the prefixes that are given out; of claims that ask for another one, the greatest. 64 if an IPv6 pool has none. It cannot be changed.",
    ),
    gateway: plain(3, string, "What the addresses of claims have as their gateway. It keeps nothing from being given out."),
    excludedPrefixes: plain(
      4,
      listOf(string),
      "Addresses, ranges first-last, or CIDRs. A prefix that touches one of them is never given out.",
    ),
    addressReuseGracePeriodSeconds: pointer(5, int32, "How long a prefix is kept behind the deletion of its claim."),
  },
  { description: "What a pool of prefixes gives out." },
);

const PrefixCounts: MessageSchema = message(
  `${PREFIX}.v1alpha2.InClusterPrefixPoolStatusAddresses`,
  {
    total: required(1, int64, "Prefixes of the allocation length that the pool gives out, used ones included; at most 2^63-1."),
    free: required(2, int64, "Those of them that nobody has."),
    used: required(3, int64, "Prefixes of the allocation length that claims have. A shorter prefix counts as all that lie in it."),
    outOfRange: required(4, int64, "Those of them that the pool gives out no more."),
  },
  { description: "Counts of prefixes." },
);

const InClusterPrefixPoolStatus: MessageSchema = message(
  `${PREFIX}.v1alpha2.InClusterPrefixPoolStatus`,
  { ipAddresses: plain(1, ref(PrefixCounts), "How many prefixes there are.") },
  { description: "What a pool of prefixes has given out." },
);

const PREFIX_POOL_FIELDS = {
  metadata: plain(1, ref(ObjectMeta), "Name, labels, annotations and the other standard metadata of the object."),
  spec: plain(2, ref(InClusterPrefixPoolSpec), "What the pool gives out."),
  status: plain(3, ref(InClusterPrefixPoolStatus), "What it has given out."),
};

export const InClusterPrefixPoolSchema: MessageSchema = kind(
  `${PREFIX}.v1alpha2.InClusterPrefixPool`,
  "Prefixes for the claims of its namespace.",
  PREFIX_POOL_FIELDS,
);

export const GlobalInClusterPrefixPoolSchema: MessageSchema = kind(
  `${PREFIX}.v1alpha2.GlobalInClusterPrefixPool`,
  "Prefixes for the claims of all namespaces.",
  PREFIX_POOL_FIELDS,
);

const POOL_FIELDS = {
  metadata: plain(1, ref(ObjectMeta), "Name, labels, annotations and the other standard metadata of the object."),
  spec: plain(2, ref(InClusterIPPoolSpec), "What the pool gives out."),
  status: plain(3, ref(InClusterIPPoolStatus), "What it has given out."),
};

export const InClusterIPPoolSchema: MessageSchema = kind(
  `${PREFIX}.v1alpha2.InClusterIPPool`,
  "Addresses for the claims of its namespace.",
  POOL_FIELDS,
);

export const GlobalInClusterIPPoolSchema: MessageSchema = kind(
  `${PREFIX}.v1alpha2.GlobalInClusterIPPool`,
  "Addresses for the claims of all namespaces.",
  POOL_FIELDS,
);
