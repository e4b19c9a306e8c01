/** The rows of Services, of which the newest are in memory: a write asks for the same ones several times. What the database undoes has to be forgotten. */
import type { BalancerNumber, HeldByService, ServiceRows, WaitingService } from "./service-rows";

const REMEMBERED_MAX = 1_000;

export class RememberedRows implements ServiceRows {
  readonly #held = new Map<string, HeldByService | undefined>();
  readonly #numbers = new Map<BalancerNumber, number>();

  constructor(private readonly rows: ServiceRows) {}

  forget(): void {
    this.#held.clear();
    this.#numbers.clear();
  }

  held(key: string): HeldByService | undefined {
    const known = this.#held.get(key);
    return known ?? (this.#held.has(key) ? undefined : this.#remember(key, this.rows.held(key)));
  }

  allHeld(): Iterable<[string, HeldByService]> {
    return this.rows.allHeld();
  }

  saveHeld(key: string, held: HeldByService | undefined): void {
    this.rows.saveHeld(key, held);
    this.#remember(key, held);
  }

  waiting(): Iterable<[string, WaitingService]> {
    return this.rows.waiting();
  }

  saveWaiting(key: string, waiting: WaitingService | undefined): void {
    this.rows.saveWaiting(key, waiting);
  }

  number(name: BalancerNumber): number {
    const known = this.#numbers.get(name) ?? this.rows.number(name);
    this.#numbers.set(name, known);
    return known;
  }

  saveNumber(name: BalancerNumber, value: number): void {
    this.rows.saveNumber(name, value);
    this.#numbers.set(name, value);
  }

  #remember(key: string, held: HeldByService | undefined): HeldByService | undefined {
    if (this.#held.size >= REMEMBERED_MAX) this.#held.clear();
    this.#held.set(key, held);
    return held;
  }
}
