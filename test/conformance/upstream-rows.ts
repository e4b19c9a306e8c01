/**
 * The assertions of upstream's own tests about the served resources and the addresses of Services. Each row that is not `open` has a
 * test of its name (`upstreamRow`); docs/compatibility.md is generated from this list and those tests. Names are upstream's: file and
 * test, or the function.
 */
export interface UpstreamRow {
  /** the assertion, in short */
  holds: string;
  /** why no test has the name; absent = a test has it */
  open?: string;
}

/** Tests of the API machinery: upstream test/e2e and the published conformance list. */
export const machineryRows = {
  "service_cidrs: ServiceCIDR API operations": {
    holds: "`kubernetes` is there, its status endpoint shows the same object, list and watch work",
  },
  "service_cidrs: IPAddress API operations": {
    holds: "any address of either family may be made, patched, updated, watched and deleted by label",
  },
  "service_cidrs: serve on different CIDRs": { holds: "a new ServiceCIDR becomes Ready and serves a Service with a fixed address" },
  "lease: API should be available": { holds: "times of year 1 and a transition count of 0 survive create (protobuf), update and patch" },
  "endpointslice: API Server slices": {
    holds: "`default/kubernetes` has Endpoints and EndpointSlices with addresses",
  },
  "endpointslice: API operations": { holds: "discovery, generateName, get, list, watch, patch, update, delete and deletecollection" },
  "endpointslice: selector / multiple ports; endpointslicemirroring": {
    holds: "slices follow a Service's selector; Endpoints made by hand are mirrored",
  },
  "service: status lifecycle": {
    holds: "patch and update of a LoadBalancer's status keep annotations and ingress; a label watch sees the deletion",
  },
  "service: find from all namespaces; secure default service": { holds: "the cluster-wide list has it; `default/kubernetes` has port 443" },
  "service: delete a collection": { holds: "of three Services the two with the label go" },
  "service: lifecycle of an Endpoint": { holds: "create, label, patch of address and port, delete by label, all seen by a watch" },
  "events (events.k8s.io): lifecycle": {
    holds: "made there, seen in core with the fields mapped; selectors, patch, update without resourceVersion, delete",
  },
  "events: delete collection (events.k8s.io; core)": { holds: "a label selects the deleted events, through either group" },
  "table_conversion: pod, nodes, 406 (paging)": { holds: "columns and cells agree, pages are Tables too, a kind without Table is 406" },
  "chunking: chunks": { holds: "400 objects in pages of 17: one resourceVersion, exact remaining counts, name order" },
  "chunking: compacted": {
    holds: "an expired token is 410 with a fresh one that lists on; every token expires after five minutes",
  },
  "watch: add/update/delete": { holds: "label watches deliver exactly their events, in order" },
  "watch: from a specific RV / restart from the last RV": { holds: "only later events, none lost" },
  "watch: selector no longer met": { holds: "DELETED when the label leaves, ADDED when it returns" },
  "watch: concurrent watches": { holds: "every watch shows the same order, wherever it starts" },
  watchlist: { holds: "the streamed state equals a list and ends with the annotated bookmark, as Tables too" },
  "namespace: patch, update, status, finalize": { holds: "labels, status conditions and spec finalizers, each through its own endpoint" },
  "namespace: pods/services removed; ordered deletion (1.34)": { holds: "content goes before its namespace, Pods before the rest" },
  "TestQuotaLimitService (test/integration/quota)": {
    holds: "of four Services two may have node ports and two may be load balancers; one without node ports takes none",
  },
  TestValidatePodStatusUpdate: {
    holds: "addresses, conditions, nominations, claims, users and devices of a Pod's status; a container that has ended stays so",
  },
  "field_validation: typed": { holds: "unknown and duplicate fields are refused in upstream's words" },
  "apply (ServerSideApply)": { holds: "creates, owns, shares, takes by force and drops fields; `/status` has its own entry" },
  discovery: { holds: "groups, preferred versions and resource lists agree with each other" },
  aggregated_discovery: { holds: "`/api` and `/apis` answer the aggregated form to the raw Accept header" },
  openapiv3: { holds: "the index and each document load" },
  garbage_collector: { holds: "circles, Orphan, Foreground, and a dependent with another live owner" },
  request_timeout: { holds: "an invalid timeout is 400, 0 and too much are clamped" },
  "server_version, health": { holds: "numeric major and minor; /livez and /readyz with verbose lists" },
} as const satisfies Record<string, UpstreamRow>;

