/**
 * The rules of a cluster in its store of ClusterRoles, for every isolate that asks. See rpc/policy.ts.
 *
 * What must hold
 * - An answer has everything that was committed before the question. The own store is looked at each time. Each other store tells before it commits, and
 *   is asked from then on, until it says that nothing it tells of is under way. One that tells nothing, as the release before, is asked each time.
 * - On disk are the rules of an earlier answer, as long as nobody has told of a change (stored-policy.ts). A start answers by them. Otherwise the three
 *   stores are listed before the first answer; their answers say whether a change is under way.
 * - A store that was rolled back to a release that tells nothing would be trusted for ever. So what it said counts for TRUSTED_MS at most, and what is on
 *   disk for as long after a start.
 * - The default objects of this release are there before the first answer. What breaks off amid their writes is repeated by the next question, because
 *   the note that they are there is written behind them.
 */
import { leastOf } from "../../core/base/extremes";
import { withTimeout } from "../../core/base/timeout";
import type { Clock, Digest, Recorder } from "../../core/base/ports";
import { err, ok, type Result } from "../../core/base/result";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import { writeAllOf } from "../../api/rpc/older-release";
import { type CompilingRules, type PolicyAnswer, RULES_UNREAD } from "../../api/rpc/policy";
import type { BatchedStore } from "../../api/rpc/store";
import { CompiledPolicy } from "./compiled-policy";
import { defaultsVersion, ensureDefaults } from "./ensure-defaults";
import { FollowedPolicy, type PolicySource, RBAC_KINDS, RULES_LENGTH_MAX } from "./followed-policy";
import type { RbacKind } from "./policy";
import { RBAC_RESOURCES } from "./rbac-resources";
import { StoredPolicy, type StoredPolicyPort, type StoredRules } from "./stored-policy";

/** How long the word of a store counts that nothing changes without telling: as long as rules go on while their stores do not answer. */
const TRUSTED_MS = 60_000;
/** Of one call. Isolates wait longer for an answer, so that they hear why there is none. */
const CALL_TIMEOUT_MS = 4_000;

export interface PolicyHostPorts {
  clock: Clock;
  digest: Digest;
  recorder: Recorder;
  /** makes a stub for one call; the store of ClusterRoles is the own one */
  store(kind: RbacKind): ObjectFeed & BatchedStore;
  /** which defaults the cluster has had, durable when anybody hears of it; a release without it leaves it alone */
  defaults: { load(): string | undefined; save(version: string): void };
  stored: StoredPolicyPort;
  /** of the texts of all objects together; the default is RULES_LENGTH_MAX */
  maxLength?: number;
}

/** What is known of one store. */
interface Word {
  /** how often it has told that it is changing */
  told: number;
  /** when it was asked last, if it said then that nothing was under way, in ms since the epoch */
  settledAt: number | undefined;
}

type AnswerFacts = Pick<PolicyAnswer, "length" | "begun">;

interface VersionedText {
  of: CompiledPolicy;
  changes: number;
  version: string;
  text: string;
}

/** The store whose object this is. */
const OWN: RbacKind = "ClusterRole";

export class PolicyHost implements CompilingRules {
  readonly #ports: PolicyHostPorts;
  readonly #stored: StoredPolicy;
  readonly #startedAt: number;
  readonly #words = new Map<RbacKind, Word>(RBAC_KINDS.map((kind) => [kind, { told: 0, settledAt: undefined }]));
  readonly #followed: FollowedPolicy<unknown, CompiledPolicy>;
  /** the defaults of this release */
  readonly #wanted = defaultsVersion();
  #ensuring: Promise<boolean> | undefined;
  /** the refresh that began last; whoever asks after its begin waits for another one behind it */
  #newest: Promise<unknown> = Promise.resolve();
  #waiting: Promise<boolean> | undefined;
  #made: VersionedText | undefined;
  /** the stores have been asked in the life of this object */
  #isFollowing = false;
  /** changes of the own store, those that were undone included: all of them, and what of them the rules have */
  readonly #own = { changes: 0, taken: -1 };

  constructor(ports: PolicyHostPorts) {
    this.#ports = ports;
    this.#stored = new StoredPolicy(ports.stored);
    this.#startedAt = ports.clock.now();
    this.#followed = new FollowedPolicy(this.#source(), ports.maxLength ?? RULES_LENGTH_MAX, () => new CompiledPolicy());
  }

  async policySince(version: string): Promise<PolicyAnswer> {
    const stored = this.#storedRules();
    if (stored) return answerOf(stored, version, { length: stored.length });
    const begun = await this.#refreshed();
    const { policy, length } = this.#followed;
    const facts = { length, ...(begun ? { begun } : {}) };
    if (!policy) return { kind: "tooLarge", ...facts };
    const made = await this.#textOf(policy);
    this.#store(made);
    return answerOf(made, version, facts);
  }

  /** One call at a time, however many ask. */
  ensureDefaults(): Promise<boolean> {
    this.#ensuring ??= this.#ensureDefaults().finally(() => (this.#ensuring = undefined));
    return this.#ensuring;
  }

  rulesChanging(resource: string): Promise<void> {
    const kind = RBAC_KINDS.find((one) => RBAC_RESOURCES[one] === resource);
    const word = kind && this.#words.get(kind);
    if (word) {
      word.told++;
      word.settledAt = undefined;
    }
    // The teller commits when it has the answer, which leaves when this is durable.
    this.#stored.remove();
    return Promise.resolve();
  }

