/** A check reads a cluster from outside: the Kubernetes API of any server, and the owners of addresses of Servicenet. */
import type { CheckSource } from "../../src/tools/check/check-cluster";
import {
  isWhole,
  type Listed,
  observedIPAddress,
  observedNode,
  type ObservedNode,
  observedService,
  type ObservedServiceCIDR,
} from "../../src/tools/check/observed";
import type { NodePortsView } from "../../src/tools/check/node-port-rows";
import { advertisedIn } from "../../src/tools/check/surroundings";
import { type OwnerPage, type OwnersView, readOwners } from "../../src/tools/check/read-owners";
import type { Endpoints, EndpointSlice, KubeObject } from "../../src/api/meta/kubernetes";
import type { RangesView } from "../../src/addresses/ranges/service-ranges";
import { type Answer, type Api, collectionPath } from "../cluster/api";
import { UserError } from "../terminal/user-error";

const OWNERS_PATH = "/check/owners";
const NODE_PORTS_PATH = "/check/nodeports";
const NODES_PATH = "/api/v1/nodes";

export function apiSource(api: Api): CheckSource {
  return {
    services: async () => {
      const listed = await listedOf(api, "Service", observedService);
      if (!listed) throw new UserError(`${api.url} serves no Services: it is no Kubernetes API server`);
      return listed;
    },
    ipAddresses: () => listedOf(api, "IPAddress", observedIPAddress),
    serviceCIDRs: () => listedOf(api, "ServiceCIDR", (object: ObservedServiceCIDR) => object),
    ranges: async () => {
      const { code, object } = await api.get("/ranges");
      if (code !== 200) return undefined;
      const { IPv4, IPv6 } = (object as unknown as RangesView).ready;
      return [...IPv4.prefixes, ...IPv6.prefixes];
    },
    surroundings: async () => ({
      nodes: await readableNodes(api),
      advertised: advertisedIn(
        await objectAt<Endpoints>(api, "/api/v1/namespaces/default/endpoints/kubernetes"),
        await objectAt<EndpointSlice>(api, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"),
      ),
    }),
    owners: async () => {
      const view = await api.get(OWNERS_PATH);
      if (isHidden(view)) return undefined;
      return readOwners({
        view: () => Promise.resolve(valueOf<OwnersView>(OWNERS_PATH, view)),
        page: async (uid, after) => valueOf<OwnerPage>(OWNERS_PATH, await api.get(`${OWNERS_PATH}/${uid}?after=${after}`)),
      });
    },
    nodePortRows: async () => {
      const answer = await api.get(NODE_PORTS_PATH);
      return isHidden(answer) ? undefined : valueOf<NodePortsView>(NODE_PORTS_PATH, answer).rows;
    },
  };
}

/** The Nodes that can be read; none where the server has no Nodes, or shows them to nobody. */
async function readableNodes(api: Api): Promise<ObservedNode[]> {
  const { code } = await api.get(`${NODES_PATH}?limit=1`);
  if (code === 403 || code === 404) return [];
  const kept = (node: ObservedNode): ObservedNode[] => (isWhole("Node", node) ? [observedNode(node)] : []);
  const list = await api.listWhole(
    NODES_PATH,
    (object) => kept(object as ObservedNode),
    () => [],
  );
  return list?.items.flat() ?? [];
}

/** undefined: absent, or hidden from this client */
async function objectAt<T>(api: Api, path: string): Promise<T | undefined> {
  const { code, object } = await api.get(path);
  return code === 200 ? (object as T) : undefined;
}

/** undefined: not served */
async function listedOf<T>(
  api: Api,
  kind: "Service" | "IPAddress" | "ServiceCIDR",
  observed: (object: T) => T,
): Promise<Listed<T> | undefined> {
  const unreadable = (place: string): { unreadable: string } => ({ unreadable: `${kind} ${place}` });
  const list = await api.listWhole<{ object: T } | { unreadable: string }>(
    collectionPath(kind),
    (object) => (isWhole(kind, object) ? { object: observed(object as T) } : unreadable(nameOf(object))),
    ({ key, before }) => unreadable(key || `behind ${before}`),
  );
  return (
    list && {
      objects: list.items.flatMap((item) => ("object" in item ? item.object : [])),
      unreadable: list.items.flatMap((item) => ("unreadable" in item ? item.unreadable : [])),
    }
  );
}

/** A member of a value of unknown shape. */
function nameOf(object: KubeObject | null): string {
  const { namespace, name } = object?.metadata ?? {};
  return `${namespace ? `${namespace}/` : ""}${name ?? "without a name"}`;
}

/** Another server does not have a path of ours, or forbids it. */
function isHidden({ code }: Answer): boolean {
  return code === 404 || code === 403;
}

function valueOf<T>(path: string, { code, message, object }: Answer): T {
  if (code !== 200) throw new UserError(`${path} answers ${code}: ${message}`);
  return object as unknown as T;
}