/** Tests of Services, ServiceCIDRs, IPAddresses and their allocators: upstream pkg/registry/core/service and test/integration. */
export const serviceRows = {
  TestAllocateIPAllocator: { holds: "every address of a range once, then full; a released address comes back" },
  "TestAllocateTiny/Small/Reserved": { holds: "/32 gives none, /30 two, a /25 its dynamic band before the static one" },
  "Test_hostsPerNetwork, Test_calculateRangeOffset": { holds: "sizes and static bands of every prefix length" },
  "Test_ipIterator, Test_ipIterator_Number": {
    holds: "the scan visits each address once from any start",
    open: "addresses are drawn, not scanned; TestAllocateIPAllocator shows that each is given out once",
  },
  TestIPAllocatorClusterIPMetrics: { holds: "held and free addresses, allocations and refusals, by range and scope" },
  "TestAllocateNextStopOnError / _Collision; TestCIDRAllocateNextStopOnError / DontStopOnNot": {
    holds: "a range that is full or closed leads to the next one, an address that is taken is final",
  },
  "TestUsedWithCIDRFiltering, TestUsedWithInvalidIPs, TestFreeWithOverflowProtection": {
    holds: "only addresses inside the range count; the free count neither turns negative nor overflows",
  },
  "TestCIDRAllocateMultiple/Shadow/Grow/Shrink": { holds: "ranges side by side add up, nested ones count once, and back again" },
  "TestCIDRAllocateDualWrite, ...Collision": {
    holds: "bitmap and IPAddresses agree; a set bit blocks its address, a free one nothing",
  },
  TestRepairServiceIP: { holds: "IPAddresses that are missing, wrong or doubled are put right" },
  TestRepairIPAddress_syncIPAddress: { holds: "orphaned IPAddresses go after their grace" },
  TestRepairIPAddress_runOnce: { holds: "errors that are tried again" },
  "TestRepairLeak, TestRepairWithExisting (+DualStack)": { holds: "leaked bits are freed, Services without a row get theirs" },
  "TestCollectServiceNodePorts; TestRepairLeak, TestRepairWithExisting (portallocator)": {
    holds: "numbers of one Service by protocol; leaked ports are freed at the third run, missing ones are taken again",
  },
  "TestControllerSync, canDeleteCIDR, ipToCidrs, cidrToCidrs": {
    holds: "finalizer and conditions; which ServiceCIDRs may go while addresses live",
  },
  "TestControllerSync(+Conversions)": {
    holds: "the default ServiceCIDR is made, completed by a second family, and otherwise left as it is",
  },
  "TestValidateServiceCIDR(+Update), TestValidateIPAddress(+Update)": { holds: "upstream's tables of valid and invalid objects" },
  "TestDeclarativeValidateIPAddress(+Update)": { holds: "parentRef and its members are required, and fixed once set" },
  "TestServiceAllocation, TestServiceAllocNewServiceCIDR": {
    holds: "a /29 holds six Services; a freed address and a new range are used at once",
  },
  TestServiceAllocIPAddressLargeCIDR: { holds: "a /64 gives dynamic addresses and its last one" },
  TestServiceCIDRDeletion: { holds: "duplicates and covered ranges go at once, the last cover waits for its Services" },
  TestMigrateServiceCIDR: { holds: "Services move to another range while the default one goes and comes back with another prefix" },
  TestServiceCIDRMigrationScenarios: { holds: "changed flags only add a second family; Services keep their addresses" },
  TestSkewAllocatorsRollout: { holds: "100 addresses, each asked for twice at once: 100 of 200 creates fail" },
  "TestMigrateService, TestEnableDisableServiceCIDR": {
    holds: "Services made with the gate off get their IPAddresses; the gate off, on, off, on loses nothing",
  },
  TestInvalidService: { holds: "a Service without a name is Invalid at once" },
  TestValidationAdmissionPolicyServiceCIDR: {
    holds: "policies bind everybody but the server",
    open: "neither admission policies nor identities are served",
  },
  'Conformance "should support ServiceCIDR API operations", "should support IPAddress API operations"': {
    holds: "as `service_cidrs` above, over both served versions",
  },
  'e2e "should create Services and serve on different Service CIDRs"': {
    holds: "a NodePort Service with a fixed address of a new range, of either family",
  },
  TestCreateInvalidClusterIPInputs: { holds: "each mistake in families and addresses is reported" },
  "TestCreateDeleteReuse, TestDeleteWithFinalizer, TestCreate/Update/DeleteDryRun": {
    holds: "freed addresses and ports are usable at once, finalizers keep them, a dry run takes and frees nothing",
  },
  "TestUpdatePatchAllocatedValues, TestNormalizeClusterIPs, TestServiceDefaultOnRead": {
    holds: "an update keeps the allocated values that it leaves out; old objects read complete",
  },
  "TestFeatureType (18), FeatureClusterIPs, FeatureExternalTrafficPolicy, FeatureInternalTrafficPolicy": {
    holds: "every change of type keeps, takes and releases the right addresses and ports",
  },
  "dualstack_test.go": { holds: "up to two families and down to one, to ExternalName and back" },
  "test/integration/network: FinalizersRepairLoop, FinalizersPatchStatus, ServiceCIDR28bits": {
    holds: "the last finalizer frees address and port whichever endpoint took it; a /28 works",
  },
  "test/integration/service/loadbalancer_test.go: allocateLoadBalancerNodePorts (7)": {
    holds: "false keeps the node ports, frees those that are set to 0, and takes those that are named; true allocates",
  },
  "test/integration/service: ExternalName internalTrafficPolicy (3), externalIPs drop, ClusterIPSelector": {
    holds: "fields that the type does not have are absent; `spec.clusterIP!=None` selects",
  },
} as const satisfies Record<string, UpstreamRow>;

