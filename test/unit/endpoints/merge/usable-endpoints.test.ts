/** The rows of upstream pkg/proxy/topology_test.go (TestCategorizeEndpoints). */
import { describe, expect, it } from "vitest";
import type { PolicyUse } from "../../../../src/api/registry/services/proxied-service";
import type { MergedEndpoint } from "../../../../src/api/registry/endpoint-slices/slice-portion";
import { usableEndpoints } from "../../../../src/endpoints/merge/usable-endpoints";

const CLUSTER = { cluster: true, local: false };
const LOCAL = { cluster: false, local: true };
const BOTH = { cluster: true, local: true };

/**
 * An endpoint from words: its address, `here` for this node, its state (`ready` unless said otherwise), and hints by zone (`a,b`) or by node
 * (`@n1`).
 */
function endpoint(text: string): MergedEndpoint {
  const [ip = "", ...words] = text.split(" ");
  const has = (word: string) => words.includes(word);
  const hints = words.find((word) => /^[a-z](,[a-z])*$/.test(word));
  const nodes = words.filter((word) => word.startsWith("@")).map((word) => word.slice(1));
  return {
    key: `${ip}:80`,
    ip,
    port: 80,
    ready: !has("notReady") && !has("servingLast"),
    serving: !has("notReady"),
    terminating: has("servingLast"),
    nodeName: has("here") ? "n1" : undefined,
    zone: undefined,
    zoneHints: hints?.split(",") ?? [],
    nodeHints: nodes,
  };
}

interface Row {
  name: string;
  zone?: string;
  use?: PolicyUse;
  endpoints: string[];
  /** addresses, with blanks between them; undefined = the policy is not used */
  cluster?: string;
  local?: string;
  /** default: that of the only policy */
  reachable?: string;
  /** default: something is reachable */
  isServed?: boolean;
}

const ZONED = ["3 a", "4 b", "5 c", "6 a"];
const LAST_REMOTE = ["0 servingLast", "1 servingLast"];
const MIXED = ["0", "1 here notReady", "2 here servingLast", "3 servingLast"];

const ROWS: Row[] = [
  { name: "no endpoints, Cluster", endpoints: [], cluster: "" },
  { name: "no endpoints, Local", use: LOCAL, endpoints: [], local: "" },
  { name: "hints by zone", zone: "a", endpoints: ZONED, cluster: "3 6" },
  {
    name: "hints by zone, Local ignores them",
    zone: "a",
    use: BOTH,
    endpoints: ["3 here a", "4 here b", "5 c", "6 a"],
    cluster: "3 6",
    local: "3 4",
    reachable: "3 4 6",
  },
  { name: "node without a zone", endpoints: ["3 a"], cluster: "3" },
  { name: "node with an empty zone", zone: "", endpoints: ["3 a"], cluster: "3" },
  { name: "node in a zone that no hint names", zone: "b", endpoints: ["3 a"], cluster: "3" },
  { name: "endpoint of the zone that is not ready", zone: "a", endpoints: ["3 a", "4 b", "5 c", "6 a notReady"], cluster: "3" },
  { name: "no ready endpoint for the zone", zone: "a", endpoints: ["3 a notReady", "4 b", "5 c", "6 a notReady"], cluster: "4 5" },
  { name: "ready endpoint without a hint", zone: "a", endpoints: ["3 a", "4 b", "5", "6 a"], cluster: "3 4 5 6" },
  { name: "endpoint without a hint that is not ready", zone: "a", endpoints: ["3 a", "4 b", "5 notReady", "6 a"], cluster: "3 6" },
  { name: "several hints on an endpoint", zone: "c", endpoints: ["3 a,b,c", "4 b,c", "5 b,d", "6 c"], cluster: "3 4 6" },
  {
    name: "hints and places that cross",
    zone: "a",
    use: BOTH,
    endpoints: ["0 here a", "1 here b", "2 a", "3 b"],
    cluster: "0 2",
    local: "0 1",
    reachable: "0 1 2",
  },
  { name: "hints by node", zone: "a", endpoints: ["3 a @n1", "4 a @n2", "5 a @n3"], cluster: "3" },
  { name: "hints by node, none for this one: by zone", zone: "a", endpoints: ["3 a @n2", "4 b @n3"], cluster: "3" },
  { name: "hints by node, one missing: by zone", zone: "a", endpoints: ["3 a @n1", "4 a", "5 b @n2"], cluster: "3 4" },
  { name: "hints by node, none for this one, no zones", zone: "a", endpoints: ["3 @n2", "4 @n3"], cluster: "3 4" },
  { name: "hints of endpoints that only serve on", zone: "a", endpoints: ["3 a servingLast", "4 b servingLast"], cluster: "3 4" },
  { name: "Local, all endpoints remote", use: LOCAL, endpoints: ["0", "1"], local: "", isServed: true },
  { name: "Local, all endpoints here", use: LOCAL, endpoints: ["0 here", "1 here"], local: "0 1" },
  { name: "Local, some endpoints here", use: LOCAL, endpoints: ["0 here", "1"], local: "0" },
  { name: "Local, nothing serves anywhere", use: LOCAL, endpoints: ["0 here notReady", "1 notReady"], local: "" },
  { name: "Cluster, nothing ready", endpoints: ["0 notReady", "1 notReady"], cluster: "" },
  { name: "Cluster, some ready", endpoints: ["0 notReady", "1"], cluster: "1" },
  { name: "Cluster, all terminating", endpoints: ["0 here servingLast", "1 servingLast"], cluster: "0 1" },
  { name: "Cluster, one ready beside terminating ones", endpoints: ["0 servingLast", "1"], cluster: "1" },
  { name: "both, some here", use: BOTH, endpoints: ["0 here", "1"], cluster: "0 1", local: "0", reachable: "0 1" },
  { name: "both, all remote", use: BOTH, endpoints: ["0", "1"], cluster: "0 1", local: "", reachable: "0 1" },
  { name: "both, all remote and terminating", use: BOTH, endpoints: LAST_REMOTE, cluster: "0 1", local: "", reachable: "0 1" },
  { name: "both, terminating ones here", use: BOTH, endpoints: MIXED, cluster: "0", local: "2", reachable: "0 2" },
  { name: "Local, all remote and terminating", use: LOCAL, endpoints: LAST_REMOTE, local: "", isServed: true },
];

const shown = (endpoints: readonly MergedEndpoint[] | undefined) => endpoints?.map(({ ip }) => ip).join(" ");

describe("usableEndpoints", () => {
  it.each(ROWS)(
    "$name: as kube-proxy chooses",
    ({ zone, use = CLUSTER, endpoints, cluster, local, reachable = cluster ?? local, isServed }) => {
      const answer = usableEndpoints(endpoints.map(endpoint), use, { name: "n1", zone });
      expect({ cluster: shown(answer.cluster), local: shown(answer.local), reachable: shown(answer.reachable) }).toEqual({
        cluster,
        local,
        reachable,
      });
      expect(answer.isServedSomewhere).toBe(isServed ?? reachable !== "");
    },
  );
});
