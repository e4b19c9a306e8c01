/** Writes the objects of a backup so that each finds what it needs, then compares the cluster with the backup. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Backup, BackupSection, BackupType } from "../../src/tools/backup/format";
import { madeByControllers } from "../../src/tools/backup/made-by-controller";
import { inRestoreOrder, IP_ADDRESSES, NAMESPACES, SERVICE_CIDRS, SERVICES, typeName } from "../../src/tools/backup/order";
import {
  creatorOf,
  deletionOf,
  differing,
  isSameOwnership,
  wanted,
  wantedManagedFields,
  wantedStatus,
} from "../../src/tools/backup/restorable";
import { addressesOf } from "../../src/tools/check/objects";
import { namesAll } from "../../src/tools/import/plan";
import { semanticEqual } from "../../src/api/meta/equality";
import type { ClusterRole, IPAddress, KubeObject, Service, ServiceCIDR } from "../../src/api/meta/kubernetes";
import { keyOf } from "../../src/api/meta/object-key";
import { isDerived, parentServiceOf } from "../../src/api/registry/ip-addresses/parent-service";
import { rangeSourceOf } from "../../src/addresses/ranges/service-ranges";
import type { Answer, Api } from "../cluster/api";
import { typePath } from "../cluster/discovery";
import { eachTogether } from "../cluster/each-together";
import { parseJson } from "../../src/core/encoding/exact-json";
import { notReady } from "../cluster/not-ready";
import type { Progress } from "../terminal/progress";
import { type ClusterState, readState } from "./cluster-state";

/** The server writes the IPAddresses of a Service after its answer. */
const PAIRING_WAIT_MS = 60_000;
const POLL_MS = 250;
/** Another writer, such as the server, may change an object between the read and the write. */
const UPDATE_ATTEMPTS = 5;

/** A difference between the backup and the restored cluster. */
export interface Shortcoming {
  /** `Service default/web` */
  object: string;
  /** a sentence whose subject is the object */
  message: string;
}

interface RestorerTask {
  api: Api;
  backup: Backup;
  progress: Progress;
}

/** An object of the backup. */
interface Saved {
  type: BackupType;
  object: KubeObject;
}

interface SavedSection {
  type: BackupType;
  all: readonly Saved[];
}

export class Restorer {
  /** objects written in this run, and existing objects written again */
  created = 0;
  updated = 0;
  readonly #task: RestorerTask;
  /** in the order of restoring */
  readonly #sections: readonly SavedSection[];
  #state: ClusterState;
  /** uid in the backup -> uid here */
  readonly #uids = new Map<string, string>();
  /** every uid of the backup */
  readonly #known = new Set<string>();
  /** address -> Service of the backup that holds it */
  readonly #holders = new Map<string, string>();
  /** refer to objects that did not exist yet */
  readonly #waiting: Saved[] = [];
  /** namespaces that were being deleted */
  readonly #ending = new Set<string>();
  readonly #refused = new Map<string, Shortcoming>();

  /** `state` of the cluster before the restore, or before it goes on. */
  constructor(task: RestorerTask, state: ClusterState) {
    this.#task = task;
    this.#state = state;
    const sections = inRestoreOrder(task.backup.sections).map((section) => ({ type: section.type, all: savedIn(section) }));
    const services = sections.find(({ type }) => typeName(type) === SERVICES)?.all ?? [];
    const isMade = madeByControllers(services.map(({ object }) => object as Service));
    this.#sections = sections.map(({ type, all }) => ({ type, all: all.filter(({ object }) => !isMade(type, object)) }));
    for (const { type, object } of this.#saved()) {
      this.#known.add(object.metadata?.uid ?? "");
      if (typeName(type) === NAMESPACES && deletionOf(object)) this.#ending.add(keyOf(object));
      if (typeName(type) === SERVICES) for (const address of addressesOf(object as Service)) this.#holders.set(address, keyOf(object));
    }
  }

