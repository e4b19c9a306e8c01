/** Clients of a simulated cluster: random writes, and what they may conclude from the answers they got. */
import type { IPAddress, KubeObject, Service } from "../../../src/api/meta/kubernetes";
import type { ObjectKey, WriteOptions, WriteRequest, WriteResult } from "../../../src/api/rpc/store";
import { heldNodePorts } from "../../../src/addresses/node-ports/node-port-plan";
import type { WordRandom } from "../../../src/core/base/word-random";
import { ipAddressesOf, servicesOf } from "./watches/checks";
import type { SimCluster } from "./cluster";
import { CLIENT } from "./platform/network";
import { DELETE } from "../worlds/store-world";

const OPTIONS: WriteOptions = {
  dryRun: false,
  fieldManager: "sim",
  fieldValidation: "Strict",
  force: false,
  group: "",
  version: "v1",
};
const NETWORKING: WriteOptions = { ...OPTIONS, group: "networking.k8s.io" };

/** The last thing that is known about a name which only one client uses; after a lost answer nothing is. */
type Known = { state: "absent" } | { state: "present"; uid: string; addresses: string; nodePorts: string } | { state: "unknown" };

/** Names that one client each uses, one write after the other, so that every answer can be held against the end. */
const OWN_NAMES = 8;
/** Names that everybody writes at once. */
const SHARED_NAMES = 3;
/** Comes and goes with what is in it. */
export const PASSING_NAMESPACE = "passing";

export class SimClients {
  /** answers by their code, for the curious */
  readonly answers = new Map<number, number>();
  readonly #services = new Map<string, Known>();
  readonly #ipAddresses = new Map<string, Known>();
  readonly #busy = new Set<string>();
  readonly #violations: string[] = [];
  /** updates that change nothing */
  readonly #unchanged = new WeakSet<WriteRequest>();

  constructor(
    private readonly cluster: SimCluster,
    private readonly random: WordRandom,
    /** addresses that clients ask for by name */
    private readonly named: readonly string[],
    private readonly isDual: boolean,
    /** passing: part of the Services are written in PASSING_NAMESPACE */
    private readonly options: { passing?: boolean } = {},
  ) {}

  /** Starts one random write; does not wait for it. False: whose turn it was still waits for an answer. */
  act(): boolean {
    const dice = this.random.below(100);
    if (dice < 75) return this.#actOnService();
    if (dice < 97) return this.#actOnIPAddress();
    this.#actOnServiceCIDR();
    return true;
  }

  /** What breaks pairs, for a cluster with a repair controller: IPAddresses are deleted under their Services, or name one that is not theirs; the Service of the API goes. */
  meddle(): void {
    const all = ipAddressesOf(this.cluster);
    const managed = all.filter(({ spec }) => spec?.parentRef?.resource === "services");
    const dice = this.random.below(11);
    const { name, uid = "" } = managed[this.random.below(Math.max(1, managed.length))]?.metadata ?? {};
    if (dice < 2 || name === undefined) void this.#send(this.cluster.ipAddresses, this.#orphan());
    else if (dice < 6) void this.#replace(name, uid);
    else if (dice < 8) void this.#deleteByHand(name, uid);
    else if (dice < 10) void this.#send(this.cluster.ipAddresses, this.#finalizers(name));
    else void this.#send(this.cluster.services, { verb: "delete", key: { namespace: "default", name: "kubernetes" }, options: DELETE });
  }

