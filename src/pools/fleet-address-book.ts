/**
 * The part of the root's store of addresses that gives addresses of global pools to the claims of other clusters. An address is taken in the transaction that
 * stores its IPAddress object at the root, the row. It names who has it: the id of the life of the cluster, the claim and its uid. So whatever shrinks,
 * deletes, counts or overlaps a pool meets it as any other address. The object has a finalizer, and names another claim than that of its own name. So no claim
 * of the root takes it over, and no client makes or removes one.
 *
 * The store of addresses of the other cluster alone takes and releases rows; the header of root-addresses.ts says what is on disk at each step.
 *
 *   what dies                           what there is                         what mends it
 *   the asking store, behind a take     a row to which nobody refers          the audit of its next life; a take of an earlier one takes nothing
 *   its release                         the same                              it is sent again, and the audit finds it
 *   the cluster                         rows of a life that has ended         its store is asked, which says so, and all go: at its end, and by `maintain`
 *   this store, behind a release        no row, and nobody was woken          clusters try again by themselves (pools-pass.ts)
 *   this store, brought back in time    rows are lost, or there are too many  it gives nothing until each cluster has compared its own (`beginAnew`)
 *
 * A cluster whose store does not answer keeps its rows.
 */
import { readObject } from "../api/meta/read-object";
import { parseLabelSelector } from "../api/meta/selector";
import { serviceUnavailable } from "../api/meta/status";
import { rfc3339Seconds } from "../api/meta/time";
import type { Cluster } from "../api/registry/clusters/cluster";
import { ROW_NAMESPACE, rowHolder, rowMetadata, SERVED_CLUSTERS, withoutHolder } from "../api/registry/ipam/fleet-rows";
import {
  ADDRESS_FINALIZER,
  type AddressPool,
  IPAM_GROUP,
  isGlobalPool,
  isPaused,
  keyOfPool,
  partsOfPoolKey,
  type PoolAddress,
  type PoolKey,
  poolKeyOf,
} from "../api/registry/ipam/ipam";
import type { FleetAnswer, FleetPoolsRpc, FleetQuestion, FleetReply, FleetRequest, FleetRow } from "../api/rpc/fleet-pools";
import { isUnsupported } from "../api/rpc/protocol";
import type { CommittedChange, StoreExtension } from "../api/store/state/extension";
import { forwarded } from "../api/store/state/forwarded-extension";
import type { StoreStorage } from "../api/store/state/store-storage";
import type { StoreTurn } from "../api/store/state/store-turn";
import { OPERATION_DEADLINE_MS, RPC_TIMEOUT_MS } from "../core/base/limits";
import { inParallel } from "../core/base/in-parallel";
import type { Clock, Random, Recorder } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import { formatAddress, parseAddress } from "../core/net/address";
import { widthOf } from "../core/net/family";
import { SharedCall } from "../core/turns/shared-call";
import { CLUSTER_GONE } from "../tenancy/rpc";
import { clusterName } from "../tenancy/cluster-id";
import { BookSpaces } from "./book-spaces";
import { holdingOf } from "./held-addresses";
import { isOurs, type PoolBook } from "./pool-book";
import type { InternalStore } from "./service-address-book";
import { FleetClusters, type FleetRowStorage } from "./fleet-clusters";

