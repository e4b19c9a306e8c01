/** Items in portions of a bounded number and weight, in their order. */

export interface PortionBounds {
  countMax: number;
  /** An item that weighs more is a portion of its own. */
  weightMax: number;
}

/** @param weigh what an item weighs, in the unit of `weightMax` */
export function portionsOf<T>(items: Iterable<T>, weigh: (item: T) => number, { countMax, weightMax }: PortionBounds): T[][] {
  const portions: T[][] = [];
  let portion: T[] = [];
  let weight = 0;
  for (const item of items) {
    const added = weigh(item);
    if (portion.length > 0 && (portion.length === countMax || weight + added > weightMax)) {
      portions.push(portion);
      portion = [];
      weight = 0;
    }
    portion.push(item);
    weight += added;
  }
  if (portion.length > 0) portions.push(portion);
  return portions;
}
