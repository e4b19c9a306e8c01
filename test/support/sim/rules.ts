/** The four stores of roles and bindings of a cluster, the product's, on a simulated network: who asks for the rules, and who changes them. */
import { PolicyHost } from "../../../src/access/rbac/policy-host";
import { CompiledPolicy } from "../../../src/access/rbac/compiled-policy";
import type { RbacKind, RbacObjects } from "../../../src/access/rbac/policy";
import { resourceOfKind } from "../../../src/access/rbac/rbac-resources";
import type { StoredPolicyPort, StoredRules } from "../../../src/access/rbac/stored-policy";
import { definitionOf } from "../../../src/api/registry/all";
import type { PolicyAnswer } from "../../../src/api/rpc/policy";
import type { ObjectFeed } from "../../../src/api/rpc/object-feed";
import type { BatchedStore, WriteRequest, WriteResult } from "../../../src/api/rpc/store";
import type { WordRandom } from "../../../src/core/base/word-random";
import { AnnouncedWrites } from "../../../src/controllers/announced-writes";
import { PlainStore } from "../../../src/controllers/plain-store";
import { aNamespace } from "../worlds/store-world";
import { fakeDigest } from "./platform/fake-digest";
import { CLIENT, type Life, SimNetwork, SimNode, whileAlive } from "./platform/network";
import { SimScheduler } from "./platform/scheduler";
import { StoreTables } from "./tables";

const HOST: RbacKind = "ClusterRole";

export class SimRules {
  readonly scheduler = new SimScheduler();
  readonly network: SimNetwork;
  readonly nodes: Readonly<Record<RbacKind, SimNode<PlainStore>>>;
  /** what each store has had from one commit to the next, as the rules have it */
  readonly had: Readonly<Record<RbacKind, string[]>> = {
    Role: ["[]"],
    RoleBinding: ["[]"],
    ClusterRole: ["[]"],
    ClusterRoleBinding: ["[]"],
  };
  /** called before each commit; may let the object die and throw */
  beforeCommit: (kind: RbacKind) => void = () => undefined;
  /** the same behind it */
  afterCommit: (kind: RbacKind) => void = () => undefined;
  /** stores of the release before, which tell nothing */
  readonly silent = new Set<RbacKind>();
  /** a value beside the tables */
  readonly #defaults = {
    version: undefined as string | undefined,
    load: () => this.#defaults.version,
    save: (version: string) => void (this.#defaults.version = version),
  };
  /** another one, in the transactions of the store of ClusterRoles */
  stored: StoredRules | undefined;
  /** starts found it so often */
  found = 0;
  readonly #tables: Readonly<Record<RbacKind, StoreTables>>;

  constructor(private readonly random: WordRandom) {
    this.network = new SimNetwork(this.scheduler, random);
    this.#tables = {
      Role: new StoreTables(),
      RoleBinding: new StoreTables(),
      ClusterRole: new StoreTables(),
      ClusterRoleBinding: new StoreTables(),
    };
    const node = (kind: RbacKind): SimNode<PlainStore> => {
      const made = new SimNode<PlainStore>(
        kind,
        this.network,
        (life) => this.#made(kind, life),
        () => Promise.resolve(),
      );
      const { gate } = made;
      const afterCommit: typeof gate.afterCommit = (steps) => {
        this.had[kind].push(this.#rulesIn(kind));
        this.afterCommit(kind);
        gate.afterCommit?.(steps);
      };
      const beforeCommit: typeof gate.beforeCommit = (steps) => {
        this.beforeCommit(kind);
        gate.beforeCommit?.(steps);
      };
      this.#tables[kind].journal.gate = { beforeCommit, afterCommit };
      return made;
    };
    this.nodes = {
      Role: node("Role"),
      RoleBinding: node("RoleBinding"),
      ClusterRole: node("ClusterRole"),
      ClusterRoleBinding: node("ClusterRoleBinding"),
    };
  }

  write(kind: RbacKind, request: WriteRequest): Promise<WriteResult> {
    return this.network.call(CLIENT, this.nodes[kind], (store) => store.write(request));
  }

