/** UDP through the proxy: each client has a flow, a socket of its own towards one endpoint, until it has been silent for a while. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";
import type { MergedEndpoint } from "../../src/api/registry/endpoint-slices/slice-portion";
import { hostAndPort } from "../../src/core/net/host-and-port";
import type { Direction, Opened } from "./opened";

/** Flows of one listener; beyond, the one that was silent longest ends. Each has a socket. */
const FLOWS_MAX = 4_096;
/** Datagrams of a flow that wait for its socket. */
const WAITING_MAX = 64;

interface Client {
  readonly address: string;
  readonly port: number;
}

export async function openUdp(at: Client, direction: Direction, timeoutMs: number): Promise<Opened> {
  const socket = createSocket(isIPv6(at.address) ? "udp6" : "udp4");
  socket.bind({ ...at, exclusive: true });
  await once(socket, "listening");
  return new UdpListener(socket, direction, timeoutMs);
}

class UdpListener implements Opened {
  /** by the client's address and port, the one that was silent longest first */
  readonly #flows = new Map<string, Flow>();
  readonly #sweep: NodeJS.Timeout;
  #isClosing = false;
  #hasEnded = false;

  constructor(
    private readonly socket: Socket,
    private readonly direction: Direction,
    private readonly timeoutMs: number,
  ) {
    this.#sweep = setInterval(() => this.#endSilent(), Math.max(timeoutMs / 4, 50)).unref();
    socket.on("message", (datagram, client) => this.#take(datagram, client));
    // An answer that the system does not take is lost, as a datagram may be.
    socket.on("error", () => undefined);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  close(): void {
    this.#isClosing = true;
    this.review();
  }

  resume(): boolean {
    this.#isClosing = this.#hasEnded;
    return !this.#hasEnded;
  }

  review(): void {
    for (const flow of this.#flows.values()) if (!this.direction.keepsFlow(flow.endpoint.key)) flow.end();
    this.#endWhenEmpty();
  }

  destroy(): void {
    this.#isClosing = true;
    for (const flow of this.#flows.values()) flow.end();
    this.#endWhenEmpty();
  }

  #take(datagram: Buffer, client: Client): void {
    const key = hostAndPort(client.address, client.port);
    const flow = this.#flows.get(key) ?? this.#begin(key, client, new Set());
    if (!flow) return;
    this.#touch(key, flow);
    flow.send(datagram);
  }

  /** A flow to an endpoint that has not refused it. */
  #begin(key: string, client: Client, refused: ReadonlySet<string>): Flow | undefined {
    const endpoint = this.#isClosing ? undefined : this.direction.choose(client.address, refused);
    if (!endpoint) return undefined;
    const flow = new Flow(endpoint, this.direction.dialAddress(endpoint), {
      onAnswer: (datagram) => {
        this.#touch(key, flow);
        this.socket.send(datagram, client.port, client.address, () => undefined);
      },
      onEnd: () => {
        if (this.#flows.get(key) === flow) this.#flows.delete(key);
        this.#endWhenEmpty();
      },
      onRefused: (unanswered) => {
        const next = unanswered && this.#begin(key, client, new Set([...refused, endpoint.key]));
        if (next) next.send(unanswered);
      },
    });
    this.#flows.set(key, flow);
    const [oldest] = this.#flows.values();
    if (this.#flows.size > FLOWS_MAX) oldest?.end();
    return flow;
  }

  /** Not the one that was silent longest any more. */
  #touch(key: string, flow: Flow): void {
    flow.usedAt = performance.now();
    if (this.#flows.delete(key)) this.#flows.set(key, flow);
  }

  #endSilent(): void {
    const since = performance.now() - this.timeoutMs;
    for (const flow of this.#flows.values()) {
      if (flow.usedAt > since) return;
      flow.end();
    }
  }

  #endWhenEmpty(): void {
    if (!this.#isClosing || this.#hasEnded || this.#flows.size > 0) return;
    this.#hasEnded = true;
    clearInterval(this.#sweep);
    this.socket.close();
  }
}

interface FlowEvents {
  onAnswer(datagram: Buffer): void;
  /** Nothing comes any more. */
  onEnd(): void;
  /** The endpoint has nothing on its port. `unanswered`: the last datagram, if it never answered one. */
  onRefused(unanswered: Buffer | undefined): void;
}

class Flow {
  usedAt = performance.now();
  readonly #socket: Socket;
  #unanswered: Buffer | undefined;
  /** undefined = the socket is connected */
  #waiting: Buffer[] | undefined = [];
  #hasAnswered = false;
  #isEnded = false;

  constructor(
    readonly endpoint: MergedEndpoint,
    address: string,
    private readonly events: FlowEvents,
  ) {
    this.#socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
    this.#socket.on("message", (datagram) => {
      this.#unanswered = undefined;
      this.#hasAnswered = true;
      events.onAnswer(datagram);
    });
    this.#socket.on("error", () => this.#refuse());
    // A connected socket hears when the endpoint's port is closed.
    this.#socket.connect(endpoint.port, address, (error?: Error) => {
      if (error) this.#refuse();
      if (this.#isEnded) return;
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const datagram of waiting) this.send(datagram);
    });
  }

  send(datagram: Buffer): void {
    if (this.#isEnded) return;
    if (!this.#hasAnswered) this.#unanswered = datagram;
    if (this.#waiting) {
      if (this.#waiting.length < WAITING_MAX) this.#waiting.push(datagram);
    } else this.#socket.send(datagram, (error) => error && this.#refuse());
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#socket.close();
    this.events.onEnd();
  }

  #refuse(): void {
    if (this.#isEnded) return;
    this.end();
    this.events.onRefused(this.#unanswered);
  }
}