  ownChanged(): void {
    this.#own.changes++;
    this.#stored.remove();
  }

  ownUndone(): void {
    this.#stored.undone();
  }

  /** What a start answers by. */
  #storedRules(): StoredRules | undefined {
    const now = this.#ports.clock.now();
    const isNew = now >= this.#startedAt && now - this.#startedAt < TRUSTED_MS;
    return isNew && !this.#isFollowing && this.#hasDefaults() ? this.#stored.rulesAt(now) : undefined;
  }

  /** Unless something may have changed since the stores were asked. */
  #store({ of, changes, version, text }: VersionedText): void {
    const { policy, length } = this.#followed;
    const others = RBAC_KINDS.filter((kind) => kind !== OWN);
    const isWhole = policy === of && of.changes === changes && this.#own.taken === this.#own.changes;
    if (!isWhole || !others.every((kind) => this.#isCurrent(kind))) return;
    const asOf = leastOf(others.map((kind) => this.#words.get(kind)?.settledAt ?? 0));
    this.#stored.save({ version, text, length, asOf });
  }

  async #ensureDefaults(): Promise<boolean> {
    const { clock, defaults, recorder, store } = this.#ports;
    const inTime = <T>(call: Promise<T>): Promise<T> => withTimeout(clock, CALL_TIMEOUT_MS, call);
    const wrote = await ensureDefaults({
      store: (kind) => ({
        objectsNamed: (keys) => inTime(store(kind).objectsNamed(keys)),
        writeAll: (requests) => inTime(writeAllOf(() => store(kind), requests)),
      }),
      refused: (resource, why) => recorder.log("warn", "a default of access could not be written", { resource, why }),
    }).catch((error: unknown) => {
      throw unread(error);
    });
    if (!this.#hasDefaults()) defaults.save(this.#wanted);
    return wrote;
  }

  #hasDefaults(): boolean {
    return this.#ports.defaults.load() === this.#wanted;
  }

  /** Takes over what was committed before the call; one after the other. True = default objects were written meanwhile. */
  #refreshed(): Promise<boolean> {
    if (this.#waiting) return this.#waiting;
    const refreshed = this.#newest.then(() => {
      this.#waiting = undefined;
      return this.#refresh();
    });
    this.#waiting = refreshed;
    this.#newest = refreshed.catch(() => undefined);
    return refreshed;
  }

  async #refresh(): Promise<boolean> {
    this.#isFollowing = true;
    const begun = !this.#hasDefaults() && (await this.ensureDefaults());
    const { changes } = this.#own;
    const done = await this.#followed.refresh();
    if (!done.ok) throw unread(done.error);
    this.#own.taken = changes;
    return begun;
  }

  #source(): PolicySource<unknown> {
    const { store } = this.#ports;
    return {
      objectsSince: (kind, cursor, limit) =>
        this.#heard(
          kind,
          () => store(kind).objectsSince(cursor, limit),
          (fed) => fed.kind === "changes" && !fed.more && fed.settled === true,
        ),
      objectsAfter: (kind, after, limit) =>
        this.#heard(
          kind,
          () => store(kind).objectsAfter(after, limit),
          (page) => after === "" && page.next === "" && page.settled === true,
        ),
      isCurrent: (kind) => this.#isCurrent(kind),
    };
  }

  #isCurrent(kind: RbacKind): boolean {
    const settledAt = this.#words.get(kind)?.settledAt;
    const now = this.#ports.clock.now();
    return settledAt !== undefined && now >= settledAt && now - settledAt < TRUSTED_MS;
  }

  /** Notes whether the store is whole as it was told. What it tells during the call counts for more than its answer. */
  async #heard<T>(kind: RbacKind, call: () => Promise<T>, isSettled: (answer: T) => boolean): Promise<Result<T, unknown>> {
    const { clock } = this.#ports;
    const word = this.#words.get(kind) ?? { told: 0, settledAt: undefined };
    const { told } = word;
    const askedAt = clock.now();
    word.settledAt = undefined;
    try {
      const answer = await attempted(() => withTimeout(clock, CALL_TIMEOUT_MS, call()));
      if (isSettled(answer) && word.told === told) word.settledAt = askedAt;
      return ok(answer);
    } catch (error) {
      return err(error);
    }
  }

  async #textOf(policy: CompiledPolicy): Promise<VersionedText> {
    const { changes } = policy;
    if (this.#made?.of === policy && this.#made.changes === changes) return this.#made;
    const text = policy.text();
    const version = await this.#ports.digest(new TextEncoder().encode(text));
    return (this.#made = { of: policy, changes, version, text });
  }
}

function answerOf({ version, text }: Pick<StoredRules, "version" | "text">, known: string, facts: AnswerFacts): PolicyAnswer {
  return version === known ? { kind: "unchanged", ...facts } : { kind: "policy", version, text, ...facts };
}

/** Once more where the platform says that the call was not delivered. */
async function attempted<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if ((error as { retryable?: unknown }).retryable !== true) throw error;
    return call();
  }
}

function unread(cause: unknown): Error {
  return new Error(`${RULES_UNREAD}: ${String(cause)}`, { cause });
}