  ask(version: string): Promise<PolicyAnswer> {
    return this.network.call(CLIENT, this.nodes[HOST], (store) => store.policySince(version));
  }

  /** See BeginningAbove: this store has come back from a backup. */
  beginAbove(kind: RbacKind): Promise<number | null> {
    return this.network.call(CLIENT, this.nodes[kind], (store) => store.beginAbove({ head: 1_000_000, asOf: 0 }));
  }

  ensureDefaults(): Promise<boolean> {
    return this.network.call(CLIENT, this.nodes[HOST], (store) => store.ensureDefaults());
  }

  #made(kind: RbacKind, life: Life): PlainStore {
    const { group, resource } = resourceOfKind(kind);
    const definition = definitionOf(group, resource);
    if (!definition) throw new Error(`no resource ${resource}`);
    const { clock } = life;
    const { publications, store } = this.#tables[kind];
    const recorder = { log: () => undefined };
    const host = (): SimNode<PlainStore> => this.nodes[HOST];
    const announced = new AnnouncedWrites({
      clock,
      resource,
      listener: () => ({ rulesChanging: (named) => this.network.call(life, host(), (brain) => brain.rulesChanging(named)) }),
    });
    const storeOf = (other: RbacKind, own: ObjectFeed & BatchedStore): ObjectFeed & BatchedStore =>
      other === HOST ? own : this.#called(life, other);
    return new PlainStore({
      cluster: "sim",
      definition,
      serviceFamilies: () => ["IPv4"],
      clock,
      random: this.random,
      recorder,
      digest: fakeDigest,
      storage: whileAlive(store, life),
      closedNamespaces: whileAlive(store, life),
      publications: {
        lastLoad: (key) => publications.get(key),
        lastSave: (key, last) => void publications.set(key, last),
        put: () => Promise.resolve(),
      },
      peers: {
        namespace: (name) => Promise.resolve(aNamespace(name)),
        garbageCollector: () => undefined,
        followers: () => [],
        stores: () => [],
        endsNamespaces: () => true,
      },
      noteBusy: () => undefined,
      abort: () => life.die?.(),
      controllersSet: () => undefined,
      end: () => Promise.reject(new Error("no simulated cluster is deleted")),
      isFollowed: false,
      advertiseAddresses: [],
      ...(kind === HOST
        ? {
            policy: (own) =>
              new PolicyHost({
                clock,
                digest: fakeDigest,
                recorder,
                store: (other) => storeOf(other, own),
                defaults: this.#defaults,
                stored: whileAlive(this.#storedPort(), life),
              }),
          }
        : {}),
      ...(kind === HOST || this.silent.has(kind) ? {} : { announced }),
    });
  }

  #storedPort(): StoredPolicyPort {
    const set = (rules: StoredRules | undefined): void => {
      const before = this.stored;
      this.stored = rules;
      this.#tables[HOST].journal.wrote(() => (this.stored = before));
    };
    return {
      load: () => {
        if (this.stored) this.found++;
        return this.stored;
      },
      save: set,
      remove: () => set(undefined),
    };
  }

  #called(life: Life, kind: RbacKind): ObjectFeed & BatchedStore {
    const call = <T>(work: (store: PlainStore) => Promise<T>): Promise<T> => this.network.call(life, this.nodes[kind], work);
    return {
      objectsSince: (cursor, limit) => call((store) => store.objectsSince(cursor, limit)),
      objectsAfter: (after, limit) => call((store) => store.objectsAfter(after, limit)),
      objectsNamed: (keys) => call((store) => store.objectsNamed(keys)),
      write: (request) => call((store) => store.write(request)),
      writeAll: (requests) => call((store) => store.writeAll(requests)),
    };
  }

  #rulesIn(kind: RbacKind): string {
    const compiled = new CompiledPolicy();
    for (const { data } of this.#tables[kind].store.objectScan("", "")) compiled.put(kind, JSON.parse(data) as RbacObjects[typeof kind]);
    return rulesOf(kind, compiled.text());
  }
}

/** The objects of one kind in the text of all rules. */
export function rulesOf(kind: RbacKind, text: string): string {
  return JSON.stringify((JSON.parse(text) as Record<RbacKind, unknown>)[kind]);
}
