/** Clients of a load balancer: a short request on a connection of its own at a steady rate, and connections that are held open and used all the time. */
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connected, whoAnswers } from "../../test/support/clients/echo-backends";

export const REQUESTS_PER_SECOND = 40;
const PING_EVERY_MS = 100;

export interface Requests {
  answered: number;
  failed: number;
}

/** Short requests until `stop`. */
export class SteadyRequests {
  #counts: Requests = { answered: 0, failed: 0 };
  readonly #underWay = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly port: number) {
    this.#timer = setInterval(() => {
      const request = this.#request().finally(() => this.#underWay.delete(request));
      this.#underWay.add(request);
    }, 1_000 / REQUESTS_PER_SECOND);
  }

  /** The counts of all requests that begin from now on. They grow until these have ended. */
  countAnew(): Requests {
    this.#counts = { answered: 0, failed: 0 };
    return this.#counts;
  }

  /** Resolves when the requests have ended that are under way now. */
  async ended(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.ended();
  }

  async #request(): Promise<void> {
    const counts = this.#counts;
    if ((await whoAnswers("127.0.0.1", this.port)).startsWith("pod")) counts.answered++;
    else counts.failed++;
  }
}

/** A connection that is used until somebody ends it. */
export class HeldConnection {
  #answers = 0;
  #isOpen = true;

  private constructor(private readonly socket: Socket) {
    socket.on("error", () => undefined);
    socket.on("data", () => this.#answers++);
    socket.on("close", () => (this.#isOpen = false));
    socket.on("end", () => (this.#isOpen = false));
    void this.#use();
  }

  static async open(port: number): Promise<HeldConnection> {
    return new HeldConnection(await connected("127.0.0.1", port));
  }

  /** its own port, by which the load balancer knows it */
  get localPort(): number {
    return this.socket.localPort ?? 0;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Waits until it answers again; false = it has ended. */
  async answers(): Promise<boolean> {
    const before = this.#answers;
    while (this.#isOpen && this.#answers === before) await sleep(PING_EVERY_MS / 10);
    return this.#isOpen;
  }

  end(): void {
    this.socket.destroy();
  }

  async #use(): Promise<void> {
    while (this.#isOpen) {
      this.socket.write("ping");
      await sleep(PING_EVERY_MS);
    }
  }
}
