/** The open listeners of the proxy: opens and closes them as its table says. */
import { insteadOfLowPort, type Listener, type ListenerChanges } from "../../src/clients/proxy/index";
import type { Open, Opened } from "./opened";

/** A listener that could not be opened is tried again, as kube-proxy tries its health servers. */
const RETRY_MS = 5_000;

interface ListenersOptions {
  /** Opens a listener at an address that may differ from its own by the port. Rejects with what the system says. */
  open(listener: Listener, at: Parameters<Open>[0]): Promise<Opened>;
  /** added to low ports that need rights; 0 = they are not served */
  readonly lowPortOffset: number;
  log(line: string): void;
}

export class Listeners {
  readonly #options: ListenersOptions;
  /** what is open, or closing, by key */
  readonly #opened = new Map<string, Opened>();
  /** keys of those that were closed, until what is under way has ended */
  readonly #closing = new Set<string>();
  readonly #failed = new Map<string, { listener: Listener; reason: string }>();
  #retry: NodeJS.Timeout | undefined;
  #turn = Promise.resolve();
  #isStopped = false;
  #hasToldOfLowPorts = false;

  constructor(options: ListenersOptions) {
    this.#options = options;
  }

  /** Resolves when the listeners are as the changes say, or could not be opened. */
  apply({ opened, closed, changed }: Pick<ListenerChanges, "opened" | "closed" | "changed">): Promise<void> {
    return this.#inTurn(async () => {
      for (const { key } of closed) {
        this.#failed.delete(key);
        this.#opened.get(key)?.close();
        this.#closing.add(key);
      }
      for (const key of changed) this.#opened.get(key)?.review();
      await Promise.all(opened.map((listener) => this.#open(listener)));
      for (const key of this.#closing) if (this.#opened.get(key)?.hasEnded ?? true) this.#forget(key);
    });
  }

  /** Everything ends at once. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    for (const opened of this.#opened.values()) opened.destroy();
  }

  #forget(key: string): void {
    this.#closing.delete(key);
    this.#opened.delete(key);
  }

  async #open(listener: Listener): Promise<void> {
    const { key } = listener;
    this.#closing.delete(key);
    const known = this.#opened.get(key);
    if (known?.resume()) {
      // Its flows may lead to endpoints of the time before it was closed.
      known.review();
      return;
    }
    try {
      this.#opened.set(key, await this.#openSomewhere(listener));
      if (this.#isStopped) this.#opened.get(key)?.destroy();
      if (this.#failed.delete(key)) this.#options.log(`${key} is served now`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (this.#failed.get(key)?.reason !== reason) this.#options.log(`${key} cannot be served: ${reason}`);
      this.#failed.set(key, { listener, reason });
      this.#retry ??= setTimeout(() => void this.#openFailed(), RETRY_MS).unref();
    }
  }

  async #openSomewhere(listener: Listener): Promise<Opened> {
    const { address, port } = listener;
    try {
      return await this.#options.open(listener, { address, port });
    } catch (error) {
      const other = (error as NodeJS.ErrnoException).code === "EACCES" ? insteadOfLowPort(port, this.#options.lowPortOffset) : undefined;
      if (other === undefined) throw error;
      const opened = await this.#options.open(listener, { address, port: other });
      if (!this.#hasToldOfLowPorts) {
        this.#options.log(`low ports need rights here: ${listener.key} is served at port ${String(other)}, others in the same way`);
      }
      this.#hasToldOfLowPorts = true;
      return opened;
    }
  }

  #openFailed(): Promise<void> {
    this.#retry = undefined;
    return this.#inTurn(async () => {
      await Promise.all([...this.#failed.values()].map(({ listener }) => this.#open(listener)));
    });
  }

  /** Changes come one after the other: what one opens, the next one may close. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(() => (this.#isStopped ? undefined : work()));
    return this.#turn;
  }
}
