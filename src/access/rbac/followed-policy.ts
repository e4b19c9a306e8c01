/** The rules of one cluster, as they are in the stores of its RBAC objects: each refresh takes over what has changed. */
import { ok, type Result } from "../../core/base/result";
import type { FedPage, ObjectFeed } from "../../api/rpc/object-feed";
import type { StoreCursor } from "../../api/rpc/object-links";
import type { RbacKind, RbacObjects } from "./policy";

export const RBAC_KINDS: readonly RbacKind[] = ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];
/** Of the texts of the rules of one cluster; 10,000 rules have some 2 MB. In memory they take a few times that of 128 MB. */
export const RULES_LENGTH_MAX = 8 * 1024 * 1024;
/** Entries of the history, or objects, in one answer. */
const ANSWERED_MAX = 1_000;

/** What a store is asked; an error is why it has not answered. */
export interface PolicySource<E> {
  objectsSince(
    kind: RbacKind,
    cursor: StoreCursor | undefined,
    limit: number,
  ): Promise<Result<Awaited<ReturnType<ObjectFeed["objectsSince"]>>, E>>;
  objectsAfter(kind: RbacKind, after: string, limit: number): Promise<Result<FedPage, E>>;
  /** whether the store is known to have nothing behind what it has answered last; absent = it is always asked */
  isCurrent?(kind: RbacKind): boolean;
}

/** Where the objects go. */
export interface RulesTaken {
  put<K extends RbacKind>(kind: K, object: RbacObjects[K]): void;
  remove(kind: RbacKind, namespace: string | undefined, name: string): void;
}

interface FollowedKind {
  cursor: StoreCursor | undefined;
  /** namespace and name of each object, joined -> the length of its text */
  readonly known: Map<string, number>;
}

export class FollowedPolicy<E, Taken extends RulesTaken> {
  readonly #followed = new Map<RbacKind, FollowedKind>(RBAC_KINDS.map((kind) => [kind, { cursor: undefined, known: new Map() }]));

  #policy: Taken;
  /** false: it was too large, and has let go of its objects */
  #isWhole = true;
  /** so often it was too large */
  #overflows = 0;
  #length = 0;
  #namesLength = 0;

  /**
   * @param maxLength rules whose texts are longer together decide nothing
   * @param empty makes what takes all objects anew
   */
  constructor(
    private readonly source: PolicySource<E>,
    private readonly maxLength: number,
    private readonly empty: () => Taken,
  ) {
    this.#policy = empty();
  }

  /** undefined = the objects are too large to decide by */
  get policy(): Taken | undefined {
    return this.#isWhole ? this.#policy : undefined;
  }

  /** of the texts of all its objects */
  get length(): number {
    return this.#length;
  }

  /** of what it keeps: of objects that are too large together the names alone */
  get keptLength(): number {
    return this.#isWhole ? this.#length : this.#namesLength;
  }

  /** Takes over everything that was committed before the call. After an error the policy has a part of it, and the next refresh goes on there. */
  async refresh(): Promise<Result<void, E>> {
    const done = await this.#followAll();
    if (!done.ok || this.#isWhole || this.#length > this.maxLength) return done;
    for (const followed of this.#followed.values()) followed.cursor = undefined;
    const overflows = this.#overflows;
    const again = await this.#followAll();
    this.#isWhole = again.ok && overflows === this.#overflows;
    return again;
  }

  async #followAll(): Promise<Result<void, E>> {
    const done = await Promise.all([...this.#followed].map(([kind, followed]) => this.#follow(kind, followed)));
    return done.find((one) => !one.ok) ?? ok(undefined);
  }

  async #follow(kind: RbacKind, followed: FollowedKind): Promise<Result<void, E>> {
    if (followed.cursor && this.source.isCurrent?.(kind) === true) return ok(undefined);
    if (!followed.cursor) {
      const listed = await this.#list(kind, followed);
      if (!listed.ok) return listed;
      if (listed.value.pages === 1) return ok(undefined);
    }
    for (let more = true; more;) {
      const fed = await this.source.objectsSince(kind, followed.cursor, ANSWERED_MAX);
      if (!fed.ok) return fed;
      if (fed.value.kind === "expired") {
        followed.cursor = undefined;
        return this.#follow(kind, followed);
      }
      for (const { deleted, object } of fed.value.changes) this.#take(kind, followed, object, deleted);
      followed.cursor = fed.value.cursor;
      ({ more } = fed.value);
    }
    return ok(undefined);
  }

  /** Reads all objects. The history goes on from the first page, so that no change between two pages is missed. */
  async #list(kind: RbacKind, followed: FollowedKind): Promise<Result<{ pages: number }, E>> {
    const gone = new Set(followed.known.keys());
    let cursor: StoreCursor | undefined;
    let pages = 0;
    let after = "";
    do {
      const page = await this.source.objectsAfter(kind, after, ANSWERED_MAX);
      if (!page.ok) return page;
      pages++;
      cursor ??= page.value.cursor;
      for (const text of page.value.objects) gone.delete(this.#take(kind, followed, text, false));
      after = page.value.next;
    } while (after !== "");
    for (const key of gone) {
      const [namespace, name = ""] = key.split("/");
      this.#policy.remove(kind, namespace, name);
      this.#note(followed, key, 0);
    }
    followed.cursor = cursor;
    return ok({ pages });
  }

  /** Answers the object's key. */
  #take(kind: RbacKind, followed: FollowedKind, text: string, deleted: boolean): string {
    const object = JSON.parse(text) as RbacObjects[RbacKind];
    const { namespace = "", name = "" } = object.metadata ?? {};
    const key = `${namespace}/${name}`;
    this.#note(followed, key, deleted ? 0 : text.length);
    if (this.#length > this.maxLength) this.#overflow();
    else if (deleted) this.#policy.remove(kind, namespace, name);
    else this.#policy.put(kind, object);
    return key;
  }

  /** What is too much decides nothing, so nothing of it need be kept. */
  #overflow(): void {
    this.#overflows++;
    this.#isWhole = false;
    this.#policy = this.empty();
  }

  #note({ known }: FollowedKind, key: string, length: number): void {
    const before = known.get(key) ?? 0;
    this.#length += length - before;
    this.#namesLength += (length === 0 ? 0 : key.length) - (before === 0 ? 0 : key.length);
    if (length === 0) known.delete(key);
    else known.set(key, length);
  }
}
