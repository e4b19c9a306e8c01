import { Owner } from "../../../src/addresses/alloc/owner";
import type { AllocateItem, AllocateResult, Holder, OwnerConfig } from "../../../src/addresses/rpc/service-cidr";
import { MemoryOwnerStorage } from "../memory/owner-storage";
import { seededRandom } from "../sim/platform/seeded-random";

/** One owner on memory ports. Calls made without an await between them share a drain, as calls of one turn do on the platform. */
export class OwnerWorld {
  readonly storage = new MemoryOwnerStorage();
  readonly logged: { level: string; event: string }[] = [];
  /** why objects over the storage were ended; the test restarts them */
  readonly aborted: string[] = [];
  /** of the storage's commits */
  durable: () => Promise<void> = () => Promise.resolve();
  nowMs = 1_700_000_000_000;
  owner: Owner;
  readonly #random;
  #tokens = 0;

  constructor(seed = 1) {
    this.#random = seededRandom(seed);
    this.owner = this.#start();
  }

  /** A new object on the same storage, with nothing remembered. */
  restart(): void {
    this.owner = this.#start();
  }

  token(): string {
    return `token-${++this.#tokens}`;
  }

  /** Allocates one address; "" = dynamic. */
  async allocate(address = "", overrides: Partial<AllocateItem> = {}): Promise<AllocateResult> {
    const answer = await this.owner.allocate([this.item(address, overrides)]);
    const result = answer.results[0];
    if (result === undefined) throw new Error("one item, one result");
    return result;
  }

  item(address = "", overrides: Partial<AllocateItem> = {}): AllocateItem {
    return { token: this.token(), holder: aHolder(), family: address.includes(":") ? "IPv6" : "IPv4", address, ...overrides };
  }

  async release(address: string, token: string): Promise<string> {
    return (await this.owner.release([{ address, token }]))[0] ?? "";
  }

  /** Addresses of all rows, in the order they were given out. */
  async held(): Promise<string[]> {
    return (await this.owner.rowsSince(0, 10_000)).rows.map(({ address }) => address);
  }

  #start(): Owner {
    return new Owner({
      storage: this.storage,
      durable: () => this.durable(),
      abort: (reason) => void this.aborted.push(reason),
      clock: {
        now: () => this.nowMs,
        sleep: () => Promise.resolve(),
        after: () => () => undefined,
        nextTurn: () => Promise.resolve(),
      },
      random: this.#random,
      recorder: { log: (level, event) => this.logged.push({ level, event }) },
    });
  }
}

export function aHolder(overrides: Partial<Holder> = {}): Holder {
  return { kind: "service", namespace: "default", name: "web", uid: "uid-web", ...overrides };
}

/** A configuration in which everything owned is one Ready range, unless told otherwise. */
export function aConfig(epoch: number, owned: string[], overrides: Partial<OwnerConfig> = {}): OwnerConfig {
  return { epoch, owned, ranges: owned, frozen: [], receiving: [], retired: false, ...overrides };
}
