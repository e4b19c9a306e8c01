/** KV as the objects of a simulated cluster see it: slow, and while there are faults a read may be wrong in every way that FaultyKv knows. */
import { FaultyKv, KV_FAULTS } from "./platform/faulty-kv";
import type { Caller, SimNetwork } from "./platform/network";

/** A read takes as long as a call of an object; a write longer. */
const READ_MS = 10;
const WRITE_MS = 200;

export class SimDirectory {
  readonly #keys = new Map<string, FaultyKv>();

  constructor(private readonly network: SimNetwork) {}

  /** undefined = nothing stands there, or the read says so. Rejects when KV fails. */
  async get(reader: Caller, key: string): Promise<Uint8Array | undefined> {
    await this.#pass(reader, READ_MS);
    const { network } = this;
    const fault = network.chance(network.faults.kv) ? (KV_FAULTS[network.random.below(KV_FAULTS.length)] ?? "none") : "none";
    if (network.faults.kv > 0) network.occurred(`KV ${fault}`);
    const bytes = await this.#key(key).read(fault, network.random, new TextEncoder().encode("another key's value"));
    return bytes === null ? undefined : new Uint8Array(bytes);
  }

  async put(writer: Caller, key: string, bytes: Uint8Array): Promise<void> {
    await this.#pass(writer, WRITE_MS);
    await this.#key(key).put(bytes);
  }

  /** Every value is gone. */
  forget(): void {
    this.#keys.clear();
  }

  #key(key: string): FaultyKv {
    let known = this.#keys.get(key);
    if (!known) this.#keys.set(key, (known = new FaultyKv(() => this.network.scheduler.now)));
    return known;
  }

  /** Who dies meanwhile hears no more. */
  #pass(caller: Caller, durationMs: number): Promise<void> {
    return this.network.scheduler.clock(() => caller.isAlive()).sleep(durationMs);
  }
}
