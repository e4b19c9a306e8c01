import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../../src/core/config/config";

function configOf(vars: Record<string, string | undefined>) {
  const parsed = parseConfig(Object.freeze(vars));
  if (!parsed.ok) throw new Error(parsed.error.join("\n"));
  return parsed.value;
}

function errorsOf(vars: Record<string, string | undefined>): string[] {
  const parsed = parseConfig(Object.freeze(vars));
  return parsed.ok ? [] : parsed.error;
}

const GATES =
  "the gates are MultiCIDRServiceAllocator, DisableAllocatorDualWrite, ServiceIPStaticSubrange, APIServerIdentity, KubeProxyDrainingTerminatingNodes";
const LEGACY = "DisableAllocatorDualWrite=false";

describe("parseConfig: defaults and accepted values", () => {
  it.each<[gates: string, range: string, want: string[] | undefined]>([
    ["", "10.96.0.0/16", undefined],
    [LEGACY, "10.96.0.0/16", undefined],
    ["MultiCIDRServiceAllocator=false,DisableAllocatorDualWrite=false", "10.96.0.0/12", ["10.96.0.0/12"]],
    // the old bitmap of an IPv6 range has 2^16 addresses at most
    ["MultiCIDRServiceAllocator=false,DisableAllocatorDualWrite=false", "fd00::/108,10.0.0.0/24", ["fd00::/112", "10.0.0.0/24"]],
    ["MultiCIDRServiceAllocator=false,DisableAllocatorDualWrite=false", "fd00::/120", ["fd00::/120"]],
  ])("gates %j, range %s: only %j gives out addresses", (gates, range, want) => {
    expect(configOf({ FEATURE_GATES: gates, SERVICE_CLUSTER_IP_RANGE: range }).onlyRanges).toEqual(want);
  });

  it.each<[text: string, want: string[]]>([
    ["192.0.2.1", ["192.0.2.1"]],
    [" 192.0.2.2, 2001:DB8:0::1,192.0.2.1,192.0.2.2 ", ["192.0.2.1", "192.0.2.2", "2001:db8::1"]],
    [" , ", []],
  ])("ADVERTISE_ADDRESSES %j: %j", (text, want) => {
    expect(configOf({ ADVERTISE_ADDRESSES: text }).advertiseAddresses).toEqual(want);
  });

  it("addresses that no endpoint may have: each with what is wrong", () => {
    expect(errorsOf({ ADVERTISE_ADDRESSES: "127.0.0.1,192.0.2.1,example.com,fe80::1,010.0.0.1" })).toEqual([
      'ADVERTISE_ADDRESSES: "127.0.0.1" may not be in the loopback range (127.0.0.0/8, ::1/128)',
      'ADVERTISE_ADDRESSES: "example.com" must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'ADVERTISE_ADDRESSES: "fe80::1" may not be in the link-local range (169.254.0.0/16, fe80::/10)',
      'ADVERTISE_ADDRESSES: "010.0.0.1" must not have leading 0s',
    ]);
  });

  it("draining taints: keys between commas, each once; what is no key is an error", () => {
    expect(configOf({ DRAINING_TAINTS: "karpenter.sh/disrupted, drain,drain" }).drainingTaints).toEqual([
      "karpenter.sh/disrupted",
      "drain",
    ]);
    expect(errorsOf({ DRAINING_TAINTS: "drain,key=value,/x" })).toEqual([
      'DRAINING_TAINTS: "key=value" must be the key of a taint, as "karpenter.sh/disrupted"',
      'DRAINING_TAINTS: "/x" must be the key of a taint, as "karpenter.sh/disrupted"',
    ]);
  });

  it("the class of load balancers that pools serve by default: theirs, or none", () => {
    expect(configOf({ DEFAULT_LOAD_BALANCER_CLASS: "servicenet.dev/pool" }).defaultLoadBalancerClass).toBe("servicenet.dev/pool");
    expect(errorsOf({ DEFAULT_LOAD_BALANCER_CLASS: "metallb" })).toEqual([
      'DEFAULT_LOAD_BALANCER_CLASS: "metallb" is not servicenet.dev/pool',
    ]);
  });

  it("absent and blank variables: upstream's defaults", () => {
    for (const vars of [{}, { SERVICE_CLUSTER_IP_RANGE: " ", FEATURE_GATES: "", MAX_ENDPOINTS_PER_SLICE: "" }]) {
      expect(configOf(vars)).toEqual({
        serviceFamilies: ["IPv4"],
        serviceRanges: ["10.0.0.0/24"],
        onlyRanges: undefined,
        apiServerServiceIP: "10.0.0.1",
        advertiseAddresses: [],
        featureGates: {
          MultiCIDRServiceAllocator: true,
          DisableAllocatorDualWrite: true,
          ServiceIPStaticSubrange: true,
          APIServerIdentity: true,
          KubeProxyDrainingTerminatingNodes: true,
        },
        apiServerLeaseDurationSeconds: 3600,
        apiServerLeaseRenewSeconds: 600,
        apiServerLeaseCollectSeconds: 3600,
        nodeMonitorGraceSeconds: 50,
        nodeStartupGraceSeconds: 60,
        nodeMonitorPeriodSeconds: 5,
        maxEndpointsPerSlice: 100,
        endpointsBatchMs: 0,
        terminatedPodThreshold: 12_500,
        controllers: ["*"],
        defaultLoadBalancerClass: "",
        drainingTaints: [],
        proxySyncPeriodSeconds: 30,
        serverStartedAtMs: 0,
        maxRequestsInFlight: 2000,
        maxMutatingRequestsInFlight: 1000,
        requestQueueSeconds: 15,
        fairRequestsMin: 100,
        maxWatchesPerUser: 10_000,
        maxStreamedLists: 20,
        authorizationModes: ["Node", "RBAC"],
        anonymousAuth: false,
        anonymousNodeHealth: false,
        staticBandGuard: false,
        impliesDefaultCluster: false,
        impliesClusters: false,
        backupIntervalHours: 24,
        backupsKept: 7,
        rootCertificates: "",
        loopbackOnly: false,
        allowedHosts: [],
        logLevel: "info",
      });
    }
  });

  it.each([
    { range: "10.96.0.0/16", families: ["IPv4"], ranges: ["10.96.0.0/16"], first: "10.96.0.1" },
    {
      range: "10.96.0.0/16,fd00:10:96::/112",
      families: ["IPv4", "IPv6"],
      ranges: ["10.96.0.0/16", "fd00:10:96::/112"],
      first: "10.96.0.1",
    },
    {
      range: " fd00:10:96::/112 , 10.96.0.0/16 ",
      families: ["IPv6", "IPv4"],
      ranges: ["fd00:10:96::/112", "10.96.0.0/16"],
      first: "fd00:10:96::1",
    },
    { range: "FD00:10:0096:0::/112", families: ["IPv6"], ranges: ["fd00:10:96::/112"], first: "fd00:10:96::1" },
    { range: "10.0.0.0/8", families: ["IPv4"], ranges: ["10.0.0.0/8"], first: "10.0.0.1" },
    { range: "2001:db8::/64", families: ["IPv6"], ranges: ["2001:db8::/64"], first: "2001:db8::1" },
    { range: "10.0.0.8/29", families: ["IPv4"], ranges: ["10.0.0.8/29"], first: "10.0.0.9" },
    { range: "2001:db8::/125", families: ["IPv6"], ranges: ["2001:db8::/125"], first: "2001:db8::1" },
    // upstream demands a least size of the primary range only
    { range: "10.0.0.0/24,2001:db8::/127", families: ["IPv4", "IPv6"], ranges: ["10.0.0.0/24", "2001:db8::/127"], first: "10.0.0.1" },
  ])("range $range: its families, prefixes and first address", ({ range, families, ranges, first }) => {
    const config = configOf({ SERVICE_CLUSTER_IP_RANGE: range });
    expect(config.serviceFamilies).toEqual(families);
    expect(config.serviceRanges).toEqual(ranges);
    expect(config.apiServerServiceIP).toBe(first);
  });

  it("certificates: as they stand, with the end of their last line; other variables: without blanks around them", () => {
    const config = configOf({ ROOT_CA: "-----BEGIN\n-----END\n", CONTROLLERS: " * ", LOG_LEVEL: " WARN\n" });
    expect(config.rootCertificates).toBe("-----BEGIN\n-----END\n");
    expect([config.controllers, config.logLevel]).toEqual([["*"], "warn"]);
  });

  it("numbers and gates: read", () => {
    const config = configOf({
      FEATURE_GATES: "MultiCIDRServiceAllocator=true, DisableAllocatorDualWrite=F,APIServerIdentity=0,",
      APISERVER_LEASE_DURATION_SECONDS: "1",
      APISERVER_LEASE_RENEW_SECONDS: "1",
      MAX_ENDPOINTS_PER_SLICE: "1000",
      ENDPOINTSLICE_UPDATES_BATCH_PERIOD: "1m30s",
      TERMINATED_POD_GC_THRESHOLD: "0",
      MAX_REQUESTS_INFLIGHT: "0",
      MAX_MUTATING_REQUESTS_INFLIGHT: "7",
      REQUEST_QUEUE_SECONDS: "0",
      FAIR_REQUESTS_MIN: "3",
    });
    expect(config.featureGates.DisableAllocatorDualWrite).toBe(false);
    expect(config.featureGates.APIServerIdentity).toBe(false);
    expect(config.featureGates.MultiCIDRServiceAllocator).toBe(true);
    expect(config.maxEndpointsPerSlice).toBe(1000);
    expect(config.endpointsBatchMs).toBe(90_000);
    expect(config.terminatedPodThreshold).toBe(0);
    expect(config.maxRequestsInFlight).toBe(0);
    expect(config.maxMutatingRequestsInFlight).toBe(7);
    expect([config.requestQueueSeconds, config.fairRequestsMin]).toEqual([0, 3]);
  });
});

