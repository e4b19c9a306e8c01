/**
 * Looks up Nodes in the store of Nodes before the controller has sent them. A store that does not answer changes nothing: the last known state holds.
 */
import type { Clock, Recorder } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import { PacedLog } from "../core/telemetry/paced-log";

/** A check of a name that the controller did not tell asks the store of Nodes, unless an answer is younger than this. */
export const ASKED_NODE_AGE_MS = 5_000;
/** How long a check or a report waits for the store of Nodes: nothing is known that could go on. */
const FIND_TIMEOUT_MS = 10_000;
/** The same where something is known: of a Node that was found and that the controller has not told of, or of a name without one. Load balancers give up after some seconds. */
const CONFIRM_TIMEOUT_MS = 2_000;
/** For so long the controller may not know a Node that was found in the store. */
const UNTOLD_MS = 60_000;
/** Such Nodes whose store is asked at once whether they are still there. */
const CONFIRMED_AT_ONCE = 8;
/** A Node is asked for so often in a row: each push that comes meanwhile may be newer than the answer. */
const FINDS_MAX = 3;
/** Names without a Node that are remembered with the time of their last question; beyond it that memory starts over. */
const ASKED_UNKNOWN_MAX = 1_000;

export interface NodeFinderPorts {
  clock: Clock;
  recorder: Recorder;
  /** the Node as its store has it; null = there is none */
  node(name: string): Promise<string | null>;
  /** whether the controller sent the Node: then the store is not asked */
  isTold(name: string): boolean;
  /** whether the Node is known, from whomever */
  isKnown(name: string): boolean;
  /** names of Nodes that were found in the store and that the controller has not sent */
  untold(): readonly string[];
  /** changes with each message of the controller; undefined = it never sent one */
  cursor(): unknown;
  /** the store's answer for a Node that the controller has not sent; null = it has no such Node */
  found(name: string, object: string | null): void;
}

/** The questions to the store about one Node so far. */
interface NodeQuestions {
  /** when the last answered question was sent; -Infinity = none was answered */
  answeredAt: number;
  /** the last question got no answer */
  isUnanswered: boolean;
}

export class NodeFinder {
  /** of names that the controller did not tell */
  readonly #asked = new Map<string, NodeQuestions>();
  readonly #asking = new Map<string, Promise<void>>();
  readonly #unanswered: PacedLog;

  constructor(private readonly ports: NodeFinderPorts) {
    // Every check may meet it.
    this.#unanswered = new PacedLog("warn", "the store of Nodes does not answer: the last known state of nodes goes on", ports);
  }

  /**
   * Looks for a Node in its store, unless the controller told of the name, or an answer is younger than `ageMaxMs`. Those who ask together share one
   * question. Never rejects.
   */
  async find(name: string, ageMaxMs = ASKED_NODE_AGE_MS): Promise<void> {
    if (this.ports.isTold(name) || !this.#isDue(name, ageMaxMs)) return;
    let asking = this.#asking.get(name);
    if (!asking) {
      asking = this.#ask(name).finally(() => this.#asking.delete(name));
      this.#asking.set(name, asking);
    }
    await asking;
  }

  /** Asks for some of those Nodes that the controller should have told of by now: they may be gone. */
  confirm(): void {
    const due = this.ports.untold().filter((name) => this.#isDue(name, UNTOLD_MS));
    for (const name of due.slice(0, CONFIRMED_AT_ONCE)) void this.find(name, UNTOLD_MS);
  }

  /** Whether the last question for the name had no answer. */
  isUnanswered(name: string): boolean {
    return this.#asked.get(name)?.isUnanswered ?? false;
  }

  /** Whether a name without a Node is known to have none. The controller tells every Node at once, so one that it did not name is not there. */
  isKnownAbsent(name: string): boolean {
    return this.ports.cursor() !== undefined || (this.#asked.get(name)?.answeredAt ?? -Infinity) > -Infinity;
  }

  #isDue(name: string, ageMaxMs: number): boolean {
    const age = this.ports.clock.now() - (this.#asked.get(name)?.answeredAt ?? -Infinity);
    return age < 0 || age >= ageMaxMs;
  }

  async #ask(name: string): Promise<void> {
    const { clock, cursor, isTold, isKnown, node, found } = this.ports;
    const asked: NodeQuestions = { answeredAt: clock.now(), isUnanswered: false };
    const timeoutMs = isKnown(name) || this.isKnownAbsent(name) ? CONFIRM_TIMEOUT_MS : FIND_TIMEOUT_MS;
    try {
      for (let finds = 1; finds <= FINDS_MAX; finds++) {
        const before = cursor();
        const object = await withTimeout(clock, timeoutMs, node(name));
        // The controller may have told of it meanwhile, and later news.
        if (isTold(name)) break;
        // Or that it is gone: the answer may be older.
        if (cursor() !== before && finds < FINDS_MAX) continue;
        found(name, object);
        break;
      }
    } catch (error) {
      asked.answeredAt = this.#asked.get(name)?.answeredAt ?? -Infinity;
      asked.isUnanswered = true;
      this.#unanswered.add(() => ({ node: name, error: String(error) }));
    }
    this.#asked.delete(name);
    if (isTold(name)) return;
    if (this.#asked.size >= ASKED_UNKNOWN_MAX) this.#asked.clear();
    this.#asked.set(name, asked);
  }
}
