/**
 * The page `/ranges` of an API server that has it. It adds what no ServiceCIDR shows: the epoch, and ranges in use that lost their ServiceCIDR by
 * force.
 */
import type { RangesView } from "../../addresses/ranges/service-ranges";
import { type FetchAnswer, refusal } from "../../api/client/fetch-like";

const PAGE = "/ranges";
/** Characters that an error shows of an answer that cannot be read. */
const SHOWN_MAX = 100;

export class RangesPage {
  #isServed = false;
  #failures = 0;

  constructor(private readonly get: (path: string) => Promise<FetchAnswer>) {}

  /** Counts a failed read of a page that was expected. */
  noteFailure(): void {
    this.#failures++;
  }

  /** Noted failures since the last read that succeeded. */
  get failures(): number {
    return this.#failures;
  }

  /** The API server has the page: it was read once, and has not been missing since. */
  get isServed(): boolean {
    return this.#isServed;
  }

  /** undefined = the API server has no such page. Throws when it cannot be read. */
  async read(): Promise<RangesView | undefined> {
    const answer = await this.get(PAGE);
    const text = await answer.text();
    if (answer.status !== 200 && answer.status !== 404) throw refusal(answer.status, text);
    const view = answer.status === 200 ? (JSON.parse(text) as RangesView) : undefined;
    if (view && !Array.isArray(view.orphaned)) throw new Error(`${PAGE} is not what it should be: ${text.slice(0, SHOWN_MAX)}`);
    this.#isServed = view !== undefined;
    this.#failures = 0;
    return view;
  }
}
