/** Calls that are made together become one call: what a call costs on its way is paid once. */

export interface GatheredOptions<In, Out> {
  /** Answers one result for each item, in their order. Its rejection is that of every item. */
  call(items: In[]): Promise<readonly Out[]>;
  /** of one call, in units of `weigh`; a heavier item goes alone */
  weightMax: number;
  weigh(item: In): number;
}

/** Whoever goes on after one answer does so within these steps of microtasks, and joins the call of the others. */
const STEPS = 4;

/** Returns a function that answers for one item. Items of the same moment share a call; no item waits for a timer or for an answer. */
export function gathered<In, Out>({ call, weightMax, weigh }: GatheredOptions<In, Out>): (item: In) => Promise<Out> {
  let items: In[] = [];
  let weight = 0;
  let answers: Promise<readonly Out[]> | undefined;
  const begin = (): Promise<readonly Out[]> => {
    const own: In[] = (items = []);
    weight = 0;
    return steps(STEPS).then(() => {
      if (items === own) answers = undefined;
      return call(own);
    });
  };
  return (item) => {
    const added = weigh(item);
    if (!answers || weight + added > weightMax) answers = begin();
    weight += added;
    const place = items.push(item) - 1;
    return answers.then((all) => all[place] as Out);
  };
}

async function steps(count: number): Promise<void> {
  for (let step = 0; step < count; step++) await Promise.resolve();
}
