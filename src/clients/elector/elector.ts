/**
 * Leader election for programs, on a Lease of any Kubernetes API server: of several processes one leads. Rules as client-go's
 * tools/leaderelection, with which it may share a Lease (leader-record.ts). What it does beyond:
 *
 * - The leader gets a fencing token: the resourceVersion of its acquisition. A later leader's is greater. fencing.ts checks it at each write.
 * - A term ends `renewDeadline` after the sending of its last renewal that succeeded, not after the answer. A candidate waits `leaseDuration`
 *   after it saw that renewal, so that terms do not overlap, however slow the network is.
 * - A candidate watches the Lease: it tries at the moment when the leader releases it, and when it runs out.
 * - A leader that finds the Lease in other hands, or gone, stops at once, and not at its deadline.
 * - The Lease is released when the leader's work has ended, and only if it still is of that term.
 * - A term also ends by the wall clock: the steady clock and timers of many machines stand still while the machine sleeps.
 *
 * Clocks may differ and jump, but a machine that has slept must know the time when it wakes. Clocks must not run at rates that differ by
 * leaseDuration / renewDeadline. The token does not protect from a write that does not check it.
 */
import { errorOf, followCollection, type FollowStep } from "../../api/client/follow-collection";
import type { Lease } from "../../api/meta/kubernetes";
import type { Random } from "../../core/base/ports";
import { isLaterToken } from "./fencing";
import {
  createdBy,
  type Holding,
  isSameTerm,
  judge,
  releasedBy,
  renewedBy,
  type SeenLease,
  seenNext,
  takenBy,
} from "../../leases/election/leader-record";
import { ObjectClient, type SendLike, type Swapped } from "./send-like";
import { type ElectorClock, type Moment, momentOf, OwnTerm, type Term } from "./term";

const LEASE_DURATION_SECONDS = 15;
const RENEW_DEADLINE_SECONDS = 10;
const RETRY_PERIOD_SECONDS = 2;
const JITTER_FACTOR = 1.2;
const REQUEST_TIMEOUT_MIN_MS = 1_000;

export interface ElectorOptions {
  readonly send: SendLike;
  readonly clock: ElectorClock;
  readonly random: Pick<Random, "next">;
  readonly namespace: string;
  readonly name: string;
  /** of this process alone, and new at each start: such as host name and a UUID */
  readonly identity: string;
  /** written on the Lease, beside those of others */
  readonly labels?: Readonly<Record<string, string>>;
  /** How long others leave the Lease to a silent leader. Whole seconds; absent: 15. */
  readonly leaseDurationSeconds?: number;
  /** How long a leader goes on without a renewal. Absent: 10. */
  readonly renewDeadlineSeconds?: number;
  /** Between two attempts; a candidate waits up to 2.2 times as long. Absent: 2. */
  readonly retryPeriodSeconds?: number;
  /**
   * Called at the beginning of each term. The work ends soon after `term.signal` aborts: until the result settles the Lease is kept, and renewed
   * where the term ends by `stop`. What it throws is reported.
   */
  lead(term: Term): void | Promise<void>;
  /** Another one is seen to lead; "" = nobody does. It must not throw. */
  onLeader?(identity: string): void;
  /** The server refuses or cannot be reached; the elector tries again. It must not throw. */
  onError?(error: Error): void;
}

export interface Election {
  /** Ends the term, if there is one, waits for its work, releases the Lease, and takes part no more. */
  stop(): Promise<void>;
}

/** Why an election with these options cannot begin, in client-go's words; undefined = it can. */
export function electionProblem(options: ElectorOptions): string | undefined {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = timesOf(options);
  if (options.identity === "") return "Lock identity is empty";
  if (leaseDurationMs < 1) return "leaseDuration must be greater than zero";
  if (leaseDurationMs % 1000 !== 0) return "leaseDuration must be whole seconds";
  if (renewDeadlineMs < 1) return "renewDeadline must be greater than zero";
  if (retryPeriodMs < 1) return "retryPeriod must be greater than zero";
  if (leaseDurationMs <= renewDeadlineMs) return "leaseDuration must be greater than renewDeadline";
  if (renewDeadlineMs <= retryPeriodMs * JITTER_FACTOR) return "renewDeadline must be greater than retryPeriod*JitterFactor";
  return undefined;
}

/** Takes part in the election from now on. Throws an error with the text of `electionProblem`. */
export function takePart(options: ElectorOptions): Election {
  const problem = electionProblem(options);
  if (problem !== undefined) throw new Error(problem);
  return new Elector(options);
}

interface Times {
  leaseDurationMs: number;
  renewDeadlineMs: number;
  retryPeriodMs: number;
}