/** Tests of identity Leases, of Nodes and of Pods without a kubelet: upstream test/integration/controlplane, pkg/controlplane and pkg/controller. */
export const leaseRows = {
  "apiserver_identity_test: TestCreateLeaseOnStart": {
    holds: "an idle server has one Lease in `kube-system`, with the hashed name and the labels",
  },
  "apiserver_identity_test: TestLeaseGarbageCollection": {
    holds: "an expired identity Lease goes; a fresh one, one without the label and one of another namespace stay",
  },
  "apiserverleasegc: Test_Controller": {
    holds: "run out by its time, without a time or without a duration: goes; another value of the label: stays",
  },
  "nodelifecycle: TestMonitorNodeHealthUpdateStatus, TestMonitorNodeHealthUpdateNodeAndPodStatusWithLease": {
    holds: "a Node whose status and Lease stop is Unknown with upstream's reasons; one of the two keeps it Ready",
  },
  "nodelifecycle: TestMonitorNodeHealthMarkPodsNotReady(+Retry)": {
    holds: "the Pods of a Node that left Ready lose theirs; a write that failed is made again",
  },
  "nodelifecycle: TestApplyNoExecuteTaints, TestSwapUnreachableNotReadyTaints, TestTaintsNodeByCondition": {
    holds: "taints follow the conditions, one NoExecute taint takes the place of the other, and foreign taints stay",
  },
  "podgc: TestGCTerminated": { holds: "the oldest ended Pods beyond the threshold go; 0 disables" },
  "podgc: TestGCOrphaned, TestGCInspectingPatchedPodBeforeDeletion": {
    holds: "Pods of a Node that is gone get the condition, fail and go, after the quarantine",
  },
  "podgc: TestGCUnscheduledTerminating, TestGCTerminating": {
    holds: "Pods that are being deleted go without a Node, and from a Node that is not Ready and out of service",
  },
  "tainteviction: TestCreatePod, TestUpdatePod, TestDeletePod, TestCreateNode, TestUpdateNode(+MultipleTaints), TestDeleteNode": {
    holds: "which taints evict a Pod and when; a longer toleration does not postpone, a taint that goes cancels",
  },
  "tainteviction: TestPodDeletionEvent": { holds: "an eviction is told by an Event in upstream's words" },
} as const satisfies Record<string, UpstreamRow>;

export type RowName = keyof typeof machineryRows | keyof typeof serviceRows | keyof typeof leaseRows;
