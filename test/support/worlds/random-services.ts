/** Random Services and slices of a few names, so that they meet often, put into a merged view as a proxy's watches would. */
import type { EndpointSlice, KubeObject, Service } from "../../../src/api/meta/kubernetes";
import type { MergedServices } from "../../../src/endpoints/merge/merged-services";
import { pick, type seededRandom } from "../sim/platform/seeded-random";
import { aService, aSlice, anEndpoint, type EndpointState, type SliceEndpoint } from "../values/endpoint-objects";

type Random = ReturnType<typeof seededRandom>;

const NAMES = ["a", "b", "c"];
const SLICES = ["s1", "s2", "s3", "s4", "s5", "s6"];
const STATES: EndpointState[] = ["ready", "ready", "ready", "notReady", "servingLast", "ending", "published"];
const DUAL = { clusterIP: "10.96.0.5", clusterIPs: ["10.96.0.5", "fd00::5"] };
const LOCAL = {
  type: "LoadBalancer",
  externalTrafficPolicy: "Local",
  healthCheckNodePort: 32000,
  ports: [{ name: "http", port: 80, nodePort: 30080 }],
};
const SPECS = [
  {},
  DUAL,
  DUAL,
  { clusterIP: "None", clusterIPs: ["None"] },
  { type: "ExternalName" },
  { internalTrafficPolicy: "Local" },
  LOCAL,
];
const PORTS = [
  [{ name: "http", port: 80 }],
  [{ name: "http", port: 80 }],
  [{ name: "http", port: 81 }],
  [
    { name: "http", port: 80 },
    { name: "x", protocol: "UDP", port: 9 },
  ],
  [{ name: "http" }],
  [],
];
/** nodes and zones that endpoints are in and hints name; a node "n3" and a zone "z3" have neither */
const PLACES: Partial<SliceEndpoint>[] = [
  {},
  { nodeName: "n1", zone: "z1", hints: { forZones: [{ name: "z1" }] } },
  { nodeName: "n2", zone: "z2", hints: { forZones: [{ name: "z2" }] } },
  { nodeName: "n1", zone: "z1", hints: { forZones: [{ name: "z1" }], forNodes: [{ name: "n1" }] } },
  { nodeName: "n2", zone: "z2", hints: { forZones: [{ name: "z2" }, { name: "z1" }], forNodes: [{ name: "n2" }] } },
];

export class RandomServices {
  readonly services = new Map<string, Service>();
  readonly slices = new Map<string, EndpointSlice>();

  constructor(private readonly random: Random) {}

  /** One change, or new lists after several. */
  step(view: MergedServices): void {
    const draw = this.random.below(20);
    if (draw < 4) view.putService(this.#newService());
    else if (draw < 5) {
      const gone = aService(pick(this.random, NAMES));
      this.services.delete(nameOf(gone));
      view.deleteService(gone);
    } else if (draw < 15) view.putSlice(this.#newSlice());
    else if (draw < 18) {
      const gone = aSlice(pick(this.random, SLICES), "", []);
      this.slices.delete(nameOf(gone));
      view.deleteSlice(gone);
    } else {
      // A watch was lost: what happened meanwhile shows in the next lists alone.
      for (let i = this.random.below(4); i > 0; i--) {
        this.#newSlice();
        this.slices.delete(pick(this.random, SLICES));
        this.services.delete(pick(this.random, NAMES));
      }
      view.replaceServices([...this.services.values()]);
      view.replaceSlices([...this.slices.values()]);
    }
  }

  #newService(): Service {
    const labels = this.random.below(6) === 0 ? { "service.kubernetes.io/service-proxy-name": "x" } : undefined;
    const service = aService(pick(this.random, NAMES), pick(this.random, SPECS), { labels });
    this.services.set(nameOf(service), service);
    return service;
  }

  #newSlice(): EndpointSlice {
    const isIPv6 = this.random.below(3) === 0;
    // Where all endpoints are of one kind, hints count.
    const places = this.random.below(2) === 0 ? PLACES : PLACES.slice(3);
    const endpoints = Array.from({ length: this.random.below(5) }, () => {
      const ip = `${isIPv6 ? "fd00::" : "10.1.0."}${1 + this.random.below(5)}`;
      return this.random.below(6) === 0 ? { addresses: [ip] } : anEndpoint(ip, pick(this.random, STATES), pick(this.random, places));
    });
    const labels = this.random.below(8) === 0 ? { "service.kubernetes.io/headless": "" } : undefined;
    const more = { addressType: isIPv6 ? "IPv6" : "IPv4", ports: pick(this.random, PORTS), labels };
    const slice = aSlice(pick(this.random, SLICES), pick(this.random, NAMES), endpoints, more);
    this.slices.set(nameOf(slice), slice);
    return slice;
  }
}

function nameOf({ metadata }: KubeObject): string {
  return metadata?.name ?? "";
}