  async run(): Promise<void> {
    for (const section of this.#sections) await this.#restoreSection(section);
    await eachTogether("references", this.#waiting, this.#task.progress, (saved) => this.#restore(saved, true));
    for (const section of this.#sections.toReversed()) await this.#deleteAgain(section);
  }

  /** The differences from the backup, by a new reading of everything; objects in deletion may be gone. */
  async verify(): Promise<Shortcoming[]> {
    this.#state = await readState(this.#task.api, this.#task.progress);
    const found = new Map(this.#refused);
    for (const saved of this.#saved()) {
      const label = labelOf(saved);
      if (found.has(label) || deletionOf(saved.object) || this.#ending.has(saved.object.metadata?.namespace ?? "")) continue;
      // Its Service came or went while the backup was made.
      if (typeName(saved.type) === IP_ADDRESSES && isDerived(saved.object as IPAddress) && !this.#isOfService(saved)) continue;
      const message = this.#shortcomingOf(saved);
      if (message) found.set(label, { object: label, message });
    }
    return [...found.values()];
  }

  #shortcomingOf({ type, object }: Saved): string | undefined {
    const stored = this.#here(type).get(keyOf(object));
    if (!stored) return "is not there";
    // The rules of a role that aggregates others are its controller's, which may not have followed yet, here or when the backup was made.
    const isAggregated = (object as Partial<ClusterRole>).aggregationRule !== undefined;
    const different = differing(this.#wanted({ type, object }).object, stored, type).filter((field) => !isAggregated || field !== "rules");
    const status = wantedStatus(object, type, this.#uids);
    if (status !== undefined && !semanticEqual(status, (stored as { status?: unknown }).status)) different.push("status");
    const managedFields = wantedManagedFields(object, this.#uids);
    if (managedFields && !isAggregated && !isSameOwnership(managedFields, stored.metadata?.managedFields))
      different.push("metadata.managedFields");
    return different.length > 0 ? `has other values of ${different.join(", ")}` : undefined;
  }

  async #restoreSection({ type, all }: SavedSection): Promise<void> {
    switch (typeName(type)) {
      case NAMESPACES:
        await this.#each(type, all);
        return this.#makeNamespaces(type);
      case SERVICE_CIDRS:
        await this.#each(type, all);
        return this.#waitForRanges(all);
      case IP_ADDRESSES:
        // The server makes those of Services, with them.
        return this.#each(
          type,
          all.filter((saved) => !this.#isOfService(saved) && !isDerived(saved.object as IPAddress)),
        );
      case SERVICES: {
        // First the Services that leave no choice to the server, so that their addresses stay free for them.
        const isFixed = ({ object }: Saved): boolean => namesAll(object as Service);
        await this.#each(type, all.filter(isFixed));
        await this.#each(
          type,
          all.filter((saved) => !isFixed(saved)),
        );
        return this.#completeIPAddresses();
      }
      default:
        return this.#each(type, all);
    }
  }

  #each(type: BackupType, some: readonly Saved[]): Promise<void> {
    return eachTogether(type.resource, some, this.#task.progress, (saved) => this.#restore(saved, false));
  }

  /** `isLast`: missing objects that it refers to will not come. */
  async #restore(saved: Saved, isLast: boolean): Promise<void> {
    const { type, object } = saved;
    const { object: want, waits } = this.#wanted(saved);
    const stored = await this.#put(saved, want);
    if (!stored) return;
    this.#here(type).set(keyOf(object), stored);
    this.#uids.set(object.metadata?.uid ?? "", stored.metadata?.uid ?? "");
    if (waits && !isLast) this.#waiting.push(saved);
    else if (stored.metadata?.deletionTimestamp === undefined) await this.#finish(saved, stored);
  }

  /** The stored object after a create, or after a change where it differs; undefined = refused. */
  async #put(saved: Saved, want: KubeObject): Promise<KubeObject | undefined> {
    const { api } = this.#task;
    const { type, object } = saved;
    let stored = this.#here(type).get(keyOf(object));
    for (let attempt = 1; ; attempt++) {
      if (!stored) {
        const fieldManager = creatorOf(object);
        const answer = await api.create(
          typePath(type, object.metadata?.namespace),
          want,
          fieldManager === undefined ? {} : { fieldManager },
        );
        if (answer.code < 300) {
          this.created++;
          return answer.object;
        }
        if (answer.reason !== "AlreadyExists") return this.#refuse(saved, answer);
      } else {
        // An earlier run had created it and repeated its deletion.
        if (stored.metadata?.deletionTimestamp !== undefined || differing(want, stored, type).length === 0) return stored;
        const { resourceVersion, uid } = stored.metadata ?? {};
        const answer = await api.replace(pathOf(saved), { ...want, metadata: { ...want.metadata, resourceVersion, uid } });
        if (answer.code < 300) {
          this.updated++;
          return answer.object;
        }
        if (answer.reason !== "Conflict" || attempt === UPDATE_ATTEMPTS) return this.#refuse(saved, answer);
      }
      const current = await api.get(pathOf(saved));
      if (current.code !== 200) return this.#refuse(saved, current);
      stored = current.object;
    }
  }

  /** The fields that a create does not take. The owners of fields come last, because every write before claims some. */
  async #finish(saved: Saved, stored: KubeObject): Promise<void> {
    const { api } = this.#task;
    const { type, object } = saved;
    let now = stored;
    const write = async (sending: Promise<Answer>): Promise<void> => {
      const answer = await sending;
      if (answer.code < 300) now = answer.object;
      else this.#refuse(saved, answer);
    };
    const status = wantedStatus(object, type, this.#uids);
    if (status !== undefined && !semanticEqual(status, (now as { status?: unknown }).status))
      await write(api.patchStatus(pathOf(saved), status));
    const managedFields = wantedManagedFields(object, this.#uids);
    if (managedFields && !isSameOwnership(managedFields, now.metadata?.managedFields))
      await write(api.patch(pathOf(saved), { metadata: { managedFields } }));
    this.#here(type).set(keyOf(object), now);
  }

  /** The state of objects that were read before their namespace existed. */
  async #makeNamespaces(type: BackupType): Promise<void> {
    const used = new Set(this.#saved().map(({ object }) => object.metadata?.namespace ?? ""));
    for (const name of used) {
      if (name === "" || this.#here(type).has(name)) continue;
      await this.#restore({ type, object: { apiVersion: "v1", kind: "Namespace", metadata: { name } } }, true);
    }
  }

  /** A Service cannot have an address of a range before the range is Ready. A range in deletion has given out its addresses before. */
  async #waitForRanges(all: readonly Saved[]): Promise<void> {
    const { api, progress } = this.#task;
    const names = all
      .filter(({ object }) => rangeSourceOf(object as ServiceCIDR).ready || deletionOf(object))
      .map(({ type, object }) => this.#here(type).get(keyOf(object)))
      .filter((stored) => stored && stored.metadata?.deletionTimestamp === undefined)
      .map((stored) => stored?.metadata?.name ?? "");
    for (const name of await notReady(api, names, progress)) {
      const object = `ServiceCIDR ${name}`;
      this.#refused.set(object, { object, message: "does not become Ready" });
    }
  }

  #isOfService({ object }: Saved): boolean {
    const parent = parentServiceOf(object as IPAddress);
    return parent !== undefined && this.#holders.get(object.metadata?.name ?? "") === keyOf({ metadata: parent });
  }

  /** Labels and annotations of the IPAddresses that the server made for Services. */
  async #completeIPAddresses(): Promise<void> {
    const { api, progress } = this.#task;
    const section = this.#sections.find(({ type }) => typeName(type) === IP_ADDRESSES);
    if (!section) return;
    const { type, all } = section;
    const wantedOnes = all.filter((saved) => this.#isOfService(saved));
    const isMissing = ({ object }: Saved): boolean => !this.#here(type).has(keyOf(object));
    let missing = wantedOnes.filter(isMissing);
    for (const deadline = Date.now() + PAIRING_WAIT_MS; missing.length > 0 && Date.now() < deadline;) {
      for (const object of await api.list(typePath(type))) this.#here(type).set(keyOf(object), object);
      missing = missing.filter(isMissing);
      progress.show("addresses of Services", wantedOnes.length - missing.length, wantedOnes.length);
      if (missing.length > 0) await sleep(POLL_MS);
    }
    const left = new Set(missing);
    await this.#each(
      type,
      wantedOnes.filter((saved) => !left.has(saved)),
    );
  }

  /** Repeats the deletion of objects that were in deletion. */
  async #deleteAgain({ type, all }: SavedSection): Promise<void> {
    const { api, progress } = this.#task;
    const ended = all.filter(({ object }) => deletionOf(object));
    await eachTogether(`deletions of ${type.resource}`, ended, progress, async (saved) => {
      const stored = this.#here(type).get(keyOf(saved.object));
      if (!stored || stored.metadata?.deletionTimestamp !== undefined) return;
      const answer = await api.delete(pathOf(saved), { ...deletionOf(saved.object), preconditions: { uid: stored.metadata?.uid } });
      if (answer.code >= 300 && answer.code !== 404) this.#refuse(saved, answer);
    });
  }

  #saved(): Saved[] {
    return this.#sections.flatMap(({ all }) => all);
  }

  #wanted({ type, object }: Saved): { object: KubeObject; waits: boolean } {
    return wanted(object, type, this.#uids, (uid) => this.#known.has(uid));
  }

  #here(type: BackupType): Map<string, KubeObject> {
    const name = typeName(type);
    const objects = this.#state.objects.get(name) ?? new Map<string, KubeObject>();
    this.#state.objects.set(name, objects);
    return objects;
  }

  #refuse(saved: Saved, { code, message }: Answer): undefined {
    const object = labelOf(saved);
    this.#refused.set(object, { object, message: `is refused: ${code} ${message}` });
    return undefined;
  }
}

function savedIn({ type, objects }: BackupSection): Saved[] {
  return objects.map((text) => ({ type, object: parseJson(text) as KubeObject }));
}

function labelOf({ type, object }: Saved): string {
  return `${type.kind} ${keyOf(object)}`;
}

function pathOf({ type, object }: Saved): string {
  return `${typePath(type, object.metadata?.namespace)}/${encodeURIComponent(object.metadata?.name ?? "")}`;
}
