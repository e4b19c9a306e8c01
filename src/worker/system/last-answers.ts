/**
 * The last answers to checks of nodes, which go on in an outage. Anybody may ask for any path, so nothing is kept that a request can make up. Only a
 * node that exists or existed has answers, and only for checks that exist. Beyond the bound the node that was asked for least recently is dropped. An
 * answer has no bound of age: an outage, however long, turns no node red. A caller that wants a bound has the age.
 */
import type { HealthPath } from "../../proxy-health/rules/health-answer";
import type { NodeAnswer } from "../../proxy-health/rpc";
import { RecentMap } from "../http/recent-map";

/** Answers of all nodes, of each kind. One has less than 1 KB. */
const ANSWERS_MAX = 20_000;
/** Checks of Services of one node, so that no node takes the place of the others. */
const NODE_CHECKS_MAX = 1_000;

/** null = nothing answers there */
type KnownAnswer = NodeAnswer | null;

export interface LastAnswer {
  readonly answer: KnownAnswer;
  /** when it was new; ms since the epoch */
  readonly at: number;
}

/** Checks of Services take no place from /healthz and /livez. */
export class LastAnswers {
  readonly #proxies: KindOfAnswers;
  readonly #checks: KindOfAnswers;

  constructor(answersMax = ANSWERS_MAX, nodeChecksMax = NODE_CHECKS_MAX) {
    this.#proxies = new KindOfAnswers(answersMax, PATHS.size);
    this.#checks = new KindOfAnswers(answersMax, nodeChecksMax);
  }

  /** undefined = there is none */
  get(node: string, question: string): LastAnswer | undefined {
    return this.#of(question).get(node, question);
  }

  /** Where there is one already, the answer takes its place in any case: a node that was removed stays so. */
  put(node: string, question: string, answer: KnownAnswer, at: number): void {
    const kept = this.#of(question);
    if (answer?.isOfNode || kept.get(node, question) !== undefined) kept.put(node, question, { answer, at });
  }

  forget(node: string): void {
    this.#proxies.forget(node);
    this.#checks.forget(node);
  }

  #of(question: string): KindOfAnswers {
    return PATHS.has(question) ? this.#proxies : this.#checks;
  }
}

const PATHS: ReadonlySet<string> = new Set<HealthPath>(["/healthz", "/livez"]);

class KindOfAnswers {
  readonly #nodes: RecentMap<string, RecentMap<string, LastAnswer>>;
  #count = 0;

  constructor(
    private readonly answersMax: number,
    private readonly nodeAnswersMax: number,
  ) {
    this.#nodes = new RecentMap(answersMax);
  }

  get(node: string, question: string): LastAnswer | undefined {
    return this.#nodes.get(node)?.get(question);
  }

  put(node: string, question: string, answer: LastAnswer): void {
    const answers = this.#nodes.get(node) ?? new RecentMap<string, LastAnswer>(this.nodeAnswersMax);
    this.#count -= answers.size;
    answers.put(question, answer);
    this.#count += answers.size;
    this.#nodes.put(node, answers);
    while (this.#count > this.answersMax) this.#count -= this.#nodes.takeOldest()?.size ?? 0;
  }

  forget(node: string): void {
    this.#count -= this.#nodes.get(node)?.size ?? 0;
    this.#nodes.delete(node);
  }
}