  /** Only this very one, however late: its successor may be a client's. */
  #deleteByHand(name: string, uid: string): Promise<WriteResult | undefined> {
    const options = { ...DELETE, preconditions: { uid } };
    return this.#send(this.cluster.ipAddresses, { verb: "delete", key: { namespace: "", name }, options });
  }

  /** A Service's IPAddress is deleted by hand, and one that names another Service is put in its place. */
  async #replace(name: string, uid: string): Promise<void> {
    await this.#deleteByHand(name, uid);
    await this.#send(this.cluster.ipAddresses, this.#orphan(name));
  }

  /** An IPAddress is deleted by hand, and a Service gets just that address. */
  async takeOver(address: string): Promise<void> {
    const uid = this.cluster.tables.ipAddresses.store.objectGet(address)?.uid ?? "";
    const { services } = this.cluster;
    const name = `shared-${this.random.below(SHARED_NAMES)}`;
    await Promise.all([
      this.#deleteByHand(address, uid),
      this.#send(services, { verb: "delete", key: { namespace: "default", name }, options: DELETE }),
    ]);
    const object = JSON.stringify({ metadata: { name, namespace: "default" }, spec: { clusterIP: address, ports: [{ port: 80 }] } });
    await this.#send(services, { verb: "create", namespace: "default", object, options: OPTIONS });
  }

  /** Whoever held Services' IPAddresses back lets them go. */
  letGo(): void {
    for (const { metadata, spec } of ipAddressesOf(this.cluster)) {
      const isHeld = spec?.parentRef?.resource === "services" && metadata?.finalizers?.length;
      if (isHeld) void this.#send(this.cluster.ipAddresses, finalizersPatch(metadata.name ?? "", null));
    }
  }

  /** Held back, or let go by force. */
  #finalizers(name: string): WriteRequest {
    return finalizersPatch(name, this.random.below(2) === 0 ? ["example.com/held"] : null);
  }

  #orphan(name = this.#address("")): WriteRequest {
    this.#ipAddresses.set(name, { state: "unknown" });
    const parentRef = { group: "", resource: "services", namespace: "default", name: `own-${this.random.below(OWN_NAMES)}` };
    // Without the label it would be somebody else's, and nobody's business.
    const labels = { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" };
    const object = JSON.stringify({ metadata: { name, labels }, spec: { parentRef } });
    return { verb: "create", namespace: "", object, options: NETWORKING };
  }

  /** I4, as far as clients can tell: what was acknowledged is there, what failed left nothing. */
  check(): string[] {
    const services = new Map(servicesOf(this.cluster).map((service) => [service.metadata?.name ?? "", knownOf(service)]));
    const ipAddresses = new Map(ipAddressesOf(this.cluster).map((object) => [object.metadata?.name ?? "", knownOf(object)]));
    return [
      ...this.#violations,
      ...compare("Service", this.#answered(this.#services), services),
      ...compare("IPAddress", this.#answered(this.#ipAddresses), ipAddresses),
    ];
  }

  /** Whoever still waits for an answer knows nothing. */
  #answered(all: ReadonlyMap<string, Known>): Map<string, Known> {
    return new Map([...all].filter(([name]) => !this.#busy.has(name)));
  }

  #actOnService(): boolean {
    const dice = this.random.below(20);
    const isShared = dice < 5;
    const name = isShared ? `shared-${this.random.below(SHARED_NAMES)}` : `own-${this.random.below(OWN_NAMES)}`;
    const namespace = dice < 2 && this.options.passing ? PASSING_NAMESPACE : "default";
    const request = this.#serviceWrite(namespace, name);
    if (!isShared) return this.#alone(this.#services, name, () => this.#send(this.cluster.services, request));
    void this.#send(this.cluster.services, request);
    return true;
  }

  #serviceWrite(namespace: string, name: string): WriteRequest {
    const key = { namespace, name };
    const known = this.#services.get(name)?.state;
    const dice = this.random.below(10);
    if (known !== "present" ? dice < 7 : dice < 1) {
      const object = { metadata: { name, namespace }, spec: this.#spec() };
      return { verb: "create", namespace, object: JSON.stringify(object), options: OPTIONS };
    }
    if (dice < 6) return { verb: "delete", key, options: DELETE };
    const stored = dice < 8 ? this.cluster.tables.services.store.objectGet(`${namespace}/${name}`)?.data : undefined;
    if (stored) return this.#replacement(key, stored);
    const metadata = this.random.below(4) > 0 ? {} : { finalizers: this.random.below(2) === 0 ? ["example.com/held"] : null };
    const patch = JSON.stringify({ metadata, spec: this.#change() });
    return { verb: "patch", key, subresource: "", patchType: "merge", patch, options: OPTIONS };
  }

  /** The whole object, as somebody has read it: with something changed, or just as it was. */
  #replacement(key: ObjectKey, stored: string): WriteRequest {
    const object = JSON.parse(stored) as Service;
    const dice = this.random.below(4);
    if (dice === 1) object.metadata = { ...object.metadata, labels: { turn: String(this.random.below(100)) } };
    if (dice === 2) object.spec = { ...object.spec, selector: { turn: String(this.random.below(100)) } };
    // Whoever leaves out the revision overwrites what came in between.
    if (dice === 3) object.metadata = { ...object.metadata, resourceVersion: "", finalizers: [] };
    const request: WriteRequest = { verb: "update", key, subresource: "", object: JSON.stringify(object), options: OPTIONS };
    if (dice === 0) this.#unchanged.add(request);
    return request;
  }

  #spec(): object {
    const ports = [{ port: 80 }];
    switch (this.random.below(13)) {
      case 0:
        return { type: "ExternalName", externalName: "a.example.com" };
      case 1:
        return { clusterIP: "None", ports };
      case 2:
      case 3:
        return { clusterIP: this.#address("4"), ports };
      case 4:
      case 5:
        return this.isDual ? { ipFamilyPolicy: "RequireDualStack", ports } : { ports };
      case 6:
        return { type: "NodePort", ports: this.#dnsPorts() };
      case 7:
        return { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: this.#dnsPorts() };
      default:
        return { ports };
    }
  }

  #change(): object {
    switch (this.random.below(this.isDual ? 6 : 4)) {
      case 0:
        return { type: "ExternalName", externalName: "b.example.com" };
      case 1:
        return { type: "ClusterIP", externalName: null, ports: [{ port: 80 + this.random.below(3) }] };
      case 2:
        return { type: "NodePort", externalName: null, ports: this.#dnsPorts() };
      case 3: {
        const policy = this.random.below(2) === 0 ? "Local" : "Cluster";
        return { type: "LoadBalancer", externalName: null, externalTrafficPolicy: policy, ports: this.#dnsPorts() };
      }
      case 4:
        return { ipFamilyPolicy: "RequireDualStack" };
      default:
        return { ipFamilyPolicy: "SingleStack" };
    }
  }

  /** One or two protocols of one port; the node ports that are named are few, so that clients get into each other's way. */
  #dnsPorts(): object[] {
    const port = (protocol: string): object => {
      const nodePort = this.random.below(3) === 0 ? { nodePort: 30_000 + this.random.below(4) } : {};
      return { name: protocol.toLowerCase(), port: 53, protocol, ...nodePort };
    };
    return this.random.below(2) === 0 ? [port("UDP"), port("TCP")] : [port("TCP")];
  }

  #actOnIPAddress(): boolean {
    const name = this.#address("");
    const isMine = this.#ipAddresses.get(name)?.state === "present";
    const target = this.cluster.ipAddresses;
    if (isMine) {
      const isForced = this.random.below(4) === 0;
      const request: WriteRequest = isForced ? this.#finalizers(name) : { verb: "delete", key: { namespace: "", name }, options: DELETE };
      return this.#alone(this.#ipAddresses, name, () => this.#send(target, request));
    }
    const parentRef = { group: "example.com", resource: "gateways", namespace: "default", name: "mine" };
    const finalizers = this.random.below(8) === 0 ? ["example.com/held"] : [];
    const object = JSON.stringify({ metadata: { name, finalizers }, spec: { parentRef } });
    const request: WriteRequest = { verb: "create", namespace: "", object, options: NETWORKING };
    return this.#alone(this.#ipAddresses, name, () => this.#send(target, request));
  }

  #actOnServiceCIDR(): void {
    const { coordinator } = this.cluster;
    const name = `cidr-${this.random.below(2)}`;
    const prefix = ["10.0.1.0/28", "10.0.0.0/27", "10.0.1.0/29"][this.random.below(3)] ?? "";
    const cidrs = this.isDual ? [prefix, "fd01::/124"] : [prefix];
    const create: WriteRequest = {
      verb: "create",
      namespace: "",
      object: JSON.stringify({ metadata: { name }, spec: { cidrs } }),
      options: NETWORKING,
    };
    const request: WriteRequest = this.random.below(2) === 0 ? create : { verb: "delete", key: { namespace: "", name }, options: DELETE };
    const { network } = this.cluster;
    void network.call(CLIENT, coordinator, (store) => store.write(request)).catch(() => undefined);
  }

  #address(family: string): string {
    const some = family === "4" ? this.named.filter((address) => !address.includes(":")) : this.named;
    return some[this.random.below(some.length)] ?? "";
  }

  /** One write of a name that nobody else writes; once its state got lost, answers are not held against anything any more. */
  #alone(all: Map<string, Known>, name: string, send: () => Promise<WriteResult | undefined>): boolean {
    const before = all.get(name) ?? { state: "absent" };
    if (this.#busy.has(name)) return false;
    if (before.state === "unknown") {
      void send();
      return true;
    }
    this.#busy.add(name);
    void Promise.race([send(), this.#patience()]).then((result) => {
      this.#busy.delete(name);
      all.set(name, result === undefined ? { state: "unknown" } : after(before, result));
    });
    return true;
  }

  #patience(): Promise<undefined> {
    return new Promise((resolve) => void this.cluster.scheduler.after(60_000, () => resolve(undefined)));
  }

  /** An update that changes nothing writes nothing: the revision is the one that was sent. */
  #judge(request: WriteRequest, result: WriteResult): void {
    if (!this.#unchanged.has(request) || request.verb !== "update" || !result.ok) return;
    const [was, is] = [request.object, result.object].map((text) => (JSON.parse(text) as KubeObject).metadata?.resourceVersion);
    if (was !== is) this.#violations.push(`I5: ${request.key.name} was sent as it was at ${String(was)}, and has ${String(is)} now`);
  }

  async #send(target: SimCluster["services"] | SimCluster["ipAddresses"], request: WriteRequest): Promise<WriteResult | undefined> {
    const { network } = this.cluster;
    try {
      const write = ({ store }: { store: { write(request: WriteRequest): Promise<WriteResult> } }): Promise<WriteResult> =>
        store.write(request);
      const result = await network.call<never, WriteResult>(CLIENT, target as never, write);
      const code = result.ok ? result.code : (result.status.code ?? 0);
      this.answers.set(code, (this.answers.get(code) ?? 0) + 1);
      this.#judge(request, result);
      if (
        !result.ok &&
        code >= 500 &&
        !/range is full|no ServiceCIDR with|in time|in the allotted|not been|changed meanwhile|within the allotted|namespaces store did not answer/.test(
          result.status.message ?? "",
        )
      ) {
        this.#violations.push(`unexpected answer ${code}: ${result.status.message ?? ""}`);
      }
      return result;
    } catch {
      return undefined;
    }
  }
}

