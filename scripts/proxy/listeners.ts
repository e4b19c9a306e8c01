/** The open listeners of the proxy: opens and closes them as its table says. */
import { insteadOfLowPort } from "../../src/endpoints/proxy/listen-place";
import type { Listener, ListenerChanges } from "../../src/endpoints/proxy/proxy-table";
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
  readonly #failed = new Map<string, { listener: Listener; reason: string }>();
  #retry: NodeJS.Timeout | undefined;
  #isStopped = false;
  #hasToldOfLowPorts = false;

  constructor(options: ListenersOptions) {
    this.#options = options;
  }

  /** Resolves when the listeners are as the changes say, or could not be opened. One call at a time. */
  async apply({ opened, closed, changed }: Pick<ListenerChanges, "opened" | "closed" | "changed">): Promise<void> {
    for (const { key } of closed) {
      this.#failed.delete(key);
      this.#opened.get(key)?.close();
    }
    for (const key of changed) this.#opened.get(key)?.review();
    await Promise.all(opened.map((listener) => this.#open(listener)));
  }

  /** Everything ends at once. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    for (const opened of this.#opened.values()) opened.destroy();
  }

  async #open(listener: Listener): Promise<void> {
    const { key } = listener;
    if (this.#opened.get(key)?.resume()) return;
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

  async #openFailed(): Promise<void> {
    this.#retry = undefined;
    if (!this.#isStopped) await Promise.all([...this.#failed.values()].map(({ listener }) => this.#open(listener)));
  }
}