export interface FleetAddressBookPorts {
  clock: Pick<Clock, "now" | "after">;
  random: Pick<Random, "uuid">;
  recorder: Recorder;
  storage: Pick<StoreStorage, "objectGet" | "objectScan">;
  book: Pick<PoolBook, "held" | "holders" | "pools" | "whyNot">;
  /** in the same database */
  rows: FleetRowStorage;
  /** the global pools of these names, as their store has them; undefined = there is none */
  poolsNamed(names: readonly string[]): Promise<readonly (AddressPool | undefined)[]>;
  /** the object of the cluster of this name; undefined = there is none */
  clusterNamed(name: string): Promise<Cluster | undefined>;
  /** the store of addresses of the cluster of this id; makes a stub for one call */
  storeOf(cluster: string): FleetPoolsRpc;
  /** Those of the ids that the list of all clusters does not have as they are. Rejects where it does not answer. */
  suspicious(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Ids of the clusters whose names are behind this one. `next`: the last of these names; absent = there are no more. Rejects where the list does not answer. */
  clustersBehind(name: string, limit: number): Promise<{ ids: readonly string[]; next?: string }>;
  /** Claims of this cluster may get an address. May be lost. */
  wake(cluster: string): void;
  /** The object's alarm rings then, or earlier. */
  wakeAt(atMs: number): void;
}

/** Clusters that hear of room in one turn: what is left is told with the next address, and each tries again by itself. */
const WOKEN_MAX = 16;
const ROWS_OF_PAGE = 500;
/** Clusters that are asked at once, and in one turn of the work. */
const ASKED_AT_ONCE = 8;
const ASKED_MAX = 64;
/** Between two looks for clusters that have ended, and between two questions to all of them. */
const LOOK_MS = 3_600_000;
const AUDIT_MS = 24 * 3_600_000;
/** Until the next turn of a work with many clusters, and until the next try. */
const SOON_MS = 1_000;
const LATER_MS = 30_000;
const RETRY_AFTER_SECONDS = 1;

export class FleetAddressBook implements FleetPoolsRpc {
  /** when it goes on with clusters that it has not asked yet, in milliseconds since the epoch; undefined = it has asked all */
  dueAt: number | undefined;
  #store: InternalStore | undefined;
  readonly #spaces: BookSpaces;
  readonly #clusters: FleetClusters;
  /** keys of rows, by the id of their cluster; undefined = nobody has looked */
  #byCluster: Map<string, Set<string>> | undefined;
  /** pools in which the turn under way makes room */
  #room = new Set<PoolKey>();
  #lookedAt = -Infinity;
  /** the last cluster that was asked whether it has ended; "" = all were */
  #lookedAfter = "";
  readonly #upkeep = new SharedCall(() => this.#maintain());

  constructor(private readonly ports: FleetAddressBookPorts) {
    this.#spaces = new BookSpaces(ports.book);
    this.#clusters = new FleetClusters(ports.rows);
  }

  /** The store that this is in. To be called once, before the first question. */
  attach(store: InternalStore): void {
    this.#store = store;
  }

  /** The store came back from a time before: it gives nothing to anybody, until each cluster has compared its addresses with the rows. */
  get isComparing(): boolean {
    return this.ports.rows.comparing() !== undefined;
  }

