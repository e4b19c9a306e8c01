/** What repair does to a simulated cluster: the objects as it calls them, and a judge of each call. */
import type { ServicesStore } from "../../../../src/addresses/clusterip/services-store";
import { heldAddresses } from "../../../../src/addresses/clusterip/address-plan";
import type { RepairPeers } from "../../../../src/addresses/repair/repair-peers";
import { heldNodePorts } from "../../../../src/addresses/node-ports/node-port-plan";
import { readIPAddress } from "../../../../src/addresses/repair/round";
import type { NodePortRow } from "../../../../src/addresses/rpc/repaired-node-ports";
import type { WrittenAddress } from "../../../../src/addresses/rpc/repair";
import { type HeldNodePort, nodePortText } from "../../../../src/api/registry/services/held-by-service";
import { parseTime } from "../../../../src/api/meta/time";
import type { ObjectFeed } from "../../../../src/api/rpc/object-feed";
import { ipAddressesOf, servicesOf } from "./checks";
import type { SimPlatform } from "../platform/platform";
import type { Caller, SimNode } from "../platform/network";
import { plainCopy } from "../platform/plain-copy";
import type { ProtocolStep } from "../protocol-steps";

const COMPARE = "services.makeNodePortsWhole";
/** Longer than a pass takes, its calls delayed and all. */
const PASS_MAX_MS = 10 * 60_000;
/** What is younger waits for its Service. */
const ORPHAN_AGE_MS = 60_000;

export class RepairWatch {
  /** calls to the objects, by name */
  readonly calls: string[] = [];
  /** what repair has done, or was about to do, to an object in good order: at the end that would be mended again, and nobody would know */
  readonly harm: string[] = [];
  /** repair is about to delete these IPAddresses, and is slow: their names may be in use again before it acts */
  proposing: (names: readonly string[]) => Promise<unknown> = () => Promise.resolve();
  /** a call fails before it reaches its object */
  fails: (call: string) => boolean = () => false;
  /** uids of the IPAddresses that repair looked at last, by name */
  readonly #seen = new Map<string, string>();

  constructor(private readonly cluster: SimPlatform) {}

  /** The objects as a repair controller calls them in one of its lives. */
  peers(caller: Caller): RepairPeers {
    const { cluster } = this;
    const call = <Brain, T>(what: string, node: SimNode<Brain>, work: (brain: Brain) => Promise<T>, step?: ProtocolStep): Promise<T> => {
      this.calls.push(what);
      if (this.fails(what)) return Promise.reject(new Error(`${what} failed`));
      return cluster.network.call(caller, node, work, () => step);
    };
    const feed = <Brain extends ObjectFeed>(
      node: SimNode<Brain>,
      nameOf = (method: string): string => `${node.name}.${method}`,
    ): ObjectFeed => {
      const read = <T>(method: string, work: (store: Brain) => Promise<T>): Promise<T> => call(nameOf(method), node, work, "feed");
      return {
        // With a page it counts as the read of that page.
        objectsSince: (cursor, limit, page) =>
          read(page ? "objectsAfter" : "objectsSince", (store) => store.objectsSince(cursor, limit, page)),
        objectsAfter: (after, limit) => read("objectsAfter", (store) => store.objectsAfter(after, limit)),
        objectsNamed: (keys) => read("objectsNamed", (store) => store.objectsNamed(plainCopy(keys))),
      };
    };
    const { services, ipAddresses, coordinator } = cluster;
    const addresses = feed(ipAddresses);
    return {
      services: () => ({
        ...feed(services),
        makeWhole: (items) => call("services.makeWhole", services, (store) => store.makeWhole(plainCopy(items)), "makeWhole"),
        makeServicesWhole: (items, seen) => {
          // Two questions by one call, of which each may fail by itself.
          this.calls.push(COMPARE);
          const fails = this.fails(COMPARE);
          return call(
            "services.makeWhole",
            services,
            async (store) =>
              fails
                ? { addresses: await store.makeWhole(plainCopy(items)), nodePorts: null }
                : store.makeServicesWhole(plainCopy(items), plainCopy(seen)),
            "makeWhole",
          );
        },
        giveUp: (items) => {
          this.#judgeProposals(items);
          return call(
            "services.giveUp",
            services,
            async (brain) => {
              const results = await brain.giveUp(plainCopy(items));
              for (const [i, item] of items.entries()) if (results[i] === "released") this.#judgeRelease(brain, item);
              return results;
            },
            "giveUp",
          );
        },
        makeNodePortsWhole: (seen) => call(COMPARE, services, (store) => store.makeNodePortsWhole(plainCopy(seen))),
        leakedNodePorts: (after, limit) =>
          call("services.leakedNodePorts", services, (store) => store.leakedNodePorts(plainCopy(after), limit)),
        settleNodePorts: (leaks) =>
          call("services.settleNodePorts", services, async (store) => {
            const results = await store.settleNodePorts(plainCopy(leaks));
            for (const [i, leak] of leaks.entries()) if (results[i] === "freed") this.#judgeFreed(leak);
            return results;
          }),
      }),
      ipAddresses: () => ({
        ...addresses,
        objectsNamed: async (keys) => {
          const found = await addresses.objectsNamed(keys);
          this.#note(found);
          return found;
        },
        restoreMany: (writes) => call("ipaddresses.restoreMany", ipAddresses, (brain) => brain.restoreMany(plainCopy(writes)), "restore"),
        makeHeld: (items) => call("ipaddresses.makeHeld", ipAddresses, (brain) => brain.makeHeld(plainCopy(items)), "makeHeld"),
        writersOf: async (names) => {
          await this.proposing(names);
          return call("ipaddresses.writersOf", ipAddresses, (brain) => brain.writersOf([...names]), "writers");
        },
        write: (request) => {
          if (request.verb === "delete") this.#judge(request.key.name, request.options.preconditions.uid);
          return call(`ipaddresses.write ${request.verb}`, ipAddresses, ({ store }) => store.write(plainCopy(request)));
        },
      }),
      coordinator: () => ({
        ...feed(coordinator, () => "ranges"),
        rangesSince: (cursor) => call("ranges", coordinator, (store) => store.rangesSince(plainCopy(cursor)), "feed"),
        topology: () => call("topology", coordinator, (store) => store.topology(), "topology"),
      }),
      owner: (uid) => ({
        checkBitmap: (after, limit) =>
          call("owner.checkBitmap", cluster.owner(uid).node, (owner) => owner.checkBitmap(after, limit), "checkBitmap"),
      }),
    };
  }