function finalizersPatch(name: string, finalizers: string[] | null): WriteRequest {
  return {
    verb: "patch",
    key: { namespace: "", name },
    subresource: "",
    patchType: "merge",
    patch: JSON.stringify({ metadata: { finalizers } }),
    options: NETWORKING,
  };
}

function after(before: Known, result: WriteResult): Known {
  if (!result.ok) return before;
  return result.gone ? { state: "absent" } : knownOf(JSON.parse(result.object) as KubeObject);
}

function knownOf(object: Service | IPAddress): Known {
  const service = object as Service;
  const spec = service.spec;
  return {
    state: "present",
    uid: object.metadata?.uid ?? "",
    addresses: (spec?.clusterIPs ?? []).join(","),
    nodePorts: nodePortsOf(service),
  };
}

function nodePortsOf(service: Service): string {
  return heldNodePorts(service)
    .map(({ protocol, port }) => `${protocol}/${port}`)
    .join(",");
}

function compare(kind: string, expected: ReadonlyMap<string, Known>, found: ReadonlyMap<string, Known>): string[] {
  return [...expected].flatMap(([name, known]) => {
    const is = found.get(name);
    switch (known.state) {
      case "unknown":
        return [];
      case "absent":
        // An IPAddress of that name may meanwhile be a Service's.
        return is && kind === "Service" ? [`I4: ${kind} ${name} was acknowledged as gone, or refused, and is there`] : [];
      case "present":
        return JSON.stringify(is) === JSON.stringify(known)
          ? []
          : [`I4: ${kind} ${name} is ${JSON.stringify(is)} and was acknowledged as ${JSON.stringify(known)}`];
    }
  });
}
