/** The owners of a simulated cluster: the real class on gated tables. */
import { Owner } from "../../../src/addresses/alloc/owner";
import type { OwnerStorage, StoredRow } from "../../../src/addresses/alloc/owner-storage";
import type { Random, Recorder } from "../../../src/core/base/ports";
import { MemoryOwnerStorage } from "../memory/owner-storage";
import { overriding } from "../worlds/overriding";
import { type CommitGate, commitStepsOf } from "./platform/journal";
import { type Life, whileAlive } from "./platform/network";
import type { ProtocolStep } from "./protocol-steps";

/** An owner in one of its lives. `copyRowsMax`: of one chunk of a hand-off; `commitMs`: see SimOptions. */
export function makeOwner(
  life: Life,
  storage: GatedOwnerStorage,
  ports: { random: Random; recorder: Recorder; copyRowsMax: number | undefined; commitMs: number },
): Owner {
  const { random, recorder, copyRowsMax, commitMs } = ports;
  const owner = new Owner({
    storage: whileAlive<OwnerStorage>(storage, life),
    durable: () => (commitMs === 0 ? Promise.resolve() : life.clock.sleep(commitMs)),
    abort: () => life.die?.(),
    clock: life.clock,
    random,
    recorder,
    ...(copyRowsMax === undefined ? {} : { copyRowsMax }),
  });
  return overriding(owner, {
    seed: (epoch, items) => {
      for (const { token } of items) storage.seeds.add(token);
      return owner.seed(epoch, items);
    },
  });
}

export class GatedOwnerStorage extends MemoryOwnerStorage {
  gate: CommitGate = {};
  /** tokens that seeding has brought */
  readonly seeds = new Set<string>();
  #steps = new Set<ProtocolStep>();
  #given: StoredRow[] = [];
  #isOpen = false;

  /** `step`: what the call on the stack does; `given`: a row was kept that is neither seeded nor received */
  constructor(
    private readonly step: () => ProtocolStep | undefined,
    private readonly given: (row: StoredRow) => void,
  ) {
    super();
  }

  override rowInsert(...[row]: Parameters<MemoryOwnerStorage["rowInsert"]>): void {
    const step = this.step() ?? (this.seeds.has(row.token) ? "seed" : "allocate");
    this.#steps.add(step);
    super.rowInsert(row);
    if (step === "allocate") this.#given.push(row);
  }

  override releasedSave(...[list]: Parameters<MemoryOwnerStorage["releasedSave"]>): void {
    this.#steps.add("release");
    super.releasedSave(list);
  }

  override configSave(...[config]: Parameters<MemoryOwnerStorage["configSave"]>): void {
    const step = this.step();
    if (step) this.#steps.add(step);
    super.configSave(config);
  }

  override receivingSave(...[handoff, state]: Parameters<MemoryOwnerStorage["receivingSave"]>): void {
    const step = this.step();
    if (step) this.#steps.add(step);
    super.receivingSave(handoff, state);
  }

  override transaction<T>(body: () => T): T {
    if (this.#isOpen) return super.transaction(body);
    const writes = this.writes;
    this.#steps = new Set();
    this.#given = [];
    this.#isOpen = true;
    let result: T;
    try {
      result = super.transaction(() => {
        const inner = body();
        if (this.writes > writes) this.gate.beforeCommit?.(commitStepsOf(this.#steps));
        return inner;
      });
    } finally {
      this.#isOpen = false;
    }
    for (const row of this.#given) this.given(row);
    if (this.writes > writes) this.gate.afterCommit?.(commitStepsOf(this.#steps));
    return result;
  }
}
