/**
 * Keeps the IPAddress objects in step with what the services store has committed (I2): every address that an operation took is
 * written there in parallel with the commit. What a crash or an unreachable store left unwritten is written again: the mark `paired`
 * says up to which revision of this store everything is known to be there.
 */
import { SUPPLY_BATCH_MAX, UNPAIRED_CHANGES_MAX } from "../rpc/limits";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { IPAddressesRpc, IPAddressWrite } from "../rpc/ip-addresses";

export interface PairingPorts {
  clock: Clock;
  recorder: Recorder;
  ipAddresses(): Pick<IPAddressesRpc, "createMany">;
}

interface WaitingWrites {
  writes: readonly IPAddressWrite[];
  resolve(written: boolean): void;
}

export class Pairing {
  #waiting: WaitingWrites[] = [];
  #armed = false;
  readonly #unpaired = new Map<number, readonly IPAddressWrite[]>();

  constructor(private readonly ports: PairingPorts) {}

  /** Sends writes; those of one turn go out together. Answers whether they are known to be stored; never rejects. */
  write(writes: readonly IPAddressWrite[]): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.push({ writes, resolve });
      if (this.#armed) return;
      this.#armed = true;
      void Promise.resolve().then(() => {
        this.#armed = false;
        const waiting = this.#waiting;
        this.#waiting = [];
        void this.#send(waiting);
      });
    });
  }

  /** Whether one more change may be committed before what is left unwritten has been written. */
  hasRoom(): boolean {
    return this.#unpaired.size < UNPAIRED_CHANGES_MAX;
  }

  /** The change at `revision` holds these addresses; `written` is the answer of `write` for them. */
  committed(revision: number, writes: readonly IPAddressWrite[], written: Promise<boolean>): void {
    this.#unpaired.set(revision, writes);
    void written.then((known) => {
      if (known) this.#paired(revision, writes);
    });
  }

  /** The changes after `head` were lost with their transaction; others will get their revisions. */
  lostAfter(head: number): void {
    for (const revision of [...this.#unpaired.keys()]) if (revision > head) this.#unpaired.delete(revision);
  }

  /** The addresses whose IPAddress objects are not known to be stored. */
  unpairedAddresses(): Set<string> {
    return new Set([...this.#unpaired.values()].flatMap((writes) => writes.map(({ address }) => address)));
  }

  /** Everything committed up to this revision has its IPAddress objects. */
  pairedThrough(head: number): number {
    let through = head;
    for (const revision of this.#unpaired.keys()) through = Math.min(through, revision - 1);
    return through;
  }

  /** Tries again what failed. Never rejects. */
  async retry(): Promise<void> {
    const retries = [...this.#unpaired].map(async ([revision, writes]) => {
      if (await this.write(writes)) this.#paired(revision, writes);
    });
    await Promise.all(retries);
  }

  /** Unless the revision meanwhile belongs to another change: the one that had it was undone. */
  #paired(revision: number, writes: readonly IPAddressWrite[]): void {
    if (this.#unpaired.get(revision) === writes) this.#unpaired.delete(revision);
  }

  async #send(waiting: readonly WaitingWrites[]): Promise<void> {
    const all = waiting.flatMap((entry) => entry.writes);
    let written = true;
    try {
      for (let at = 0; at < all.length; at += SUPPLY_BATCH_MAX) {
        const call = this.ports.ipAddresses().createMany(all.slice(at, at + SUPPLY_BATCH_MAX));
        await withTimeout(this.ports.clock, RPC_TIMEOUT_MS, call);
      }
    } catch (error) {
      written = false;
      this.ports.recorder.log("warn", "IPAddress objects could not be written yet", { addresses: all.length, error: String(error) });
    }
    for (const entry of waiting) entry.resolve(written);
  }
}
