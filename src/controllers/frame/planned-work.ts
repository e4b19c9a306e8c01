/** Pieces of work of a plan: several at once, each tried later and later while a store refuses it. */
import { inParallel } from "../../core/base/in-parallel";
import type { Clock, Recorder } from "../../core/base/ports";
import { Refusals, type RefusalWaits } from "../followed/refusals";
import { isOver, type Outcome, type PassRound, type Round } from "./round";

/** Pieces, and single writes, under way at once: they share the stores' commits, and leave room for clients. */
export const WRITES_AT_ONCE = 16;
/** What was refused once is most likely refused again: a quota that is full may be so for long. */
const REFUSED_WAITS: RefusalWaits = { first: 60_000, longest: 10 * 60_000 };

/** How facts become writes. */
export interface Plan<Work> {
  /**
   * Everything that is to be done by what is known now, in the order in which it is begun. It changes nothing outside the controller. Work that waits
   * for its time is not in it.
   */
  plan(round: Round): Iterable<Work> | Promise<Iterable<Work>>;
  /** One piece: most often one write. What it throws is a failure of this piece alone, which the next pass tries again. */
  write(work: Work, round: Round): Promise<Outcome>;
  /** the same name for each try of the same work, for the log and the waits */
  nameOf(work: Work): string;
  /** takes a piece back for which there was no time; absent = the next pass plans it again */
  notBegun?(work: Work): void;
  /** pieces under way at once; absent = 16 */
  readonly atOnce?: number;
  readonly refusedWaits?: RefusalWaits;
}

export class PlannedWork<Work> {
  readonly #refusals: Refusals;

  constructor(
    ports: { clock: Pick<Clock, "now">; recorder: Recorder },
    private readonly plan: Plan<Work>,
  ) {
    this.#refusals = new Refusals(ports, plan.refusedWaits ?? REFUSED_WAITS);
  }

  /** When the next refused piece may be tried again, in milliseconds since the epoch; undefined = none waits. */
  get nextAt(): number | undefined {
    return this.#refusals.nextAt();
  }

  /** refused pieces that wait */
  get waiting(): number {
    return this.#refusals.size;
  }

  /** Whether the last try of the work was refused. */
  isRefused(name: string): boolean {
    return this.#refusals.has(name);
  }

  /** Does what is to be done. At least one piece is begun, so that slow stores never keep it waiting for ever. Rejects when the plan cannot be made. */
  async act(round: PassRound): Promise<void> {
    const { plan } = this;
    const all = [...(await plan.plan(round))];
    this.#keep(all);
    const tried = all.filter((work) => this.#refusals.mayTry(plan.nameOf(work)));
    let begun = 0;
    await inParallel(tried, plan.atOnce ?? WRITES_AT_ONCE, async (work) => {
      if (round.isSilent || (begun > 0 && !round.mayGoOn())) return plan.notBegun ? plan.notBegun(work) : round.notBegun(1);
      begun++;
      await this.#one(work, round);
    });
  }

  /** Forgets the refusals of work that nobody needs any more. */
  #keep(all: readonly Work[]): void {
    if (this.#refusals.isEmpty) return;
    const names = new Set(all.map((work) => this.plan.nameOf(work)));
    this.#refusals.keep((name) => names.has(name));
  }

  /** Never rejects. */
  async #one(work: Work, round: PassRound): Promise<void> {
    const name = this.plan.nameOf(work);
    try {
      const outcome = await this.plan.write(work, round);
      if (isOver(outcome)) this.#refusals.forget(name);
      else if (typeof outcome === "object") this.#refusals.refused(name, outcome.refused);
      round.note(outcome);
    } catch (error) {
      round.failed(error);
      round.note("later");
    }
  }
}
