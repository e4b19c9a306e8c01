/** Everything that the store of Services asks of the book of addresses: what arrives while calls are under way goes out together in the next one. */
import type { AddressAnswer, AddressRequest, BalancerAnswer, BalancerBookRpc, BalancerQuestion } from "../../api/rpc/load-balancers";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";

export interface TakeQueuePorts {
  clock: Clock;
  /** makes a stub for one call */
  book(): BalancerBookRpc;
  /** the session of this life; a later one where the book knows that one already */
  session(known?: number): number;
  /** see BalancerQuestion */
  shown(): Readonly<Record<string, string>> | undefined;
  labelsOf(namespace: string): Promise<Readonly<Record<string, string>>>;
}

interface Waiting {
  readonly request: AddressRequest;
  resolve(answer: AddressAnswer): void;
  reject(error: unknown): void;
}

const REQUESTS_MAX = 250;
const CALLS_MAX = 2;

export class TakeQueue {
  #waiting: Waiting[] = [];
  #isArmed = false;
  #calls = 0;
  /** Some pool looks at the labels of namespaces. */
  #tellsLabels = false;

  constructor(private readonly ports: TakeQueuePorts) {}

  /** Rejects where it is unknown what the book has made of the request. */
  ask(request: AddressRequest): Promise<AddressAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      if (this.#isArmed) return;
      this.#isArmed = true;
      void Promise.resolve().then(() => {
        this.#isArmed = false;
        this.#send();
      });
    });
  }

  /** One call. Rejects without its answer. */
  async call<Kind extends BalancerAnswer["kind"]>(
    question: BalancerQuestion,
    kind: Kind,
  ): Promise<Extract<BalancerAnswer, { kind: Kind }>> {
    const answer = await this.#inSession(question);
    if (answer.kind === kind) return answer as Extract<BalancerAnswer, { kind: Kind }>;
    throw new Error(`the book of addresses answers ${answer.kind}`);
  }

  /** A store that came back from a time before has forgotten sessions: this life alone can be the newest. */
  async #inSession(question: BalancerQuestion): Promise<BalancerAnswer> {
    const answer = await this.#call(question);
    if (answer.kind !== "outdated" || !("session" in question)) return answer;
    return this.#call({ ...question, session: this.ports.session(answer.session) });
  }

  #call(question: BalancerQuestion): Promise<BalancerAnswer> {
    return withTimeout(this.ports.clock, RPC_TIMEOUT_MS, this.ports.book().askBalancers(question));
  }

  #send(): void {
    while (this.#waiting.length > 0 && this.#calls < CALLS_MAX) void this.#take(this.#waiting.splice(0, REQUESTS_MAX));
  }

  async #take(batch: readonly Waiting[]): Promise<void> {
    this.#calls++;
    try {
      const answers = await this.#answers(batch.map(({ request }) => request));
      batch.forEach(({ resolve, reject }, i) => {
        const answer = answers[i];
        if (answer) resolve(answer);
        else reject(new Error("the book of addresses has left a request out"));
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#calls--;
      this.#send();
    }
  }

  async #answers(requests: readonly AddressRequest[]): Promise<readonly AddressAnswer[]> {
    const ask = async (): Promise<BalancerAnswer> => {
      const told = this.#tellsLabels ? await this.#withLabels(requests) : requests;
      const shown = this.ports.shown();
      return this.#inSession({ does: "take", session: this.ports.session(), requests: told, ...(shown && { shown }) });
    };
    let answer = await ask();
    if (answer.kind === "labels") {
      this.#tellsLabels = true;
      answer = await ask();
    }
    if (answer.kind !== "taken") throw new Error(`the book of addresses answers ${answer.kind}`);
    return answer.answers;
  }

  /** As they are now: each call reads them. */
  async #withLabels(requests: readonly AddressRequest[]): Promise<AddressRequest[]> {
    const names = [...new Set(requests.map(({ service }) => service.namespace))];
    const read = async (name: string) => [name, await this.ports.labelsOf(name)] as const;
    const labels = new Map(await Promise.all(names.map(read)));
    return requests.map((request) => {
      const { service } = request;
      return { ...request, service: { ...service, namespaceLabels: labels.get(service.namespace) ?? {} } };
    });
  }
}