function timesOf({
  leaseDurationSeconds = LEASE_DURATION_SECONDS,
  renewDeadlineSeconds = RENEW_DEADLINE_SECONDS,
  retryPeriodSeconds = RETRY_PERIOD_SECONDS,
}: ElectorOptions): Times {
  return {
    leaseDurationMs: leaseDurationSeconds * 1000,
    renewDeadlineMs: renewDeadlineSeconds * 1000,
    retryPeriodMs: retryPeriodSeconds * 1000,
  };
}

/** A Lease as this process has just written it. */
interface Held {
  readonly lease: Lease;
  /** when the write was sent */
  readonly sent: Moment;
}

class Elector implements Election {
  readonly #options: ElectorOptions;
  readonly #times: Times;
  readonly #holding: Holding;
  readonly #client: ObjectClient<Lease>;
  readonly #collection: string;
  readonly #path: string;
  readonly #unfollow: () => void;
  readonly #over: Promise<void>;
  #seen: SeenLease | undefined;
  #leader: string | undefined;
  #term: OwnTerm | undefined;
  #isStopped = false;
  #isAwake = false;
  #endPause: () => void = () => undefined;

  constructor(options: ElectorOptions) {
    const { namespace, name, identity, labels = {}, send, clock, random } = options;
    this.#options = options;
    this.#times = timesOf(options);
    this.#holding = { identity, labels, durationSeconds: this.#times.leaseDurationMs / 1000 };
    this.#client = new ObjectClient(send, clock);
    this.#collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
    this.#path = `${this.#collection}/${encodeURIComponent(name)}`;
    this.#unfollow = followCollection<Lease>({
      fetch: send,
      clock,
      random,
      path: this.#collection,
      fieldSelector: `metadata.name=${name}`,
      // Without the right to watch, the attempts alone find out.
      onStep: (step) => this.#hear(step),
    });
    this.#over = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#term?.end();
    this.#wake();
    await this.#over;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const held = await this.#reported(() => this.#acquire());
      if (held) await this.#lead(held);
      else await this.#pause(this.#candidatePauseMs());
    }
    this.#unfollow();
  }

  /** One attempt; the Lease when this process holds it now. */
  async #acquire(): Promise<Held | undefined> {
    const { clock, namespace, name, identity } = this.#options;
    const begunMs = clock.steady();
    const lease = await this.#client.get(this.#path, this.#timeoutMs);
    if (!lease) {
      this.#seen = undefined;
      return this.#write((nowMs) =>
        this.#client.create(this.#collection, createdBy(namespace, name, this.#holding, nowMs), this.#timeoutMs),
      );
    }
    const seen = this.#observe(lease);
    const verdict = judge(seen, identity, begunMs);
    if (verdict.kind === "wait") return undefined;
    const next = verdict.kind === "renew" ? renewedBy : takenBy;
    return this.#write((nowMs) => this.#client.replace(this.#path, next(lease, this.#holding, nowMs), this.#timeoutMs));
  }

  /** A term from its acquisition to its release. */
  async #lead(acquired: Held): Promise<void> {
    const { renewDeadlineMs, retryPeriodMs } = this.#times;
    let held = acquired;
    const term = new OwnTerm(this.#options.clock, held.lease.metadata?.resourceVersion ?? "", held.sent, renewDeadlineMs);
    this.#term = term;
    // What woke the candidate is no news to the leader.
    this.#isAwake = false;
    const work = this.#begin(term);
    let isLost = false;
    // A term that ended by `stop` lasts until its work is done.
    while (!isLost && term.remainingMs > 0 && !work.hasFailed && (work.isRunning || !this.#isStopped)) {
      await this.#pause(Math.min(retryPeriodMs, term.remainingMs));
      if (term.remainingMs <= 0 || work.hasFailed || (this.#isStopped && !work.isRunning)) break;
      const renewed = await this.#renew(held, Math.min(this.#timeoutMs, term.remainingMs));
      if (renewed === "lost") isLost = true;
      else if (renewed && term.remainingMs > 0) {
        held = renewed;
        term.extend(held.sent);
      }
    }
    term.end();
    await work.done;
    this.#term = undefined;
    if (!isLost) await this.#reported(() => this.#release(held));
    if (work.hasFailed) await this.#rest(retryPeriodMs);
  }

  /** Begins the leader's work, unless the term is over before. */
  #begin(term: OwnTerm): { isRunning: boolean; hasFailed: boolean; done: Promise<void> } {
    const work = { isRunning: term.isValid && !this.#isStopped, hasFailed: false, done: Promise.resolve() };
    if (!work.isRunning) {
      term.end();
      return work;
    }
    const { lead } = this.#options;
    const succeeded = this.#reported(async () => {
      await lead(term);
      return true;
    });
    work.done = succeeded.then((success) => {
      work.hasFailed = success === undefined;
      work.isRunning = false;
      if (this.#isStopped || work.hasFailed) this.#wake();
    });
    return work;
  }

  /** "lost": the Lease is of another term, or gone. undefined: unknown. */
  #renew(held: Held, timeoutMs: number): Promise<Held | "lost" | undefined> {
    const renew = (lease: Lease): Promise<Held | undefined> =>
      this.#write((nowMs) => this.#client.replace(this.#path, renewedBy(lease, this.#holding, nowMs), timeoutMs));
    return this.#reported(async () => {
      const renewed = await renew(held.lease);
      if (renewed) return renewed;
      const lease = await this.#client.get(this.#path, timeoutMs);
      if (lease) this.#observe(lease);
      return lease && isSameTerm(lease, held.lease) ? renew(lease) : "lost";
    });
  }

  /** One attempt, and one more where an unanswered renewal has changed the Lease. */
  async #release(held: Held): Promise<void> {
    const timeoutMs = this.#times.renewDeadlineMs / 3;
    for (let { lease } = held, attempt = 1; ; attempt++) {
      const released = releasedBy(lease, this.#holding, this.#options.clock.now());
      const answer = await this.#client.replace(this.#path, released, timeoutMs);
      if (answer.kind === "stored") this.#observe(answer.object);
      if (answer.kind !== "conflict" || attempt === 2) return;
      const found = await this.#client.get(this.#path, timeoutMs);
      if (!found || !isSameTerm(found, held.lease)) return;
      lease = found;
    }
  }

  /** undefined: another write came first */
  async #write(write: (nowMs: number) => Promise<Swapped<Lease>>): Promise<Held | undefined> {
    const { clock } = this.#options;
    const sent = momentOf(clock);
    const answer = await write(sent.wallMs);
    if (answer.kind !== "stored") return undefined;
    this.#observe(answer.object);
    return { lease: answer.object, sent };
  }

  #observe(lease: Lease): SeenLease {
    const seen = seenNext(this.#seen, lease, this.#options.clock.steady());
    this.#seen = seen;
    this.#note(lease.spec?.holderIdentity ?? "");
    return seen;
  }

  #note(leader: string): void {
    if (leader === this.#leader) return;
    this.#leader = leader;
    this.#options.onLeader?.(leader);
  }

  /** What the watch says. A Lease that is free wakes a candidate, one that is gone or in other hands the leader. */
  #hear(step: FollowStep<Lease>): void {
    // A read or a write of this process may have seen more than the watch.
    if (this.#seen && !isLaterToken(step.resourceVersion, this.#seen.lease.metadata?.resourceVersion ?? "")) return;
    const lease = leaseAfter(step);
    if (lease === undefined) return;
    if (lease === "gone") {
      this.#seen = undefined;
      this.#note("");
    } else this.#observe(lease);
    const holder = lease === "gone" ? "" : lease.spec?.holderIdentity;
    if (!holder || (this.#term && holder !== this.#options.identity)) this.#wake();
  }

  /** Until the next attempt of a candidate: spread, and not longer than the Lease lasts. */
  #candidatePauseMs(): number {
    const { clock, random, identity } = this.#options;
    const spreadMs = this.#times.retryPeriodMs * (1 + random.next() * JITTER_FACTOR);
    const nowMs = clock.steady();
    const verdict = this.#seen ? judge(this.#seen, identity, nowMs) : undefined;
    return verdict?.kind === "wait" ? Math.min(spreadMs, verdict.untilMs - nowMs + 1) : spreadMs;
  }

  get #timeoutMs(): number {
    return Math.max(REQUEST_TIMEOUT_MIN_MS, this.#times.renewDeadlineMs / 2);
  }

  /** Ends early when something happens, at once when it has happened since the last pause. */
  async #pause(ms: number): Promise<void> {
    if (!this.#isAwake) {
      await new Promise<void>((resolve) => {
        const cancel = this.#options.clock.after(ms, resolve);
        this.#endPause = () => {
          cancel();
          resolve();
        };
      });
    }
    this.#endPause = () => undefined;
    this.#isAwake = false;
  }

  /** Ends early by `stop` alone. */
  async #rest(ms: number): Promise<void> {
    const { clock } = this.#options;
    for (const endMs = clock.steady() + ms; !this.#isStopped && clock.steady() < endMs;) await this.#pause(endMs - clock.steady());
  }

  #wake(): void {
    this.#isAwake = true;
    this.#endPause();
  }

  /** undefined: it failed, which is reported */
  async #reported<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#options.onError?.(errorOf(error));
      return undefined;
    }
  }
}

/** The Lease after a step of its watch; undefined: the step does not say. */
function leaseAfter(step: FollowStep<Lease>): Lease | "gone" | undefined {
  if (step.kind === "list") return step.objects[0] ?? "gone";
  const last = step.changes.at(-1);
  return last?.type === "DELETED" ? "gone" : last?.object;
}
