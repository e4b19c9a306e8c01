/** Endpoints for a proxy: servers on loopback addresses that say who they are, and clients that ask them through the proxy. */
import { createSocket, type Socket as DatagramSocket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface Backend {
  /** Refuses new clients; those that are there go on. */
  close(): void;
  destroy(): void;
}

/** Answers each piece with `name:piece`, and its client's end with `name.` and its own end. */
export async function tcpBackend(name: string, host: string, port: number): Promise<Backend> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("data", (piece) => socket.write(`${name}:${piece.toString()}`));
    socket.on("end", () => socket.end(`${name}.`));
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  }).listen(port, host);
  await once(server, "listening");
  const close = (): void => void server.close();
  return {
    close,
    destroy: () => {
      close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Answers each datagram with `name:datagram`. */
export async function udpBackend(name: string, address: string, port: number): Promise<Backend> {
  const socket = createSocket("udp4");
  socket.on("message", (datagram, client) => socket.send(`${name}:${datagram.toString()}`, client.port, client.address));
  socket.bind(port, address);
  await once(socket, "listening");
  let isOpen = true;
  const close = (): void => {
    if (isOpen) socket.close();
    isOpen = false;
  };
  return { close, destroy: close };
}

/** A connection that is kept. Rejects when it is refused. */
export async function connected(host: string, port: number, localAddress?: string): Promise<Socket> {
  const socket = connect({ host, port, localAddress, noDelay: true });
  await once(socket, "connect");
  return socket;
}

/** The whole answer to a client that says `hello` and ends. Rejects with the error of the connection. */
export async function answerOf(host: string, port: number, localAddress?: string): Promise<string> {
  const socket = connect({ host, port, localAddress, noDelay: true });
  socket.end("hello");
  let text = "";
  for await (const piece of socket.setEncoding("utf8")) text += piece as string;
  return text;
}

/** The name of the endpoint, or the code of the error. */
export async function whoAnswers(host: string, port: number, localAddress?: string): Promise<string> {
  try {
    const answer = await answerOf(host, port, localAddress);
    return /^(\w+):hello\1\.$/.exec(answer)?.[1] ?? `"${answer}"`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/** Sends a piece and answers the next one that comes. */
export async function exchange(socket: Socket, piece: string): Promise<string> {
  socket.write(piece);
  const [answer] = (await once(socket, "data")) as [Buffer];
  return answer.toString();
}

/** A UDP client that keeps its port. */
export class UdpClient {
  readonly #socket: DatagramSocket = createSocket("udp4");
  readonly #answers: string[] = [];
  #asked = 0;

  constructor(
    private readonly host: string,
    private readonly port: number,
  ) {
    this.#socket.on("message", (answer) => this.#answers.push(answer.toString()));
    this.#socket.on("error", () => undefined);
  }

  /** Who answers; asked again, because datagrams are lost. "" = nobody. */
  async ask(times = 1): Promise<string> {
    // The number: an answer to an earlier question may come late.
    const question = `hello ${String(++this.#asked)}`;
    for (let i = 0; i < times; i++) {
      this.#socket.send(question, this.port, this.host, () => undefined);
      const until = performance.now() + 500;
      while (performance.now() < until) {
        const answer = this.#answers.find((one) => one.endsWith(`:${question}`));
        if (answer !== undefined) return answer.slice(0, -question.length - 1);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    }
    return "";
  }

  close(): void {
    this.#socket.close();
  }
}
