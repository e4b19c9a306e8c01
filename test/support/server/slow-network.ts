/** A network with latency in front of a server. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface SlowNetwork {
  url: string;
  /** From now on the network leads to another server; connections to the one before break. */
  turnTo(url: string): void;
  close(): void;
}

/** Carries connections to the server at `url`; each piece takes `latencyMs` each way. A connection that breaks on one side breaks on the other. */
export async function slowNetwork(url: string, latencyMs: number): Promise<SlowNetwork> {
  let { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const carry = (from: Socket, to: Socket): void => {
    sockets.add(from);
    // Timers of one length ring in the order in which they were set.
    from.on("data", (piece) => void setTimeout(() => to.write(piece), latencyMs));
    from.on("end", () => void setTimeout(() => to.end(), latencyMs));
    from.on("error", () => undefined);
    from.on("close", () => {
      sockets.delete(from);
      setTimeout(() => to.destroy(), latencyMs);
    });
  };
  const network = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    carry(client, server);
    carry(server, client);
  }).listen(0, "127.0.0.1");
  await once(network, "listening");
  return {
    url: `http://127.0.0.1:${String((network.address() as AddressInfo).port)}`,
    turnTo: (other) => {
      ({ hostname, port } = new URL(other));
      for (const socket of sockets) socket.destroy();
    },
    close: () => {
      network.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