  #note(texts: readonly (string | null | undefined)[]): void {
    for (const text of texts) {
      const { name = "", uid = "" } = readIPAddress(text ?? "")?.metadata ?? {};
      this.#seen.set(name, uid);
    }
  }

  #judgeProposals(items: readonly WrittenAddress[]): void {
    for (const { address, token } of items) {
      const seen = this.#seen.get(address);
      if (seen && this.cluster.tables.ipAddresses.addresses.genGet(address)?.token === token) this.#judge(address, seen);
    }
  }

  /** Of the object that is there now. The request does not mean an object that came after repair looked. */
  #judge(address: string, uid = ""): void {
    const { cluster } = this;
    const { now } = cluster.scheduler;
    const found = ipAddressesOf(cluster).find(({ metadata }) => metadata?.name === address && metadata.uid === uid);
    const { namespace = "", name = "" } = found?.spec?.parentRef ?? {};
    const parent = `${namespace}/${name}`;
    // While the Service was there, only addresses that it did not hold could go.
    const wasThere = now - (cluster.goneAt.get(parent) ?? 0) < PASS_MAX_MS;
    const isOrphan = found && !wasThere && !cluster.tables.services.store.objectGet(parent);
    const ageMs = now - (parseTime(found?.metadata?.creationTimestamp ?? "") ?? 0);
    if (isOrphan && ageMs < ORPHAN_AGE_MS) this.harm.push(`repair: ${address} would go ${ageMs} ms after it came`);
  }

  /** Of a row that the services store has just freed: no Service holds the port, unless it has taken it since and has a row of its own. */
  #judgeFreed(row: NodePortRow): void {
    const isOfRow = ({ protocol, port }: HeldNodePort): boolean => protocol === row.protocol && port === row.port;
    const holder = servicesOf(this.cluster).find((service) => heldNodePorts(service).some(isOfRow));
    const written = this.cluster.tables.services.nodePorts.nodePortHolder(row);
    if (holder && written === undefined)
      this.harm.push(`repair: ${nodePortText(row)} was freed, and ${holder.metadata?.name ?? ""} holds it`);
  }

  /** Of what the services store has just agreed to release: nobody holds it, and no operation under way may still commit it. */
  #judgeRelease({ ledger }: ServicesStore, { address, token }: WrittenAddress): void {
    if (ledger.isInFlight(token)) this.harm.push(`repair: ${address} was released under an operation that may commit it`);
    const allocation = this.cluster.tables.services.ledger.allocationGet(address);
    if (allocation && allocation.token !== token) return;
    const holder = servicesOf(this.cluster).find((service) => heldAddresses(service).includes(address));
    if (holder) this.harm.push(`repair: ${address} was released, and ${holder.metadata?.name ?? ""} holds it`);
  }
}