  /** The extension of the store, around another one. */
  around<Supply>(inner: StoreExtension<Supply>): StoreExtension<Supply> {
    return {
      ...forwarded(inner),
      admit: (change, operation) => {
        const pool = change.before ? undefined : holdingOf(change.after as PoolAddress)?.pool;
        if (pool !== undefined && isGlobalPool(pool) && isOurs(operation) && this.isComparing)
          return { kind: "refuse", status: serviceUnavailable("pools are being compared with other clusters", RETRY_AFTER_SECONDS) };
        return inner.admit?.(change, operation) ?? { kind: "go" };
      },
      committed: (change, operation) => {
        inner.committed?.(change, operation);
        this.#committed(change);
      },
      turnCommitted: () => {
        inner.turnCommitted?.();
        if (this.#room.size > 0) this.#wake(this.#room);
        this.#room = new Set();
      },
      writeUndone: () => {
        this.#forget();
        inner.writeUndone?.();
      },
      turnLost: () => {
        this.#forget();
        this.#room = new Set();
        inner.turnLost?.();
      },
    };
  }

  /** What the pool gives counts from now on: others may have waited for it. */
  settled(pool: PoolKey): void {
    if (isGlobalPool(pool)) this.#wake(new Set([pool]));
  }

  async askFleet(question: FleetQuestion): Promise<FleetReply> {
    switch (question.does) {
      case "take":
        return this.#take(question);
      case "release":
        await this.#release(question.rows, ({ cluster }) => cluster === question.cluster, new Set(question.unused));
        return { kind: "released" };
      case "rows":
        // In a turn, so that a take of an earlier session is before it, or takes nothing.
        return this.#inTurn(() => this.#outdated(question) ?? this.#rowsBehind(question.cluster, question.after));
      case "confirm":
        return this.#confirm(question);
      case "ended":
        if (this.#clusters.of(question.cluster).session > 0 || this.#rowsOf.has(question.cluster)) await this.#ask(question.cluster);
        return { kind: "audited" };
      case "audit":
        throw new Error("the root has no pools of another root");
    }
  }

  /** Cron's visit: finds rows of clusters that have ended. Calls nobody where no cluster ever asked. Never rejects. */
  maintain(): Promise<void> {
    return this.#upkeep.begin();
  }

  /** The object's alarm went off. Never rejects. */
  alarm(): Promise<void> {
    return this.maintain();
  }

  /** Behind a recovery. */
  beginAnew(): void {
    this.ports.rows.saveComparing("");
    this.#forget();
    this.#goOn(SOON_MS);
  }

  #goOn(inMs: number): void {
    this.dueAt = this.ports.clock.now() + inMs;
    this.ports.wakeAt(this.dueAt);
  }

  #inTurn<T>(work: (turn: StoreTurn) => T): Promise<T> {
    if (!this.#store) throw new Error("the book of the fleet has no store");
    return this.#store.internally(work);
  }

  #forget(): void {
    this.#spaces.forget();
    this.#clusters.forgetMemory();
    this.#byCluster = undefined;
  }

  #outdated({ cluster, session }: { cluster: string; session: number }): FleetReply | undefined {
    const { session: known } = this.#clusters.of(cluster);
    if (session > known) this.#clusters.saveSession(cluster, session);
    return session < known ? { kind: "outdated", session: known } : undefined;
  }

