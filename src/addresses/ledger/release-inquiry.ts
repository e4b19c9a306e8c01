/**
 * Asks the ipaddresses store about its pending releases: all questions of one turn about single addresses go out in one call. Questions about any
 * address go out in another one, because that store asks the Coordinator before it answers them.
 */
import type { OtherStore } from "./address-supply";
import type { AskedAddress } from "./wanted-address";

interface Turn {
  asked: AskedAddress[];
  /** place of each question in `asked` */
  places: Map<string, number>;
  answers: Promise<boolean[]>;
}

export class ReleaseInquiry implements OtherStore {
  readonly #turns = new Map<"any" | "single", Turn>();

  constructor(private readonly ask: (asked: AskedAddress[]) => Promise<boolean[]>) {}

  async isReleasing({ family, address }: AskedAddress): Promise<boolean> {
    const kind = address === "" ? "any" : "single";
    const { asked, places, answers } = this.#turns.get(kind) ?? this.#begin(kind);
    const question = `${family} ${address}`;
    const place = places.get(question) ?? asked.push({ family, address }) - 1;
    places.set(question, place);
    const answer = (await answers)[place];
    if (answer === undefined) throw new Error("the ipaddresses store left a question open");
    return answer;
  }

  #begin(kind: "any" | "single"): Turn {
    const asked: AskedAddress[] = [];
    const answers = Promise.resolve().then(() => {
      this.#turns.delete(kind);
      return this.ask(asked);
    });
    const turn: Turn = { asked, places: new Map(), answers };
    this.#turns.set(kind, turn);
    return turn;
  }
}
