/**
 * A small load balancer for TCP, as clouds have them: connections go to the targets in turn, as long as their health checks say 200.
 *
 * It never tries a connection at another target. A target whose check says 503 gets no new connection and keeps those it has; one that is removed
 * loses them. A check without an answer changes nothing: an outage of whoever answers must not take all targets away.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Longer than any answer takes on a busy machine. */
const CHECK_TIMEOUT_MS = 10_000;

export interface BalancerTarget {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  /** what its health check asks */
  readonly healthUrl: string;
}

export type TargetState = "healthy" | "unhealthy" | "removed";

interface Kept extends BalancerTarget {
  state: TargetState;
  /** connections that it was given so far */
  given: number;
  /** ports of the clients of those that are open */
  readonly clients: Set<number>;
  readonly open: Set<Socket>;
}

interface BalancerSetting {
  readonly checkEveryMs: number;
  /** called in the moment in which a target's state changes */
  readonly onState: (name: string, state: TargetState) => void;
}

export class LoadBalancer {
  readonly #targets: Kept[];
  readonly #server: Server;
  #turn = 0;
  #isStopped = false;

  private constructor(
    targets: readonly BalancerTarget[],
    private readonly setting: BalancerSetting,
  ) {
    this.#targets = targets.map((target) => ({ ...target, state: "unhealthy", given: 0, clients: new Set(), open: new Set() }));
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#serve(client));
  }

  /** Listens at any port of 127.0.0.1. */
  static async start(targets: readonly BalancerTarget[], setting: BalancerSetting): Promise<LoadBalancer> {
    const balancer = new LoadBalancer(targets, setting);
    balancer.#server.listen(0, "127.0.0.1");
    await once(balancer.#server, "listening");
    for (const target of balancer.#targets) void balancer.#check(target);
    return balancer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stateOf(name: string): TargetState {
    return this.#named(name).state;
  }

  /** How many connections the target was given so far. */
  givenTo(name: string): number {
    return this.#named(name).given;
  }

  /** The target of the open connection that comes from this port. */
  targetOf(clientPort: number): string | undefined {
    return this.#targets.find(({ clients }) => clients.has(clientPort))?.name;
  }

  /** Takes a target away, with its connections. */
  remove(name: string): void {
    const target = this.#named(name);
    this.#become(target, "removed");
    for (const socket of target.open) socket.resetAndDestroy();
  }

  stop(): void {
    this.#isStopped = true;
    this.#server.close();
    for (const { open } of this.#targets) for (const socket of open) socket.destroy();
  }

  #named(name: string): Kept {
    const target = this.#targets.find((one) => one.name === name);
    if (!target) throw new Error(`the load balancer has no target ${name}`);
    return target;
  }

  #become(target: Kept, state: TargetState): void {
    if (target.state === state || target.state === "removed") return;
    target.state = state;
    this.setting.onState(target.name, state);
  }

  async #check(target: Kept): Promise<void> {
    while (!this.#isStopped && target.state !== "removed") {
      try {
        const answer = await fetch(target.healthUrl, { signal: AbortSignal.timeout(CHECK_TIMEOUT_MS) });
        await answer.text();
        if (answer.status === 200) this.#become(target, "healthy");
        else if (answer.status === 503) this.#become(target, "unhealthy");
      } catch {
        // No answer says nothing about the target.
      }
      await new Promise((resolve) => setTimeout(resolve, this.setting.checkEveryMs));
    }
  }

  #serve(client: Socket): void {
    const healthy = this.#targets.filter(({ state }) => state === "healthy");
    const target = healthy[this.#turn++ % healthy.length];
    client.on("error", () => undefined);
    if (!target) {
      client.resetAndDestroy();
      return;
    }
    target.given++;
    const { remotePort = 0 } = client;
    target.clients.add(remotePort);
    client.once("close", () => target.clients.delete(remotePort));
    const backend = connect({ host: target.address, port: target.port, allowHalfOpen: true, noDelay: true });
    for (const [one, other] of [
      [client, backend],
      [backend, client],
    ] as const) {
      target.open.add(one);
      one.once("error", () => other.resetAndDestroy());
      one.once("close", () => {
        target.open.delete(one);
        if (!one.readableEnded || !one.writableFinished) other.destroy();
      });
      one.pipe(other);
    }
  }
}