  /** The pools are read before the turn: what they say besides their addresses may be as old as a call. */
  async #take(question: Extract<FleetQuestion, { does: "take" }>): Promise<FleetReply> {
    const { cluster, requests } = question;
    const served = await this.#servedPools(cluster, [...new Set(requests.map(({ pool }) => pool))]);
    return this.#inTurn((turn) => {
      const outdated = this.#outdated(question);
      if (outdated) return outdated;
      const answers = requests.map((request) => this.#give(turn, cluster, request, served.get(request.pool)));
      // One claim that waits is enough: its cluster asks for all of them.
      const waits = new Map<string, number>();
      requests.forEach(({ pool, since }, i) => {
        if (answers[i]?.kind !== "given" && answers[i]?.kind !== "taken") waits.set(pool, Math.min(since, waits.get(pool) ?? Infinity));
      });
      for (const { pool } of requests) this.#clusters.saveWait(cluster, pool, waits.get(pool));
      return { kind: "taken", answers };
    });
  }

  /** The pools of these names that serve the cluster. */
  async #servedPools(cluster: string, names: readonly string[]): Promise<ReadonlyMap<string, AddressPool>> {
    const { clock, poolsNamed, clusterNamed } = this.ports;
    const pools = (await withTimeout(clock, RPC_TIMEOUT_MS, poolsNamed(names))).flatMap((pool) => pool ?? []);
    const chooses = pools.some((pool) => selectorOf(pool) !== undefined);
    const object = chooses ? await withTimeout(clock, RPC_TIMEOUT_MS, clusterNamed(clusterName(cluster))) : undefined;
    const isServed = (pool: AddressPool): boolean => {
      const selector = selectorOf(pool);
      if (selector === undefined) return true;
      const parsed = parseLabelSelector(selector);
      if (!object || (object.status?.id ?? cluster) !== cluster) return false;
      return parsed.ok && !parsed.value.empty && parsed.value.matches(object.metadata?.labels);
    };
    return new Map(pools.filter(isServed).map((pool) => [pool.metadata?.name ?? "", pool]));
  }

  #give(turn: StoreTurn, cluster: string, request: FleetRequest, pool: AddressPool | undefined): FleetAnswer {
    const { row, claim, uid, held } = request;
    const stored = turn.get(keyOfRow(row));
    const there = stored && readObject<PoolAddress>(stored.data);
    if (there) {
      const { address = "", prefix = 0, gateway } = there.spec ?? {};
      const holder = rowHolder(there);
      const isOwn = holder?.cluster === cluster && holder.uid === uid && (held === undefined || held === address);
      return isOwn ? { kind: "given", address, prefix, ...(gateway && { gateway }) } : { kind: "taken" };
    }
    // What a claim has stays its own, whatever becomes of the pool.
    if (held !== undefined) return this.#giveHeld(turn, cluster, request, held, pool);
    if (this.isComparing) return { kind: "comparing" };
    const known = this.ports.book.pools.get(keyOf(request.pool));
    if (!pool || pool.metadata?.deletionTimestamp || !known || known.row.closed) return { kind: "noPool" };
    if (isPaused(pool)) return { kind: "paused" };
    const value = this.#spaces.lowest(keyOf(request.pool), known, 0, request.not ?? []);
    if (value === undefined) return { kind: "full" };
    const { prefix = 0, gateway } = pool.spec ?? {};
    const given = { address: formatAddress(known.row.facts.family, value), prefix, ...(gateway && { gateway }) };
    this.#keep(turn, { cluster, claim, uid }, request, given);
    return { kind: "given", ...given };
  }

  #giveHeld(turn: StoreTurn, cluster: string, request: FleetRequest, address: string, pool: AddressPool | undefined): FleetAnswer {
    const parsed = parseAddress(address);
    if (
      !parsed.ok ||
      this.ports.book.whyNot({ ...parsed.value, pool: keyOf(request.pool), length: widthOf(parsed.value.family) }) !== undefined
    )
      return { kind: "taken" };
    const given = { address, prefix: pool?.spec?.prefix ?? widthOf(parsed.value.family) };
    this.#keep(turn, { ...request, cluster }, request, given);
    return { kind: "given", ...given };
  }

  #keep(
    turn: StoreTurn,
    { cluster, claim, uid }: { cluster: string; claim: string; uid: string },
    { row, pool }: FleetRequest,
    given: { address: string; prefix: number; gateway?: string },
  ): void {
    turn.add(keyOfRow(row), {
      metadata: {
        namespace: ROW_NAMESPACE,
        name: row,
        uid: this.ports.random.uuid(),
        creationTimestamp: rfc3339Seconds(this.ports.clock.now()),
        generation: 1,
        ...rowMetadata({ cluster, claim, uid }),
      },
      spec: {
        claimRef: { name: claim.slice(claim.indexOf("/") + 1) },
        poolRef: { apiGroup: IPAM_GROUP, kind: "GlobalInClusterIPPool", name: pool },
        ...given,
      },
    } as PoolAddress);
  }

  /** A pool that gives addresses back late has them kept, without a holder: the controller of the root lets them go behind their grace. */
  async #release(rows: readonly string[], isMeant: (holder: { cluster: string }) => boolean, unused?: ReadonlySet<string>): Promise<void> {
    const { clock, storage, poolsNamed } = this.ports;
    const poolOf = (row: string): PoolKey | undefined => {
      const stored = storage.objectGet(keyOfRow(row));
      const object = stored && readObject<PoolAddress>(stored.data);
      return object && poolKeyOf(object.spec?.poolRef, ROW_NAMESPACE);
    };
    const names = [...new Set(rows.flatMap((row) => poolOf(row) ?? []))].map((pool) => partsOfPoolKey(pool).name);
    if (names.length === 0) return;
    const pools = await withTimeout(clock, RPC_TIMEOUT_MS, poolsNamed(names));
    const graces = new Map(names.map((name, i) => [keyOf(name), graceOf(pools[i])]));
    await this.#inTurn((turn) => {
      for (const row of rows) {
        const stored = turn.get(keyOfRow(row));
        const object = stored && readObject<PoolAddress>(stored.data);
        const holder = object && rowHolder(object);
        if (!object || !holder || !isMeant(holder)) continue;
        const grace = graces.get(poolKeyOf(object.spec?.poolRef, ROW_NAMESPACE) ?? "") ?? 0;
        if (grace === 0 || unused?.has(row)) turn.remove(keyOfRow(row));
        else turn.put(keyOfRow(row), withoutHolder(object, rfc3339Seconds(clock.now()), ADDRESS_FINALIZER));
      }
    });
  }

  #rowsBehind(cluster: string, after: string): FleetReply {
    const keys = [...(this.#rowsOf.get(cluster) ?? [])].filter((key) => key > keyOfRow(after)).toSorted();
    const rows = keys.slice(0, ROWS_OF_PAGE).flatMap((key): FleetRow[] => {
      const stored = this.ports.storage.objectGet(key);
      const object = stored && readObject<PoolAddress>(stored.data);
      const holder = object && rowHolder(object);
      return holder ? [{ row: rowOfKey(key), claim: holder.claim, uid: holder.uid, address: object.spec?.address ?? "" }] : [];
    });
    const last = keys[ROWS_OF_PAGE - 1];
    return { kind: "rows", rows, ...(keys.length > ROWS_OF_PAGE && last !== undefined && { next: rowOfKey(last) }) };
  }

  async #confirm({ cluster, pool, claim, address }: Extract<FleetQuestion, { does: "confirm" }>): Promise<FleetReply> {
    const parsed = parseAddress(address);
    const holders = parsed.ok ? this.ports.book.holders(keyOf(pool), parsed.value.family, parsed.value.value) : [];
    const row = holders.find(({ key, pool: of }) => {
      const stored = of === keyOf(pool) ? this.ports.storage.objectGet(key) : undefined;
      const holder = stored && rowHolder(readObject<PoolAddress>(stored.data) ?? {});
      return holder?.cluster === cluster && holder.claim === claim;
    });
    if (row) return { kind: "confirmed", row: rowOfKey(row.key), isServed: true };
    return { kind: "confirmed", row: null, isServed: (await this.#servedPools(cluster, [pool])).has(pool) };
  }

  get #rowsOf(): Map<string, Set<string>> {
    if (this.#byCluster) return this.#byCluster;
    this.#byCluster = new Map();
    for (const { key, data } of this.ports.storage.objectScan(keyOfRow(""), "")) {
      if (!key.startsWith(keyOfRow(""))) break;
      const object = readObject<PoolAddress>(data);
      if (object) this.#note(this.#byCluster, key, object, true);
    }
    return this.#byCluster;
  }

  #note(byCluster: Map<string, Set<string>>, key: string, object: PoolAddress, isThere: boolean): void {
    const cluster = rowHolder(object)?.cluster;
    if (cluster === undefined) return;
    const keys = byCluster.get(cluster) ?? new Set();
    if (isThere) byCluster.set(cluster, keys.add(key));
    else if (keys.delete(key) && keys.size === 0) byCluster.delete(cluster);
  }

  #committed(change: CommittedChange): void {
    const { key, before, after } = change;
    this.#spaces.committed(change);
    if (this.#byCluster && before) this.#note(this.#byCluster, key, before, false);
    if (this.#byCluster && after) this.#note(this.#byCluster, key, after, true);
    const was = before && !after ? holdingOf(before) : undefined;
    if (was && isGlobalPool(was.pool)) this.#room.add(was.pool);
  }

  #wake(pools: ReadonlySet<PoolKey>): void {
    const woken = this.#clusters.waiting(pools, (pool) => partsOfPoolKey(pool).name).slice(0, WOKEN_MAX);
    for (const cluster of woken) {
      for (const pool of pools) this.#clusters.saveWait(cluster, partsOfPoolKey(pool).name, undefined);
      this.ports.wake(cluster);
    }
  }

  async #maintain(): Promise<void> {
    const { clock, recorder, rows } = this.ports;
    this.dueAt = undefined;
    try {
      if (rows.comparing() !== undefined) await this.#compareSome();
      else if (clock.now() >= this.#lookedAt + LOOK_MS) await this.#lookAtSome();
    } catch (error) {
      recorder.log("warn", "addresses of other clusters could not be looked after", { error: String(error) });
      if (rows.comparing() !== undefined) this.#goOn(LATER_MS);
    }
  }

  /** Those that may have ended, each hour; each day all, some of them in each turn. */
  async #lookAtSome(): Promise<void> {
    const { clock, rows, suspicious } = this.ports;
    const now = clock.now();
    const ids = [...new Set([...this.#clusters.ids, ...this.#rowsOf.keys()])].toSorted();
    if (ids.length === 0) return;
    const { beganAt, after } = rows.audit();
    const isAudit = after !== undefined || now >= beganAt + AUDIT_MS;
    const asked = isAudit ? ids : [...(await withTimeout(clock, OPERATION_DEADLINE_MS, suspicious(ids)))].toSorted();
    const done = isAudit ? (after ?? "") : this.#lookedAfter;
    const behind = asked.filter((id) => id > done);
    await this.#askAll(behind.slice(0, ASKED_MAX));
    const last = behind.length > ASKED_MAX ? behind[ASKED_MAX - 1] : undefined;
    if (isAudit) rows.saveAudit({ beganAt: after === undefined ? now : beganAt, ...(last !== undefined && { after: last }) });
    else this.#lookedAfter = last ?? "";
    if (last !== undefined) return this.#goOn(SOON_MS);
    this.#lookedAt = now;
  }

  /** Some clusters of the list. While one does not answer, it and those behind it are asked again. */
  async #compareSome(): Promise<void> {
    const { clock, rows, clustersBehind } = this.ports;
    const { ids, next } = await withTimeout(clock, OPERATION_DEADLINE_MS, clustersBehind(rows.comparing() ?? "", ASKED_MAX));
    if (!(await this.#askAll(ids))) return this.#goOn(LATER_MS);
    rows.saveComparing(next);
    if (next !== undefined) return this.#goOn(SOON_MS);
    for (const pool of this.ports.book.pools.keys()) this.settled(pool);
  }

  /** Whether all have answered. */
  async #askAll(clusters: readonly string[]): Promise<boolean> {
    const answers: boolean[] = [];
    await inParallel(clusters, ASKED_AT_ONCE, async (cluster) => void answers.push(await this.#ask(cluster)));
    return !answers.includes(false);
  }

  /** Has the cluster compare its addresses with its rows. One that has ended gives all back. False: it does not answer. Never rejects for that. */
  async #ask(cluster: string): Promise<boolean> {
    const { clock, recorder, storeOf } = this.ports;
    try {
      await withTimeout(clock, OPERATION_DEADLINE_MS, storeOf(cluster).askFleet({ does: "audit", hasRows: this.#rowsOf.has(cluster) }));
      return true;
    } catch (error) {
      // A store of a release that knows no pools of the root has no address of them.
      if (isUnsupported(error)) return true;
      if (!String(error).includes(CLUSTER_GONE)) {
        recorder.log("warn", "a cluster could not compare its addresses of pools of the root", { cluster, error: String(error) });
        return false;
      }
    }
    await this.#release([...(this.#rowsOf.get(cluster) ?? [])].map(rowOfKey), (holder) => holder.cluster === cluster);
    this.#clusters.remove(cluster);
    return true;
  }
}

function selectorOf({ metadata }: AddressPool): string | undefined {
  return metadata?.annotations?.[SERVED_CLUSTERS];
}

function graceOf(pool: AddressPool | undefined): number {
  return pool && !pool.metadata?.deletionTimestamp ? (pool.spec?.addressReuseGracePeriodSeconds ?? 0) : 0;
}

function keyOf(name: string): PoolKey {
  return keyOfPool("GlobalInClusterIPPool", { metadata: { name } });
}

function keyOfRow(row: string): string {
  return `${ROW_NAMESPACE}/${row}`;
}

function rowOfKey(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}
