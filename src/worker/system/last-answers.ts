/**
 * The last answers to checks of nodes, which go on in an outage. Anybody may ask for any path, so nothing is kept that a request can make up: only a node
 * that is there, or was, has answers, and only a check that is there is one of them. Beyond the bound the node goes that was asked for least recently.
 */
import type { NodeAnswer } from "../../proxy-health/rpc";
import { RecentMap } from "../http/recent-map";

/** Of all nodes. One has less than 1 KB. */
const ANSWERS_MAX = 20_000;
/** Of one node, so that no node takes the place of the others. */
const NODE_ANSWERS_MAX = 100;

/** null = nothing answers there */
type Answer = NodeAnswer | null;

export class LastAnswers {
  readonly #nodes = new RecentMap<string, RecentMap<string, Answer>>(ANSWERS_MAX);
  #count = 0;

  constructor(
    private readonly answersMax = ANSWERS_MAX,
    private readonly nodeAnswersMax = NODE_ANSWERS_MAX,
  ) {}

  /** undefined = there is none */
  get(node: string, question: string): Answer | undefined {
    return this.#nodes.get(node)?.get(question);
  }

  /** Where there is one already, the answer takes its place in any case: a node that was removed stays so. */
  put(node: string, question: string, answer: Answer): void {
    if (!answer?.isOfNode && this.get(node, question) === undefined) return;
    const answers = this.#nodes.get(node) ?? new RecentMap<string, Answer>(this.nodeAnswersMax);
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
