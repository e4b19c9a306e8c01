/**
 * The pass of a controller that keeps one object in each active namespace. It keeps as rows which namespaces are active and which have their object, and
 * reads on in the histories of the two stores, so a pass without news costs two calls.
 *
 * Everything follows from the stored objects. A crash loses nothing: the next poke, alarm or cron finds the same.
 */
import { inParallel } from "../../core/base/in-parallel";
import type { Clock, Recorder } from "../../core/base/ports";
import type { KubeObject, Namespace } from "../../api/meta/kubernetes";
import { readObject } from "../../api/meta/read-object";
import type { WriteRequest } from "../../api/rpc/store";
import type { WrittenStore } from "../followed/called-store";
import { FollowedStore } from "../followed/followed-store";
import { KeptFacts } from "../followed/kept-facts";
import { KeptRows } from "../followed/kept-rows";
import { isPassing, Refusals } from "../followed/refusals";
import type { RowStorage } from "../followed/row-storage";
import { createRequest, isNamespaceTerminating, updateRequest, type Writer } from "../followed/write-requests";
import { isActive, type WantedObject } from "./wanted-object";

/** After this time a pass reads no other page and begins no other write. */
const BUDGET_MS = 60_000;
const WRITTEN_AT_ONCE = 32;
/** A quota that is full may refuse for long. */
const REFUSED_WAITS = { first: 60_000, longest: 10 * 60_000 };
const NOT_FOUND = 404;

export interface EveryNamespacePorts {
  clock: Pick<Clock, "now">;
  recorder: Recorder;
  storage: RowStorage;
  namespaces: Pick<WrittenStore, "objectsSince" | "objectsAfter" | "objectsNamed">;
  objects: WrittenStore;
}

export interface EveryNamespaceSetting {
  wanted: WantedObject;
  /** names the store of the objects, and another one after each change of what is wanted: then all objects are read anew */
  objectsName: string;
}

/** `left`: another pass is needed. `againAt`: one is needed then, in milliseconds since the epoch. */
interface PassEnd {
  left: boolean;
  againAt?: number;
}

export function everyNamespacePass(ports: EveryNamespacePorts, setting: EveryNamespaceSetting): () => Promise<PassEnd> {
  const keeper = new ObjectKeeper(ports, setting);
  return () => keeper.run();
}

type Written = "done" | "failed";

class ObjectKeeper {
  readonly #rows: KeptRows;
  readonly #namespaces: KeptFacts<Namespace, object>;
  readonly #objects: KeptFacts<KubeObject, { readonly isRight: boolean }>;
  readonly #followed: readonly FollowedStore[];
  readonly #refusals: Refusals;
  readonly #writer: Writer;
  #isLoaded = false;

  constructor(
    private readonly ports: EveryNamespacePorts,
    private readonly setting: EveryNamespaceSetting,
  ) {
    const { storage, recorder, namespaces, objects } = ports;
    const { wanted, objectsName } = setting;
    const rows = (this.#rows = new KeptRows(storage));
    this.#namespaces = new KeptFacts(rows, "namespaces", (namespace) => (isActive(namespace) ? {} : undefined));
    this.#objects = new KeptFacts(rows, "objects", (object) =>
      object.metadata?.name === wanted.name ? { isRight: wanted.isRight(object) } : undefined,
    );
    this.#refusals = new Refusals(ports, REFUSED_WAITS);
    this.#writer = { manager: wanted.manager, group: "" };
    const ofObjects = { ...this.#objects.reader, passesOver: ({ key }: { key: string }) => !key.endsWith(`/${wanted.name}`) };
    this.#followed = [
      new FollowedStore("namespaces", namespaces, this.#namespaces.reader, rows, recorder),
      new FollowedStore(objectsName, objects, ofObjects, rows, recorder),
    ];
  }

  async run(): Promise<PassEnd> {
    const { clock } = this.ports;
    this.#load();
    const endsAt = clock.now() + BUDGET_MS;
    const mayGoOn = (): boolean => clock.now() < endsAt;
    for (const store of this.#followed) if (!(await store.pull(mayGoOn))) return { left: true };
    const result = await this.#write(mayGoOn);
    this.#rows.save();
    return result;
  }

  #load(): void {
    if (this.#isLoaded) return;
    this.#rows.load();
    this.#namespaces.load();
    this.#objects.load();
    this.#isLoaded = true;
  }

  async #write(mayGoOn: () => boolean): Promise<PassEnd> {
    const wrong = [...this.#namespaces.keys].filter((namespace) => this.#objects.get(this.#keyIn(namespace))?.isRight !== true);
    this.#refusals.keep((namespace) => wrong.includes(namespace));
    const due = wrong.filter((namespace) => this.#refusals.mayTry(namespace));
    let left = false;
    await inParallel(due, WRITTEN_AT_ONCE, async (namespace) => {
      const written = mayGoOn() ? await this.#putRight(namespace) : "failed";
      left ||= written === "failed";
    });
    const againAt = this.#refusals.nextAt();
    return { left, ...(againAt !== undefined && { againAt }) };
  }

  /** What somebody has written meanwhile is judged by the next pass. Never rejects. */
  async #putRight(namespace: string): Promise<Written> {
    try {
      const request = this.#objects.get(this.#keyIn(namespace)) ? await this.#mending(namespace) : this.#creation(namespace);
      if (!request) return "done";
      const answer = await this.ports.objects.write(request);
      if (answer.ok) this.#refusals.forget(namespace);
      if (answer.ok || isNamespaceTerminating(answer.status)) return "done";
      const { status } = answer;
      // A creation meets no namespace: nothing is left to do. An update meets no object: it is created by the next pass.
      if (status.code === NOT_FOUND) return request.verb === "create" ? "done" : "failed";
      if (isPassing(status)) return "failed";
      this.#refusals.refused(namespace, status);
      return "done";
    } catch {
      return "failed";
    }
  }

  #creation(namespace: string): WriteRequest {
    const { wanted } = this.setting;
    const object = wanted.create();
    return createRequest({ ...object, metadata: { ...object.metadata, namespace, name: wanted.name } }, this.#writer);
  }

  /** undefined = the object is right by now. Throws when there is none any more. */
  async #mending(namespace: string): Promise<WriteRequest | undefined> {
    const { wanted } = this.setting;
    const [text] = await this.ports.objects.objectsNamed([{ namespace, name: wanted.name }]);
    const object = text ? readObject<KubeObject>(text) : undefined;
    if (!object) throw new Error(`${this.#keyIn(namespace)} cannot be read`);
    return wanted.isRight(object) ? undefined : updateRequest(wanted.mended(object), this.#writer);
  }

  #keyIn(namespace: string): string {
    return `${namespace}/${this.setting.wanted.name}`;
  }
}
