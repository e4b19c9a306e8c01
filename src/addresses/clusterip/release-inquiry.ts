/** Asks the ipaddresses store about its pending releases: all questions of one turn go out in one call. */
import type { OtherStore } from "./address-supply";
import type { AskedAddress } from "./wanted-address";

interface Turn {
  asked: AskedAddress[];
  /** place of each question in `asked` */
  places: Map<string, number>;
  answers: Promise<boolean[]>;
}

export class ReleaseInquiry implements OtherStore {
  #turn: Turn | undefined;

  constructor(private readonly ask: (asked: AskedAddress[]) => Promise<boolean[]>) {}

  async isReleasing({ family, address }: AskedAddress): Promise<boolean> {
    const { asked, places, answers } = (this.#turn ??= this.#begin());
    const question = `${family} ${address}`;
    const place = places.get(question) ?? asked.push({ family, address }) - 1;
    places.set(question, place);
    const answer = (await answers)[place];
    if (answer === undefined) throw new Error("the ipaddresses store left a question open");
    return answer;
  }

  #begin(): Turn {
    const asked: AskedAddress[] = [];
    const answers = Promise.resolve().then(() => {
      this.#turn = undefined;
      return this.ask(asked);
    });
    return { asked, places: new Map(), answers };
  }
}