describe("parseConfig: refusals", () => {
  const cidr = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  it.each<{ name: string; range: string; gates?: string; want: string[] }>([
    {
      name: "three entries",
      range: "10.0.0.0/16,fd00::/112,10.1.0.0/16",
      want: ["SERVICE_CLUSTER_IP_RANGE must not contain more than two entries"],
    },
    {
      name: "one family twice",
      range: "10.0.0.0/16,10.1.0.0/16",
      want: ["SERVICE_CLUSTER_IP_RANGE[0] and SERVICE_CLUSTER_IP_RANGE[1] must be of different IP family"],
    },
    { name: "no CIDR", range: "10.0.0.0", want: [`SERVICE_CLUSTER_IP_RANGE[0]: "10.0.0.0" ${cidr}`] },
    { name: "an empty second entry", range: "10.0.0.0/16,", want: [`SERVICE_CLUSTER_IP_RANGE[1]: "" ${cidr}`] },
    {
      name: "bits beyond the prefix",
      range: "10.0.0.1/16",
      want: ['SERVICE_CLUSTER_IP_RANGE[0]: "10.0.0.1/16" must not have bits set beyond the prefix length'],
    },
    {
      name: "leading zeros",
      range: "010.0.0.0/16",
      want: ['SERVICE_CLUSTER_IP_RANGE[0]: "010.0.0.0/16" must not have leading 0s in IP or prefix length'],
    },
    {
      name: "too small, IPv4",
      range: "10.0.0.0/30",
      want: ["SERVICE_CLUSTER_IP_RANGE[0]: the service cluster IP range must be at least 8 IP addresses"],
    },
    {
      name: "too small, IPv6",
      range: "2001:db8::/126",
      want: ["SERVICE_CLUSTER_IP_RANGE[0]: the service cluster IP range must be at least 8 IP addresses"],
    },
    {
      name: "IPv4 too large for the old allocator",
      range: "10.0.0.0/8",
      gates: LEGACY,
      want: ["specified SERVICE_CLUSTER_IP_RANGE[0] is too large; for 32-bit addresses, the mask must be >= 12"],
    },
    {
      name: "IPv6 too large for the old allocator",
      range: "10.0.0.0/16,2001:db8::/64",
      gates: LEGACY,
      want: ["specified SERVICE_CLUSTER_IP_RANGE[1] is too large; for 128-bit addresses, the mask must be >= 108"],
    },
    {
      name: "two mistakes in one list",
      range: "10.0.0.0/30,nonsense",
      want: [
        "SERVICE_CLUSTER_IP_RANGE[0]: the service cluster IP range must be at least 8 IP addresses",
        `SERVICE_CLUSTER_IP_RANGE[1]: "nonsense" ${cidr}`,
      ],
    },
  ])("range, $name: refused with upstream's text", ({ range, gates, want }) => {
    expect(errorsOf({ SERVICE_CLUSTER_IP_RANGE: range, FEATURE_GATES: gates })).toEqual(want);
  });

  it.each([
    { gates: "NoSuchGate=true", want: [`FEATURE_GATES: unrecognized feature gate: NoSuchGate (${GATES})`] },
    { gates: "APIServerIdentity", want: ["FEATURE_GATES: missing bool value for APIServerIdentity"] },
    { gates: "APIServerIdentity=yes", want: ["FEATURE_GATES: invalid value of APIServerIdentity=yes, want true or false"] },
    { gates: "toString=true", want: [`FEATURE_GATES: unrecognized feature gate: toString (${GATES})`] },
    {
      gates: "MultiCIDRServiceAllocator=false",
      want: ["FEATURE_GATES: DisableAllocatorDualWrite is enabled, but depends on features that are disabled: [MultiCIDRServiceAllocator]"],
    },
  ])("gates $gates: refused", ({ gates, want }) => {
    expect(errorsOf({ FEATURE_GATES: gates })).toEqual(want);
  });

  it.each(["0", "-1", "1.5", "ten", "0x10", "99999999999", "1e3"])("number %s: refused", (text) => {
    for (const [name, max] of [
      ["APISERVER_LEASE_DURATION_SECONDS", 2147483647],
      ["APISERVER_LEASE_RENEW_SECONDS", 2147483647],
      ["APISERVER_LEASE_COLLECT_SECONDS", 2147483647],
      ["NODE_MONITOR_GRACE_PERIOD_SECONDS", 2147483647],
      ["NODE_MONITOR_PERIOD_SECONDS", 2147483647],
      ["NODE_STARTUP_GRACE_PERIOD_SECONDS", 2147483647],
      ["MAX_ENDPOINTS_PER_SLICE", 1000],
      ["PROXY_SYNC_PERIOD_SECONDS", 3600],
    ] as const) {
      expect(errorsOf({ [name]: text })).toEqual([`${name} must be a whole number between 1 and ${max}, got "${text}"`]);
    }
  });

  it.each(["-1", "1.5", "many"])("limit of requests, of watches or of kept Pods %s: refused", (text) => {
    for (const name of [
      "MAX_REQUESTS_INFLIGHT",
      "MAX_MUTATING_REQUESTS_INFLIGHT",
      "FAIR_REQUESTS_MIN",
      "MAX_WATCHES_PER_USER",
      "MAX_STREAMED_LISTS",
      "TERMINATED_POD_GC_THRESHOLD",
    ]) {
      expect(errorsOf({ [name]: text })).toEqual([`${name} must be a whole number between 0 and 2147483647, got "${text}"`]);
    }
  });

  it("a request that waits longer than a minute for its turn: refused", () => {
    expect(errorsOf({ REQUEST_QUEUE_SECONDS: "61" })).toEqual(['REQUEST_QUEUE_SECONDS must be a whole number between 0 and 60, got "61"']);
  });

  it.each<[text: string, modes: string[]]>([
    ["", ["Node", "RBAC"]],
    ["RBAC", ["RBAC"]],
    [" Node , RBAC,Node", ["Node", "RBAC"]],
    ["AlwaysAllow", ["AlwaysAllow"]],
  ])("authorization mode %j: %j", (text, modes) => {
    expect(configOf({ AUTHORIZATION_MODE: text }).authorizationModes).toEqual(modes);
  });

  it.each<[vars: Record<string, string>, want: string]>([
    [{ AUTHORIZATION_MODE: "rbac" }, 'AUTHORIZATION_MODE: "rbac" is none of Node, RBAC, AlwaysAllow'],
    [{ AUTHORIZATION_MODE: "AlwaysAllow,RBAC" }, "AUTHORIZATION_MODE: AlwaysAllow stands alone"],
    [{ ANONYMOUS_AUTH: "yes" }, 'ANONYMOUS_AUTH must be true or false, got "yes"'],
    [{ ANONYMOUS_NODE_HEALTH: "1" }, 'ANONYMOUS_NODE_HEALTH must be true or false, got "1"'],
    [{ STATIC_BAND_GUARD: "on" }, 'STATIC_BAND_GUARD must be true or false, got "on"'],
  ])("access %j: refused", (vars, want) => {
    expect(errorsOf(vars)).toEqual([want]);
  });

  it("a LOG_LEVEL that is none: refused with the levels", () => {
    expect(errorsOf({ LOG_LEVEL: "loud" })).toEqual(['LOG_LEVEL must be one of debug, info, warn, error, got "loud"']);
  });

  it("more endpoints per slice than the API allows: refused", () => {
    expect(errorsOf({ MAX_ENDPOINTS_PER_SLICE: "1001" })).toEqual([
      'MAX_ENDPOINTS_PER_SLICE must be a whole number between 1 and 1000, got "1001"',
    ]);
  });

  it.each(["5", "-1s", "soon", "61m"])("batch period %s: refused", (text) => {
    expect(errorsOf({ ENDPOINTSLICE_UPDATES_BATCH_PERIOD: text })).toEqual([
      `ENDPOINTSLICE_UPDATES_BATCH_PERIOD must be a duration between 0s and 1h, as "500ms" or "1s", got "${text}"`,
    ]);
  });

  it.each([
    ["3600", 600],
    ["1800", 450],
    ["5", 1],
  ])("a Lease of %s s, and nothing said of its renewal: renewed every %i s", (duration, renewal) => {
    for (const text of ["", " ", undefined]) {
      const vars = { APISERVER_LEASE_DURATION_SECONDS: duration, ...(text !== undefined && { APISERVER_LEASE_RENEW_SECONDS: text }) };
      expect(configOf(vars).apiServerLeaseRenewSeconds).toBe(renewal);
    }
    expect(configOf({ APISERVER_LEASE_DURATION_SECONDS: duration, APISERVER_LEASE_RENEW_SECONDS: "2" }).apiServerLeaseRenewSeconds).toBe(2);
  });

  it("a Lease that would expire before it is renewed: refused", () => {
    const errors = errorsOf({ APISERVER_LEASE_DURATION_SECONDS: "5", APISERVER_LEASE_RENEW_SECONDS: "6" });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/^APISERVER_LEASE_RENEW_SECONDS must not be greater than APISERVER_LEASE_DURATION_SECONDS \(5\), got 6/);
  });

  it("several mistakes in several variables: all are reported", () => {
    const errors = errorsOf({
      SERVICE_CLUSTER_IP_RANGE: "10.0.0.0/33",
      FEATURE_GATES: "A=true,B=false",
      APISERVER_LEASE_DURATION_SECONDS: "x",
      APISERVER_LEASE_RENEW_SECONDS: "x",
      MAX_ENDPOINTS_PER_SLICE: "x",
    });
    expect(errors.map((text) => text.split(/[ :[]/)[0])).toEqual([
      "FEATURE_GATES",
      "FEATURE_GATES",
      "SERVICE_CLUSTER_IP_RANGE",
      "APISERVER_LEASE_DURATION_SECONDS",
      "APISERVER_LEASE_RENEW_SECONDS",
      "MAX_ENDPOINTS_PER_SLICE",
    ]);
  });
});
